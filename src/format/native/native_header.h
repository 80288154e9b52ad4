/* SPDX-License-Identifier: MIT
 *
 * native_header.h - the first part of a native file: everything about a filter but its bits
 *
 * A header makes sense without the payload behind it, too: whoever brings the bits in another way,
 * as Redis does, makes the filter from it and fills in data of just data_len bytes.
 */
#ifndef UMBELI_NATIVE_HEADER_H
#define UMBELI_NATIVE_HEADER_H

#include "core/bytes.h"
#include "core/filter.h"

typedef struct umbeli_native_header {
    umbeli_shape shape; /* without the secret */
    uint64_t fingerprint;
    uint64_t keys_added;
    umbel_treatment treatment;
    uint32_t len, own_len, meta_len;
    uint64_t payload_at, payload_len, checksum;
} umbeli_native_header;

/* Do bytes begin as a native file does? */
bool umbeli_native_begins(const uint8_t *bytes, size_t len);

/* Reads the header that the bytes begin with, and checks all of it that does not depend on what
 * lies behind. */
umbel_err umbeli_native_read(const uint8_t *bytes, size_t len, umbeli_native_header *h,
                             umbel_diag *diag);

/* Puts the secret that was given for decoding into the shape.  UMBEL_EKEY unless it is the one that
 * the filter was made with. */
umbel_err umbeli_native_take_key(umbeli_native_header *h, const umbeli_settings *memory,
                                 umbel_diag *diag);

/* The filter that the header at bytes describes: with all bits 0, or lying on `borrow`. */
umbel_err umbeli_native_make(const uint8_t *bytes, const umbeli_native_header *h,
                             const uint8_t *borrow, const umbeli_settings *memory,
                             umbel_filter **out, umbel_diag *diag);

/* How long a filter's header is, and where in a file its payload begins. */
uint64_t umbeli_native_header_len(const umbel_filter *f);
uint64_t umbeli_native_payload_at(uint64_t header_len);

/* Writes the header; returns its checksum. */
uint64_t umbeli_native_put_header(const umbel_filter *f, umbeli_writer *w);

#endif
