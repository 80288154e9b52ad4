/* SPDX-License-Identifier: MIT
 *
 * size.h - arithmetic on sizes that reports overflow
 */
#ifndef UMBELI_SIZE_H
#define UMBELI_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* False, and *sum untouched, on overflow. */
static inline bool umbeli_size_add(uint64_t a, uint64_t b, uint64_t *sum) {
    if (a > UINT64_MAX - b) return false;
    *sum = a + b;
    return true;
}

/* False, and *product untouched, on overflow. */
static inline bool umbeli_size_mul(uint64_t a, uint64_t b, uint64_t *product) {
    if (b != 0 && a > UINT64_MAX / b) return false;
    *product = a * b;
    return true;
}

/* Rounds `size` up to a multiple of `step`, a power of two; false on overflow. */
static inline bool umbeli_size_round_up(uint64_t size, uint64_t step, uint64_t *rounded) {
    if (!umbeli_size_add(size, step - 1, &size)) return false;
    *rounded = size & ~(step - 1);
    return true;
}

static inline uint64_t umbeli_ceil_div(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

#endif
