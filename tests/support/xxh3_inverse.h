/* SPDX-License-Identifier: MIT
 *
 * xxh3_inverse.h - keys with a chosen hash: XXH3-64 of 4 to 8 bytes, backwards
 *
 * Such keys are one number, to which XXH3 does only what can be undone: it XORs a constant that
 * follows from the seed, multiplies by odd numbers, and XORs the number with itself, rotated or
 * shifted.  This is what an attacker needs who knows the seed.
 */
#ifndef XXH3_INVERSE_H
#define XXH3_INVERSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key of `len` bytes, 4 to 8, that has this hash under this seed.  False: none has, which
 * cannot be with 8 bytes. */
bool xxh3_inverse(uint64_t hash, uint64_t seed, size_t len, uint8_t *key);

#endif
