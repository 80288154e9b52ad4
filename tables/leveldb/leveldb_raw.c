/* SPDX-License-Identifier: MIT */
#include "tables/leveldb/leveldb_raw.h"

#include <string.h>

#include "core/bits.h"
#include "format/leveldb/leveldb_layout.h"

enum { SMALL_BITS = 4096 };

size_t umbeli_leveldb_fill_len(uint64_t n, uint32_t bits_per_key) {
    uint64_t bits;
    if (!umbeli_leveldb_bits(n, bits_per_key, &bits) || bits / 8 >= SIZE_MAX) return 0;
    return (size_t)(bits / 8 + 1);
}

/* Small filters: each bit as a byte first.  Keys of one small filter hit the same byte so often
 * that setting bits in place would stall on the previous store. */
static void fill_small(uint8_t *filter, uint32_t bits, uint32_t k, const uint32_t *hashes,
                       size_t n) {
    uint8_t wide[SMALL_BITS];
    umbeli_leveldb_modulus m = umbeli_leveldb_modulus_of(bits);
    memset(wide, 0, bits);
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < k; j++) {
            wide[umbeli_leveldb_place(m, umbeli_leveldb_probe(hashes[i], j))] = 1;
        }
    }
    for (uint32_t i = 0; i < bits / 8; i++) {
        /* Packs eight bytes of 0 or 1 into one: each is shifted to its bit of the top byte. */
        filter[i] = (uint8_t)(umbeli_load_le64(wide + 8 * i) * UINT64_C(0x0102040810204080) >> 56);
    }
}

void umbeli_leveldb_fill(uint8_t *filter, size_t len, uint32_t bits_per_key, const uint32_t *hashes,
                         size_t n) {
    uint32_t k = umbeli_leveldb_hashes(bits_per_key);
    uint64_t bits = ((uint64_t)len - 1) * 8;
    filter[len - 1] = (uint8_t)k;
    if (bits <= SMALL_BITS) {
        fill_small(filter, (uint32_t)bits, k, hashes, n);
        return;
    }
    umbeli_leveldb_modulus m = umbeli_leveldb_modulus_of(bits);
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < k; j++) {
            umbeli_bit_set(filter, umbeli_leveldb_place(m, umbeli_leveldb_probe(hashes[i], j)));
        }
    }
}

/* An absent key finds about half of its bits set, so a branch per probe would be mispredicted all
 * the time; one per three probes is nearly always taken.  Each filter is queried once, so
 * precomputing the inverse of its size would not pay, but the three short divisions overlap. */
static bool has_short(const uint8_t *filter, uint32_t bits, uint32_t k, uint32_t h) {
    uint32_t j = 0;
    for (; j + 3 <= k; j += 3) {
        uint32_t a = umbeli_leveldb_probe(h, j) % bits, b = umbeli_leveldb_probe(h, j + 1) % bits;
        uint32_t c = umbeli_leveldb_probe(h, j + 2) % bits;
        if (!((filter[a >> 3] >> (a & 7)) & (filter[b >> 3] >> (b & 7)) &
              (filter[c >> 3] >> (c & 7)) & 1)) {
            return false;
        }
    }
    for (; j < k; j++) {
        if (!umbeli_bit_test(filter, umbeli_leveldb_probe(h, j) % bits)) return false;
    }
    return true;
}

bool umbeli_leveldb_fill_has(const uint8_t *filter, size_t len, uint32_t hash) {
    if (len < 2) return false;
    uint32_t k = filter[len - 1];
    uint64_t bits = ((uint64_t)len - 1) * 8;
    if (k > UMBELI_LEVELDB_MAX_HASHES) return true;
    if (bits <= UINT32_MAX) return has_short(filter, (uint32_t)bits, k, hash);
    for (uint32_t j = 0; j < k; j++) {
        if (!umbeli_bit_test(filter, umbeli_leveldb_probe(hash, j))) return false;
    }
    return true;
}
