/* SPDX-License-Identifier: MIT
 *
 * classic_avx2.c - adds to umbel's own classic filters, the positions of four keys at a time
 *
 * The lines of later keys are prefetched one by one between the bits of a key that is being added:
 * prefetches in a row would wait for each other.  Bits are set key by key, not probe by probe, so
 * that a key is called new exactly when it would be if it were added alone.
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#include "kind/classic/classic.h"

#define TARGET __attribute__((target("avx2")))
#define INLINED TARGET __attribute__((always_inline))

enum { LANES = 4, AHEAD = 4 /* groups of LANES keys */, MAX_HASHES = 32 };

TARGET static inline __m256i all(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

/* The next of each sequence: x * multiplier + step. */
TARGET static inline __m256i next_of(__m256i x, __m256i step) {
    const __m256i low = all(UMBELI_CLASSIC_MULTIPLIER & UINT32_MAX);
    const __m256i high = all(UMBELI_CLASSIC_MULTIPLIER >> 32);
    __m256i upper = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                     _mm256_mul_epu32(x, high));
    upper = _mm256_slli_epi64(upper, 32);
    return _mm256_add_epi64(_mm256_add_epi64(_mm256_mul_epu32(x, low), upper), step);
}

/* [0, 2^64) to [0, bits), as umbeli_mul_high, for less than 2^32 bits. */
TARGET static inline __m128i scaled(__m256i x, __m256i bits) {
    __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), bits);
    __m256i lower = _mm256_srli_epi64(_mm256_mul_epu32(x, bits), 32);
    __m256i at = _mm256_add_epi64(upper, lower); /* in the upper half of each lane */
    const __m256i halves = _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7);
    return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(at, halves));
}

/* pos[LANES * p + j]: probe p of key j. */
INLINED static inline void positions(const umbeli_hash128 *h, uint32_t hashes, __m256i bits,
                                     uint32_t *pos) {
    const __m256i *in = (const __m256i *)(const void *)h;
    __m256i first = _mm256_loadu_si256(in), second = _mm256_loadu_si256(in + 1);
    __m256i x = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(first, second), 0xd8);
    __m256i step = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(first, second), 0xd8);
    step = _mm256_or_si256(step, all(1));
    for (uint32_t p = 0; p < hashes; p++, x = next_of(x, step)) {
        _mm_storeu_si128((__m128i *)(void *)(pos + (size_t)LANES * p), scaled(x, bits));
    }
}

/* Sets the bits of one key, and fetches those of a later one unless it is NULL. */
INLINED static inline bool set_bits(uint8_t *data, const uint32_t *pos, const uint32_t *later,
                                    bool is_far, uint32_t hashes) {
    unsigned changed = 0;
    for (uint32_t p = 0; p < LANES * hashes; p += LANES) {
        uint8_t *at = data + (pos[p] >> 3);
        unsigned old = *at, with = old | 1u << (pos[p] & 7);
        *at = (uint8_t)with;
        changed |= old ^ with;
        if (later) umbeli_fetch(data + (later[p] >> 3), is_far);
    }
    return changed != 0;
}

INLINED static inline uint64_t add_groups(umbeli_classic_bits b, const umbeli_hash128 *h, size_t n,
                                          uint8_t *was_new, uint32_t hashes, bool near,
                                          bool is_far) {
    uint32_t ring[(AHEAD + 1) * LANES * MAX_HASHES], each = LANES * hashes;
    uint32_t *end = ring + (size_t)(AHEAD + 1) * each, *now = ring, *later = end - each;
    uint64_t added = 0;
    const __m256i bits = all(b.bits);
    for (size_t i = 0; i < AHEAD * LANES && i < n; i += LANES) {
        positions(h + i, hashes, bits, ring + i * hashes);
        for (uint32_t p = 0; p < each && !near; p++) {
            umbeli_fetch(b.data + (ring[i * hashes + p] >> 3), is_far);
        }
    }
    for (size_t i = 0; i < n; i += LANES) {
        bool more = i + AHEAD * LANES < n;
        if (more) positions(h + i + (size_t)AHEAD * LANES, hashes, bits, later);
        for (size_t j = 0; j < LANES; j++) {
            bool changed =
                set_bits(b.data, now + j, near ? NULL : (more ? later : now) + j, is_far, hashes);
            added += changed;
            if (was_new) was_new[i + j] = changed;
        }
        later = now;
        now += each;
        if (now == end) now = ring;
    }
    return added;
}

INLINED static inline uint64_t add(umbeli_classic_bits b, const umbeli_hash128 *h, size_t n,
                                   uint8_t *was_new, uint32_t hashes) {
    if (umbeli_classic_is_near(b.bits)) return add_groups(b, h, n, was_new, hashes, true, false);
    return umbeli_is_far(b.bits / 8) ? add_groups(b, h, n, was_new, hashes, false, true)
                                     : add_groups(b, h, n, was_new, hashes, false, false);
}

TARGET size_t umbeli_classic_add_avx2(umbeli_classic_bits into, const umbeli_hash128 *h, size_t n,
                                      uint8_t *was_new, uint64_t *added) {
    if (into.bits > UINT32_MAX || into.hashes > MAX_HASHES) return 0;
    n -= n % LANES;
    switch (into.hashes) { /* those of the usual rates: an eighth faster as constants */
    case 4: *added += add(into, h, n, was_new, 4); break;   /* 5% */
    case 7: *added += add(into, h, n, was_new, 7); break;   /* 1% */
    case 10: *added += add(into, h, n, was_new, 10); break; /* 0.1% */
    case 13: *added += add(into, h, n, was_new, 13); break; /* 0.01% */
    default: *added += add(into, h, n, was_new, into.hashes);
    }
    return n;
}

#else
typedef int umbeli_no_classic_avx2; /* a translation unit is never empty in ISO C */
#endif
