/* SPDX-License-Identifier: MIT
 *
 * guava.h - Guava's sizes
 */
#ifndef UMBELI_GUAVA_H
#define UMBELI_GUAVA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct umbeli_guava_size {
    uint64_t wanted; /* optimalNumOfBits, before rounding up to words */
    uint64_t bits;   /* of the array; 0 when Guava would refuse */
    uint32_t hashes; /* may be above the 255 that Guava allows */
} umbeli_guava_size;

/* The sizes of BloomFilter.create(funnel, keys, fpr): up to release 33.3 or, with `newer`, after
 * it.  keys is at least 1, fpr in (0,1). */
umbeli_guava_size umbeli_guava_size_of(uint64_t keys, double fpr, bool newer);

#endif
