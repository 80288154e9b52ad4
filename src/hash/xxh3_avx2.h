/* SPDX-License-Identifier: MIT
 *
 * xxh3_avx2.h - XXH3 of four keys in parallel, inlined: the hash of strings is more than half of
 * what a lookup takes
 *
 * Numbers are the most common keys of one length, and for 8 bytes XXH3 is a few shifts and two
 * multiplications.  Texts are mostly of 17 to 128 bytes, for which it takes one to four rounds.
 * Keys of other lengths are hashed one by one.
 */
#ifndef UMBELI_XXH3_AVX2_H
#define UMBELI_XXH3_AVX2_H

#include <immintrin.h>

#include "core/bytes.h"
#include "hash/native_hash.h"
#include "hash/xxh3_inline.h"

#define UMBELI_XXH3_TARGET __attribute__((target("avx2"), always_inline))

enum {
    UMBELI_XXH3_LANES = 4,
    UMBELI_XXH3_TEXT_MIN = 17,
    UMBELI_XXH3_TEXT_MAX = 128,
    UMBELI_XXH3_ROUND = 32, /* bytes */
    UMBELI_XXH3_ROUNDS = UMBELI_XXH3_TEXT_MAX / UMBELI_XXH3_ROUND,
};

#define UMBELI_XXH3_PRIME_MX1 UINT64_C(0x165667919e3779f9)
#define UMBELI_XXH3_PRIME_64_1 UINT64_C(0x9e3779b185ebca87)

UMBELI_XXH3_TARGET static inline __m256i umbeli_all_64(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_times_64(__m256i x, uint64_t y) {
    const __m256i low = umbeli_all_64(y & UINT32_MAX), high = umbeli_all_64(y >> 32);
    __m256i upper = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                     _mm256_mul_epu32(x, high));
    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(upper, 32));
}

/* The products' upper halves; *lower gets the others. */
UMBELI_XXH3_TARGET static inline __m256i umbeli_times_wide(__m256i x, __m256i y, __m256i *lower) {
    __m256i x_high = _mm256_srli_epi64(x, 32), y_high = _mm256_srli_epi64(y, 32);
    __m256i low = _mm256_mul_epu32(x, y), half = umbeli_all_64(UINT32_MAX);
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(x_high, y), _mm256_srli_epi64(low, 32));
    __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(x, y_high), _mm256_and_si256(cross, half));
    __m256i high = _mm256_add_epi64(_mm256_mul_epu32(x_high, y_high), _mm256_srli_epi64(cross, 32));
    *lower = _mm256_blend_epi32(low, _mm256_slli_epi64(middle, 32), 0xaa);
    return _mm256_add_epi64(high, _mm256_srli_epi64(middle, 32));
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_rotl_64(__m256i x, int by) {
    return _mm256_or_si256(_mm256_slli_epi64(x, by), _mm256_srli_epi64(x, 64 - by));
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_xorshift_64(__m256i x, int by) {
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, by));
}

/* ---- Numbers ---- */

static inline bool umbeli_are_numbers(const umbel_key *k) {
    return ((k[0].len ^ 8) | (k[1].len ^ 8) | (k[2].len ^ 8) | (k[3].len ^ 8)) == 0;
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_load_numbers(const umbel_key *k) {
    return _mm256_set_epi64x(
        (long long)umbeli_load_le64(k[3].data), (long long)umbeli_load_le64(k[2].data),
        (long long)umbeli_load_le64(k[1].data), (long long)umbeli_load_le64(k[0].data));
}

/* The hardware prefetches sequential reads, but only to the end of a page.  Numbers usually lie one
 * after another; where they do not, a prefetch of the wrong address, or of none, is harmless. */
static inline void umbeli_fetch_numbers(const umbel_key *k) {
    enum { KEYS_LATER = 256 };
    __builtin_prefetch((const void *)((uintptr_t)k + KEYS_LATER * sizeof *k));
    __builtin_prefetch((const void *)((uintptr_t)k->data + KEYS_LATER * sizeof(uint64_t)));
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_hash_numbers(const umbel_key *k, uint64_t seed) {
    const __m256i flip = umbeli_all_64(umbeli_xxh3_flip(seed));
    __m256i x = _mm256_xor_si256(umbeli_rotl_64(umbeli_load_numbers(k), 32), flip);
    x = _mm256_xor_si256(x, _mm256_xor_si256(umbeli_rotl_64(x, 49), umbeli_rotl_64(x, 24)));
    x = umbeli_times_64(x, UMBELI_XXH3_PRIME_MX2);
    x = _mm256_xor_si256(x, _mm256_add_epi64(_mm256_srli_epi64(x, 35), umbeli_all_64(8)));
    return umbeli_xorshift_64(umbeli_times_64(x, UMBELI_XXH3_PRIME_MX2), 28);
}

/* ---- Texts ----
 *
 * A round multiplies the two words of 16 bytes towards the beginning of a key, and those of 16
 * bytes towards its end, and folds the products; the sum of all folds is the hash before its last
 * mixing.  A round of two keys is four products: a register. */

static inline bool umbeli_are_texts(const umbel_key *k, size_t *longest) {
    size_t least = k[0].len, most = least;
    for (size_t i = 1; i < UMBELI_XXH3_LANES; i++) {
        least = k[i].len < least ? k[i].len : least;
        most = k[i].len > most ? k[i].len : most;
    }
    *longest = most;
    return least >= UMBELI_XXH3_TEXT_MIN && most <= UMBELI_XXH3_TEXT_MAX;
}

/* 16 bytes from each end.  A key that is too short for a round gets the first round once more,
 * which is then not counted. */
UMBELI_XXH3_TARGET static inline __m256i umbeli_text_ends(const umbel_key *k, size_t round) {
    const size_t half = UMBELI_XXH3_ROUND / 2;
    size_t from = k->len > UMBELI_XXH3_ROUND * round ? half * round : 0;
    const uint8_t *begin = (const uint8_t *)k->data + from;
    const uint8_t *end = (const uint8_t *)k->data + k->len - half - from;
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)begin)),
        _mm_loadu_si128((const __m128i *)(const void *)end), 1);
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_fold_products(__m256i x, __m256i y) {
    __m256i lower, upper = umbeli_times_wide(x, y, &lower);
    return _mm256_xor_si256(upper, lower);
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_round_of_two(const umbel_key *k, size_t round,
                                                             __m256i seeds) {
    /* The beginning of the default secret. */
    static const uint64_t secrets[UMBELI_XXH3_ROUNDS][UMBELI_XXH3_LANES] = {
        {UINT64_C(0xbe4ba423396cfeb8), UINT64_C(0x1cad21f72c81017c), UINT64_C(0xdb979083e96dd4de),
         UINT64_C(0x1f67b3b7a4a44072)},
        {UINT64_C(0x78e5c0cc4ee679cb), UINT64_C(0x2172ffcc7dd05a82), UINT64_C(0x8e2443f7744608b8),
         UINT64_C(0x4c263a81e69035e0)},
        {UINT64_C(0xcb00c391bb52283c), UINT64_C(0xa32e531b8b65d088), UINT64_C(0x4ef90da297486471),
         UINT64_C(0xd8acdea946ef1938)},
        {UINT64_C(0x3f349ce33f76faa8), UINT64_C(0x1d4f0bc7c7bbdcf9), UINT64_C(0x3159b4cd4be0518a),
         UINT64_C(0x647378d9c97e9fc8)},
    };
    const __m256i *words = (const __m256i *)(const void *)secrets[round];
    __m256i secret = _mm256_add_epi64(_mm256_loadu_si256(words), seeds);
    __m256i a = _mm256_xor_si256(umbeli_text_ends(k, round), secret);
    __m256i b = _mm256_xor_si256(umbeli_text_ends(k + 1, round), secret);
    return umbeli_fold_products(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

/* A later round, of the keys that are long enough; lens are in the order of the products. */
UMBELI_XXH3_TARGET static inline __m256i
umbeli_later_round(__m256i sums, const umbel_key *k, __m256i lens, size_t round, __m256i seeds) {
    __m256i counts = _mm256_cmpgt_epi64(lens, umbeli_all_64(UMBELI_XXH3_ROUND * round));
    __m256i folds = umbeli_round_of_two(k, round, seeds);
    return _mm256_add_epi64(sums, _mm256_and_si256(counts, folds));
}

UMBELI_XXH3_TARGET static inline __m256i umbeli_hash_texts(const umbel_key *k, size_t longest,
                                                           uint64_t seed) {
    const long long plus = (long long)seed, minus = (long long)(0 - seed);
    const __m256i seeds = _mm256_set_epi64x(minus, plus, minus, plus);
    __m256i ab_lens = _mm256_permute4x64_epi64(_mm256_loadu_si256((const __m256i *)k), 0xdd);
    __m256i cd_lens = _mm256_permute4x64_epi64(_mm256_loadu_si256((const __m256i *)(k + 2)), 0xdd);
    __m256i lens = _mm256_blend_epi32(ab_lens, cd_lens, 0xf0);
    __m256i ab = umbeli_round_of_two(k, 0, seeds), cd = umbeli_round_of_two(k + 2, 0, seeds);
#pragma GCC unroll 3
    for (size_t round = 1; round < UMBELI_XXH3_ROUNDS; round++) {
        if (longest <= UMBELI_XXH3_ROUND * round) break;
        ab = umbeli_later_round(ab, k, ab_lens, round, seeds);
        cd = umbeli_later_round(cd, k + 2, cd_lens, round, seeds);
    }
    __m256i sums = _mm256_add_epi64(_mm256_permute2x128_si256(ab, cd, 0x20),
                                    _mm256_permute2x128_si256(ab, cd, 0x31));
    sums = _mm256_add_epi64(sums, umbeli_times_64(lens, UMBELI_XXH3_PRIME_64_1));
    sums = umbeli_times_64(umbeli_xorshift_64(sums, 37), UMBELI_XXH3_PRIME_MX1);
    return umbeli_xorshift_64(sums, 32);
}

UMBELI_XXH3_TARGET static inline void umbeli_xxh3_four(const umbel_key *k, uint64_t seed,
                                                       uint64_t *hashes) {
    __m256i *out = (__m256i *)(void *)hashes;
    size_t longest;
    if (umbeli_are_texts(k, &longest)) {
        _mm256_storeu_si256(out, umbeli_hash_texts(k, longest, seed));
    } else if (umbeli_are_numbers(k)) {
        umbeli_fetch_numbers(k);
        _mm256_storeu_si256(out, umbeli_hash_numbers(k, seed));
    } else {
        for (size_t i = 0; i < UMBELI_XXH3_LANES; i++) {
            hashes[i] = umbeli_xxh3_inline(k[i].data, k[i].len, seed);
        }
    }
}

#endif
