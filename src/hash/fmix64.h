/* SPDX-License-Identifier: MIT
 *
 * fmix64.h - the 64-bit finaliser of MurmurHash3: every input bit reaches every output bit
 */
#ifndef UMBELI_FMIX64_H
#define UMBELI_FMIX64_H

#include <stdint.h>

static inline uint64_t umbeli_fmix64(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

#endif
