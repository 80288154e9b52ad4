/* SPDX-License-Identifier: MIT
 *
 * bytes.h - a bounded reader and a writer, through which codecs read what others wrote
 *
 * Errors are sticky: a codec reads all fields in a row and checks once.
 */
#ifndef UMBELI_BYTES_H
#define UMBELI_BYTES_H

#include "umbel.h"

typedef struct umbeli_reader {
    const uint8_t *bytes;
    size_t len, pos;
    bool failed; /* a read went past the end; pos is where */
} umbeli_reader;

umbeli_reader umbeli_reader_over(const void *bytes, size_t len);

/* The next n bytes, or NULL past the end. */
const uint8_t *umbeli_take(umbeli_reader *r, uint64_t n);
size_t umbeli_left(const umbeli_reader *r);

/* Zero past the end. */
uint8_t umbeli_take_u8(umbeli_reader *r);
uint16_t umbeli_take_u16le(umbeli_reader *r);
uint32_t umbeli_take_u32le(umbeli_reader *r);
uint64_t umbeli_take_u64le(umbeli_reader *r);
double umbeli_take_f64le(umbeli_reader *r);
uint32_t umbeli_take_u32be(umbeli_reader *r);

/* A base-128 number, low groups first: LEB128.  False when it is cut off, which r->failed says, or
 * has more than 64 bits. */
bool umbeli_take_varint(umbeli_reader *r, uint64_t *value);

/* Writes such a number and returns its length. */
enum { UMBELI_VARINT = 10 };
size_t umbeli_varint(uint64_t value, uint8_t bytes[UMBELI_VARINT]);

/* Writes pieces to a sink: memory, a file, a checksum.  The sink returns false to stop. */
typedef bool (*umbeli_sink)(void *ctx, const void *bytes, size_t len);

typedef struct umbeli_writer {
    umbeli_sink sink;
    void *ctx;
    uint64_t written;
    bool failed;
} umbeli_writer;

void umbeli_put(umbeli_writer *w, const void *bytes, size_t len);
void umbeli_put_zeros(umbeli_writer *w, uint64_t n);
void umbeli_put_u8(umbeli_writer *w, uint8_t x);
void umbeli_put_u16le(umbeli_writer *w, uint16_t x);
void umbeli_put_u32le(umbeli_writer *w, uint32_t x);
void umbeli_put_u64le(umbeli_writer *w, uint64_t x);
void umbeli_put_f64le(umbeli_writer *w, double x);
void umbeli_put_u32be(umbeli_writer *w, uint32_t x);

/* Converts 8-byte words from one byte order to the other; and writes `len` bytes, whole words, in
 * that way. */
void umbeli_swap_words(uint8_t *to, const uint8_t *from, size_t words);
void umbeli_put_swapped(umbeli_writer *w, const uint8_t *bytes, uint64_t len);

/* A sink into memory. */
typedef struct umbeli_span {
    uint8_t *bytes;
    size_t cap, used;
} umbeli_span;

bool umbeli_span_sink(void *span, const void *bytes, size_t len);

#endif
