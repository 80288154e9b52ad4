/* SPDX-License-Identifier: MIT
 *
 * xxh3_avx2.c - XXH3 of four 8-byte keys in parallel, to 64 or to 128 bits
 *
 * Numbers are the most common keys of one length, and for this length XXH3 is a few shifts and two
 * or three multiplications.  Keys of other lengths are hashed one by one.
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#include "core/bytes.h"
#include "hash/native_hash.h"

#define TARGET __attribute__((target("avx2")))

enum { LANES = 4, OTHERS = 16 /* hashed one by one before numbers are looked for again */ };

/* From XXH3's default secret and its mixing of 4 to 8 bytes. */
static const uint64_t secret_64 = UINT64_C(0xc73ab174c5ecd5a2);  /* bytes 8 to 24, folded */
static const uint64_t secret_128 = UINT64_C(0xc4f023344dc994ac); /* bytes 16 to 32 */
static const uint64_t prime_mx1 = UINT64_C(0x165667919e3779f9);
static const uint64_t prime_mx2 = UINT64_C(0x9fb21c651e98df25);
static const uint64_t prime_64_1 = UINT64_C(0x9e3779b185ebca87);

TARGET static inline __m256i all(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

TARGET static inline __m256i times(__m256i x, uint64_t y) {
    const __m256i low = all(y & UINT32_MAX), high = all(y >> 32);
    __m256i upper = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                     _mm256_mul_epu32(x, high));
    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(upper, 32));
}

/* The product's upper 64 bits; *lower gets the others. */
TARGET static inline __m256i times_wide(__m256i x, uint64_t y, __m256i *lower) {
    const __m256i low = all(y & UINT32_MAX), high = all(y >> 32), half = all(UINT32_MAX);
    __m256i upper = _mm256_srli_epi64(x, 32);
    __m256i low_low = _mm256_mul_epu32(x, low), high_low = _mm256_mul_epu32(upper, low);
    __m256i cross = _mm256_add_epi64(_mm256_srli_epi64(low_low, 32), _mm256_mul_epu32(x, high));
    cross = _mm256_add_epi64(cross, _mm256_and_si256(high_low, half));
    *lower = _mm256_or_si256(_mm256_slli_epi64(cross, 32), _mm256_and_si256(low_low, half));
    return _mm256_add_epi64(
        _mm256_add_epi64(_mm256_srli_epi64(high_low, 32), _mm256_srli_epi64(cross, 32)),
        _mm256_mul_epu32(upper, high));
}

TARGET static inline __m256i rotl(__m256i x, int by) {
    return _mm256_or_si256(_mm256_slli_epi64(x, by), _mm256_srli_epi64(x, 64 - by));
}

TARGET static inline __m256i xorshift(__m256i x, int by) {
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, by));
}

TARGET static inline __m256i load_four(const umbel_key *k) {
    return _mm256_set_epi64x(
        (long long)umbeli_load_le64(k[3].data), (long long)umbeli_load_le64(k[2].data),
        (long long)umbeli_load_le64(k[1].data), (long long)umbeli_load_le64(k[0].data));
}

TARGET static inline __m256i hash_four(const umbel_key *k, __m256i flip) {
    __m256i x = _mm256_xor_si256(rotl(load_four(k), 32), flip);
    x = _mm256_xor_si256(x, _mm256_xor_si256(rotl(x, 49), rotl(x, 24)));
    x = times(x, prime_mx2);
    x = _mm256_xor_si256(x, _mm256_add_epi64(_mm256_srli_epi64(x, 35), all(8)));
    return xorshift(times(x, prime_mx2), 28);
}

TARGET static inline void hash_four_wide(const umbel_key *k, __m256i flip, umbeli_hash128 *hashes) {
    __m256i low, high;
    high = times_wide(_mm256_xor_si256(load_four(k), flip), prime_64_1 + (8 << 2), &low);
    high = _mm256_add_epi64(high, _mm256_slli_epi64(low, 1));
    low = _mm256_xor_si256(low, _mm256_srli_epi64(high, 3));
    low = xorshift(times(xorshift(low, 35), prime_mx2), 28);
    high = xorshift(times(xorshift(high, 37), prime_mx1), 32);
    __m256i even = _mm256_unpacklo_epi64(low, high), odd = _mm256_unpackhi_epi64(low, high);
    __m256i *out = (__m256i *)(void *)hashes;
    _mm256_storeu_si256(out, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}

static inline bool are_8_bytes(const umbel_key *k) {
    return ((k[0].len ^ 8) | (k[1].len ^ 8) | (k[2].len ^ 8) | (k[3].len ^ 8)) == 0;
}

/* The hardware prefetches sequential reads, but only to the end of a page.  Numbers usually lie one
 * after another; where they do not, a prefetch of the wrong address, or of none, is harmless. */
static inline void fetch_later(const umbel_key *k) {
    enum { KEYS_LATER = 256 };
    __builtin_prefetch((const void *)((uintptr_t)k + KEYS_LATER * sizeof *k));
    __builtin_prefetch((const void *)((uintptr_t)k->data + KEYS_LATER * sizeof(uint64_t)));
}

static uint64_t mixed(uint64_t seed) {
    return seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
}

TARGET static size_t hash_numbers(uint64_t seed, const umbel_key *keys, size_t n,
                                  uint64_t *hashes) {
    const __m256i flip = all(secret_64 - mixed(seed));
    size_t i = 0;
    for (; n - i >= LANES && are_8_bytes(keys + i); i += LANES) {
        fetch_later(keys + i);
        _mm256_storeu_si256((__m256i *)(void *)(hashes + i), hash_four(keys + i, flip));
    }
    return i;
}

TARGET size_t umbeli_xxh3_128_numbers_avx2(uint64_t seed, const umbel_key *keys, size_t n,
                                           umbeli_hash128 *hashes) {
    const __m256i flip = all(secret_128 + mixed(seed));
    size_t i = 0;
    for (; n - i >= LANES && are_8_bytes(keys + i); i += LANES) {
        fetch_later(keys + i);
        hash_four_wide(keys + i, flip, hashes + i);
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
