/* SPDX-License-Identifier: MIT
 *
 * steps.h - the work a parser does on an input, as a number that is the same in every run
 */
#ifndef STEPS_H
#define STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "counted_steps.h"

typedef struct text {
    uint8_t *bytes;
    size_t len, room;
} text;

void text_put(text *t, const void *bytes, size_t len);
void text_byte(text *t, unsigned byte);
void text_varint(text *t, uint64_t value); /* seven bits per byte, the lowest first */

/* Makes an input of about `size` bytes, or items; then parses it.  It need not be valid. */
typedef struct parser {
    const char *name;
    size_t size;
    void (*make)(text *t, size_t size);
    void (*parse)(const text *t);
} parser;

/* Fails unless eight times the input takes at most twelve times the work: buffers that double may
 * be copied once more.  Quadratic would be 64 times. */
void assert_linear(const parser *p);

/* The groups of cmocka cases, one per file. */
int linear_codecs(void);
int linear_hostile(void);
int linear_tables(void);
int linear_lines(void);

#endif
