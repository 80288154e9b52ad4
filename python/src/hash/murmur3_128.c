/* SPDX-License-Identifier: MIT
 *
 * murmur3_128.c - two 64-bit lanes over 16-byte blocks, after Austin Appleby's public algorithm
 */
#include "core/bits.h"
#include "hash/foreign_hash.h"

static const uint64_t c1 = 0x87c37b91114253d5ULL;
static const uint64_t c2 = 0x4cf5ad432745937fULL;

static uint64_t mix_first(uint64_t k) {
    return umbeli_rotl64(k * c1, 31) * c2;
}

static uint64_t mix_second(uint64_t k) {
    return umbeli_rotl64(k * c2, 33) * c1;
}

/* The last 0 to 15 bytes, padded with zeros: a lane of zeros mixes to zero and changes nothing. */
static void mix_tail(const uint8_t *tail, size_t len, umbeli_hash128 *h) {
    uint8_t block[16] = {0};
    if (len > 0) memcpy(block, tail, len);
    h->low ^= mix_first(umbeli_load_le64(block));
    h->high ^= mix_second(umbeli_load_le64(block + 8));
}

umbeli_hash128 umbeli_murmur3_128(const void *data, size_t len, uint32_t seed) {
    const uint8_t *p = data;
    umbeli_hash128 h = {seed, seed};
    for (size_t left = len; left >= 16; left -= 16, p += 16) {
        h.low ^= mix_first(umbeli_load_le64(p));
        h.low = (umbeli_rotl64(h.low, 27) + h.high) * 5 + 0x52dce729;
        h.high ^= mix_second(umbeli_load_le64(p + 8));
        h.high = (umbeli_rotl64(h.high, 31) + h.low) * 5 + 0x38495ab5;
    }
    mix_tail(p, len & 15, &h);

    h.low ^= len;
    h.high ^= len;
    h.low += h.high;
    h.high += h.low;
    h.low = umbeli_fmix64(h.low);
    h.high = umbeli_fmix64(h.high);
    h.low += h.high;
    h.high += h.low;
    return h;
}
