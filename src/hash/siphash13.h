/* SPDX-License-Identifier: MIT
 *
 * siphash13.h - SipHash-1-3: without the secret an attacker can neither predict a hash nor find
 *               keys that collide
 */
#ifndef UMBELI_SIPHASH13_H
#define UMBELI_SIPHASH13_H

#include "core/settings.h"
#include "hash/xxh.h"

uint64_t umbeli_siphash13(const void *key, size_t len, umbeli_secret secret);

/* The 128-bit variant; its low half is not the 64-bit hash. */
umbeli_hash128 umbeli_siphash13_128(const void *key, size_t len, umbeli_secret secret);

#endif
