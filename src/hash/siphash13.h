/* SPDX-License-Identifier: MIT
 *
 * siphash13.h - SipHash-1-3: without the secret an attacker can neither predict a hash nor find
 *               keys that collide
 */
#ifndef UMBELI_SIPHASH13_H
#define UMBELI_SIPHASH13_H

#include "core/bits.h"
#include "core/settings.h"
#include "hash/xxh.h"

uint64_t umbeli_siphash13(const void *key, size_t len, umbeli_secret secret);

/* The 128-bit variant; its low half is not the 64-bit hash. */
umbeli_hash128 umbeli_siphash13_128(const void *key, size_t len, umbeli_secret secret);

/* ---- For both implementations: a key has len / 8 words of eight bytes, and one more ---- */

/* The initial state: each of these XORed with half of the secret.  The bytes of
 * "somepseudorandomlygeneratedbytes". */
#define UMBELI_SIP_V0 UINT64_C(0x736f6d6570736575)
#define UMBELI_SIP_V1 UINT64_C(0x646f72616e646f6d)
#define UMBELI_SIP_V2 UINT64_C(0x6c7967656e657261)
#define UMBELI_SIP_V3 UINT64_C(0x7465646279746573)

/* Fewer than eight bytes as a little-endian number, without a loop. */
static inline uint64_t umbeli_sip_few(const uint8_t *p, size_t len) {
    if (len >= 4) {
        uint64_t high = umbeli_load_le32(p + len - 4);
        return umbeli_load_le32(p) | high << (8 * len - 32);
    }
    if (len == 0) return 0;
    return p[0] | (uint64_t)p[len / 2] << (8 * (len / 2)) | (uint64_t)p[len - 1] << (8 * len - 8);
}

/* The last word: the remaining 0 to 7 bytes of the key, and its length in the eighth. */
static inline uint64_t umbeli_sip_last(const uint8_t *key, size_t len) {
    uint64_t rest = 8 * (len % 8); /* bits */
    uint64_t left =
        len < 8 ? umbeli_sip_few(key, len) : umbeli_load_le64(key + len - 8) >> 1 >> (63 - rest);
    return left | (uint64_t)len << 56;
}

#endif
