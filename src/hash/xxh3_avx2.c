/* SPDX-License-Identifier: MIT
 *
 * xxh3_avx2.c - XXH3 of four 8-byte keys at once
 *
 * Numbers are the most common keys of one length, and for this length XXH3 is a few rotations and
 * two multiplications.  Longer ones multiply to 128 bits, which no vector instruction does, and are
 * hashed one by one.
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#include "core/bytes.h"
#include "hash/native_hash.h"

#define TARGET __attribute__((target("avx2")))

enum { LANES = 4, OTHERS = 16 /* hashed one by one before four are tried again */ };

/* From XXH3's default secret and its mixing of 4 to 8 bytes. */
static const uint64_t secret_8_to_24 = UINT64_C(0xc73ab174c5ecd5a2);
static const uint64_t prime_mx2 = UINT64_C(0x9fb21c651e98df25);

TARGET static inline __m256i times_prime(__m256i x) {
    const __m256i low = _mm256_set1_epi64x((long long)(prime_mx2 & UINT32_MAX));
    const __m256i high = _mm256_set1_epi64x((long long)(prime_mx2 >> 32));
    __m256i upper = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                     _mm256_mul_epu32(x, high));
    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(upper, 32));
}

TARGET static inline __m256i rotl(__m256i x, int by) {
    return _mm256_or_si256(_mm256_slli_epi64(x, by), _mm256_srli_epi64(x, 64 - by));
}

TARGET static inline __m256i hash_four(const umbel_key *k, __m256i flip) {
    __m256i x = _mm256_set_epi64x(
        (long long)umbeli_load_le64(k[3].data), (long long)umbeli_load_le64(k[2].data),
        (long long)umbeli_load_le64(k[1].data), (long long)umbeli_load_le64(k[0].data));
    x = _mm256_xor_si256(rotl(x, 32), flip);
    x = _mm256_xor_si256(x, _mm256_xor_si256(rotl(x, 49), rotl(x, 24)));
    x = times_prime(x);
    x = _mm256_xor_si256(x, _mm256_add_epi64(_mm256_srli_epi64(x, 35), _mm256_set1_epi64x(8)));
    x = times_prime(x);
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 28));
}

static inline bool are_8_bytes(const umbel_key *k) {
    return ((k[0].len ^ 8) | (k[1].len ^ 8) | (k[2].len ^ 8) | (k[3].len ^ 8)) == 0;
}

/* Returns how many were hashed: all before the first four that include another length. */
TARGET static size_t hash_numbers(uint64_t seed, const umbel_key *keys, size_t n,
                                  uint64_t *hashes) {
    uint64_t swapped = seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    const __m256i flip = _mm256_set1_epi64x((long long)(secret_8_to_24 - swapped));
    size_t i = 0;
    for (; n - i >= LANES && are_8_bytes(keys + i); i += LANES) {
        _mm256_storeu_si256((__m256i *)(void *)(hashes + i), hash_four(keys + i, flip));
    }
    return i;
}

static void many(const umbeli_shape *shape, const umbel_key *keys, size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n;) {
        i += hash_numbers(shape->seed, keys + i, n - i, hashes + i);
        size_t others = n - i < OTHERS ? n - i : OTHERS;
        umbeli_hasher_xxh3.many(shape, keys + i, others, hashes + i);
        i += others;
    }
}

const umbeli_hasher umbeli_hasher_xxh3_avx2 = {.one = umbeli_xxh3_one, .many = many};

#else
typedef int umbeli_no_xxh3_avx2; /* a translation unit is never empty in ISO C */
#endif
