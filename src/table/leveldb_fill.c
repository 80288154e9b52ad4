/* SPDX-License-Identifier: MIT */
#include "table/leveldb_fill.h"

#include "codec/leveldb_layout.h"
#include "core/bits.h"

size_t umbeli_leveldb_fill_len(uint64_t n, uint32_t bits_per_key) {
    uint64_t bits;
    if (!umbeli_leveldb_bits(n, bits_per_key, &bits) || bits / 8 >= SIZE_MAX) return 0;
    return (size_t)(bits / 8 + 1);
}

void umbeli_leveldb_fill(uint8_t *filter, size_t len, uint32_t bits_per_key, const uint32_t *hashes,
                         size_t n) {
    uint32_t k = umbeli_leveldb_hashes(bits_per_key);
    umbeli_modulus m = umbeli_modulus_of(((uint64_t)len - 1) * 8);
    for (size_t i = 0; i < n; i++) {
        uint32_t h = hashes[i], step = umbeli_rotl32(h, 15);
        for (uint32_t j = 0; j < k; j++, h += step) {
            uint64_t p = umbeli_mod(h, m);
            filter[p >> 3] |= (uint8_t)(1u << (p & 7));
        }
    }
    filter[len - 1] = (uint8_t)k;
}

/* Each filter is asked once or twice, so an inverse of its size would not pay; but below 2^32 bits
 * the short division does, which is two to three times faster than the long one on many CPUs. */
static bool has_short(const uint8_t *filter, uint32_t bits, uint32_t k, uint32_t h) {
    uint32_t step = umbeli_rotl32(h, 15);
    for (uint32_t j = 0; j < k; j++, h += step) {
        if (!umbeli_bit_test(filter, h % bits)) return false;
    }
    return true;
}

bool umbeli_leveldb_fill_has(const uint8_t *filter, size_t len, uint32_t hash) {
    if (len < 2) return false;
    uint32_t k = filter[len - 1];
    uint64_t bits = ((uint64_t)len - 1) * 8;
    if (k > UMBELI_LEVELDB_MOST_HASHES) return true;
    if (bits <= UINT32_MAX) return has_short(filter, (uint32_t)bits, k, hash);
    uint32_t step = umbeli_rotl32(hash, 15);
    for (uint32_t j = 0; j < k; j++, hash += step) {
        if (!umbeli_bit_test(filter, hash)) return false; /* fewer than 2^32: no remainder */
    }
    return true;
}
