/* SPDX-License-Identifier: MIT
 *
 * fnv1.h - FNV-1, 64 bits: multiply, then xor (FNV-1a does it the other way round)
 */
#ifndef UMBELI_FNV1_H
#define UMBELI_FNV1_H

#include <stddef.h>
#include <stdint.h>

uint64_t umbeli_fnv1_64(const void *key, size_t len);

#endif
