/* SPDX-License-Identifier: MIT
 *
 * murmur3_128.c - two 64-bit lanes over 16-byte blocks, after Austin Appleby's public algorithm
 */
#include "hash/murmur3_128.h"

#include "core/bits.h"
#include "hash/fmix64.h"

static const uint64_t c1 = 0x87c37b91114253d5ULL;
static const uint64_t c2 = 0x4cf5ad432745937fULL;

static uint64_t mix_first(uint64_t k) {
    return umbeli_rotl64(k * c1, 31) * c2;
}

static uint64_t mix_second(uint64_t k) {
    return umbeli_rotl64(k * c2, 33) * c1;
}

/* The last 0 to 15 bytes as if zeros followed: a lane of zeros mixes to zero, changing nothing. */
static void mix_tail(const uint8_t *tail, size_t len, umbeli_murmur3 *h) {
    uint8_t block[16] = {0};
    if (len > 0) memcpy(block, tail, len);
    h->h1 ^= mix_first(umbeli_load_le64(block));
    h->h2 ^= mix_second(umbeli_load_le64(block + 8));
}

umbeli_murmur3 umbeli_murmur3_128(const void *data, size_t len, uint32_t seed) {
    const uint8_t *p = data;
    umbeli_murmur3 h = {seed, seed};
    for (size_t left = len; left >= 16; left -= 16, p += 16) {
        h.h1 ^= mix_first(umbeli_load_le64(p));
        h.h1 = (umbeli_rotl64(h.h1, 27) + h.h2) * 5 + 0x52dce729;
        h.h2 ^= mix_second(umbeli_load_le64(p + 8));
        h.h2 = (umbeli_rotl64(h.h2, 31) + h.h1) * 5 + 0x38495ab5;
    }
    mix_tail(p, len & 15, &h);

    h.h1 ^= len;
    h.h2 ^= len;
    h.h1 += h.h2;
    h.h2 += h.h1;
    h.h1 = umbeli_fmix64(h.h1);
    h.h2 = umbeli_fmix64(h.h2);
    h.h1 += h.h2;
    h.h2 += h.h1;
    return h;
}
