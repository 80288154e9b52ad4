/* SPDX-License-Identifier: MIT
 *
 * hash128.h - a hash of 128 bits
 */
#ifndef UMBELI_HASH128_H
#define UMBELI_HASH128_H

#include <stdint.h>

typedef struct umbeli_hash128 {
    uint64_t low, high;
} umbeli_hash128;

#endif
