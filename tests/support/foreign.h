/* SPDX-License-Identifier: MIT
 *
 * foreign.h - what the tests of every foreign format do: create, write, read back, refuse
 *
 * Any failure here ends the running test with a message.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "umbel_foreign.h"

/* Memory that is counted: at most `most` bytes at a time, and the failing-th allocation (from 1)
 * returns NULL.  Zeros mean no limit and no failure. */
typedef struct foreign_memory {
    size_t max, failing;
    size_t now, peak, calls, blocks;
    umbel_alloc hook;
    umbel_opts opts;
} foreign_memory;

void foreign_memory_start(foreign_memory *m, size_t max, size_t failing);

/* These parameters for that format. */
umbel_foreign foreign_as(umbel_format format, umbel_foreign params);

umbel_filter *foreign_create(umbel_foreign params);
void foreign_add(umbel_filter *f, const char *text);
bool foreign_contains(const umbel_filter *f, const char *text);

/* The filter in its own format; free it. */
uint8_t *foreign_bytes(const umbel_filter *f, size_t *len);

/* Decodes with like->format and whatever else `like` says, from memory of just that size. */
umbel_filter *foreign_decode(const umbel_foreign *like, const uint8_t *bytes, size_t len);

/* decode, view (if the format allows it), copy, and encode again: the same bytes each time; and
 * decoding takes memory in proportion, gives it back, and survives each allocation failing. */
void foreign_same_again(const umbel_foreign *like, const uint8_t *bytes, size_t len);

/* The filter is encoded to these bytes, which foreign_same_again accepts and which decode to an
 * equal filter. */
void foreign_is(const umbel_foreign *like, const umbel_filter *f, const uint8_t *bytes, size_t len);

/* Decoding and verifying fail like this, at that offset, take no more than 4096 bytes beyond twice
 * the input, and leave *out alone. */
void foreign_refused(const umbel_foreign *like, const uint8_t *bytes, size_t len, umbel_err want,
                     uint64_t offset);

/* foreign_refused, with a message that contains `what`. */
void foreign_refused_saying(const umbel_foreign *like, const uint8_t *bytes, size_t len,
                            umbel_err want, uint64_t offset, const char *what);

/* Every prefix of these bytes is refused as damaged, and so are they with one more byte. */
void foreign_needs_every_byte(const umbel_foreign *like, const uint8_t *bytes, size_t len);

/* foreign_refused with `width` bytes at `at` replaced by the little-endian value. */
void foreign_refused_with(const umbel_foreign *like, const uint8_t *bytes, size_t len, size_t at,
                          size_t width, uint64_t value, umbel_err want, uint64_t offset);

/* umbel_create_foreign fails with UMBEL_EINVAL and words that contain `what`. */
void foreign_not_made(umbel_foreign params, const char *what);

/* n keys in the filter one by one in one and in batches in another: equal bytes and answers. */
void foreign_batches_agree(umbel_foreign params, const umbel_key *keys, size_t n);

/* foreign_batches_agree with 3000 numbers as text, some of them twice. */
void foreign_number_batches_agree(umbel_foreign params);

/* A generator for tests: splitmix64. */
uint64_t foreign_random(uint64_t *state);

#endif
