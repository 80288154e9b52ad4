/* SPDX-License-Identifier: MIT
 *
 * kind_check.h - what the tests of the kinds share: keys, rates, memory that runs out, bad files
 */
#ifndef KIND_CHECK_H
#define KIND_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "umbel.h"

/* The seed of all keys of a program: printed, and the same in every run unless UMBEL_TEST_SEED in
 * the environment gives another. */
uint64_t check_seed(void);

/* Key i of a stream: 8 bytes, distinct within all streams. */
uint64_t check_key(uint64_t stream, uint64_t i);

/* Adds keys [from, from + n) of a stream in batches; returns how many were new. */
uint64_t check_add(umbel_filter *f, uint64_t stream, uint64_t from, uint64_t n);

/* How many of keys [from, from + n) are found, looked up both ways, which must agree. */
uint64_t check_found(const umbel_filter *f, uint64_t stream, uint64_t from, uint64_t n);

/* Looks up n keys of a stream that was not added: fails if the hits are more than five standard
 * deviations above `promise` or, unless `expected` is 0, that far from it on either side. */
void check_rate(const umbel_filter *f, uint64_t stream, uint64_t n, double promise,
                double expected);

/* A filter of these parameters; the test fails if it cannot be created. */
umbel_filter *check_create(umbel_params params);

/* Without the features of this CPU a filter has the same bytes and answers. */
void check_kernels_agree(umbel_params params);

/* Memory that counts what is allocated, and returns NULL for call number `fails` (from 0). */
typedef struct check_memory {
    uint64_t calls, fails, out;
} check_memory;

umbel_alloc check_alloc(check_memory *m);

/* Encode and decode are inverse, a view gives the same answers, a copy is equal. */
void check_round_trip(const umbel_filter *f);

/* A filter that was read takes keys [from, from + n) of stream 1 as if nothing had happened; a view
 * of the same bytes takes none. */
void check_goes_on(umbel_filter *f, uint64_t from, uint64_t n);

/* Both filters are the same native file; frees b. */
void check_same_bytes(const umbel_filter *a, umbel_filter *b);

/* Files truncated at any length, or with any byte of the header or some of the payload flipped, are
 * refused; header fields that lie under a correct checksum are refused, or give a usable filter.
 * For small filters. */
void check_bad_files(const umbel_filter *f);

#endif
