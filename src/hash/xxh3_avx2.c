/* SPDX-License-Identifier: MIT
 *
 * xxh3_avx2.c - XXH3 of four keys in parallel: any keys to 64 bits, those of 8 bytes to 128
 */
#include "core/cpu.h"

#if UMBELI_X86

#include "hash/xxh3_avx2.h"

#define TARGET __attribute__((target("avx2")))

enum { LANES = UMBELI_XXH3_LANES };

TARGET static inline void hash_numbers_wide(const umbel_key *k, __m256i flip,
                                            umbeli_hash128 *hashes) {
    __m256i low, high, numbers = _mm256_xor_si256(umbeli_load_numbers(k), flip);
    high = umbeli_times_wide(numbers, umbeli_all_64(UMBELI_XXH3_PRIME_64_1 + (8 << 2)), &low);
    high = _mm256_add_epi64(high, _mm256_slli_epi64(low, 1));
    low = _mm256_xor_si256(low, _mm256_srli_epi64(high, 3));
    low = umbeli_times_64(umbeli_xorshift_64(low, 35), UMBELI_XXH3_PRIME_MX2);
    low = umbeli_xorshift_64(low, 28);
    high = umbeli_times_64(umbeli_xorshift_64(high, 37), UMBELI_XXH3_PRIME_MX1);
    high = umbeli_xorshift_64(high, 32);
    __m256i even = _mm256_unpacklo_epi64(low, high), odd = _mm256_unpackhi_epi64(low, high);
    __m256i *out = (__m256i *)(void *)hashes;
    _mm256_storeu_si256(out, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}

TARGET size_t umbeli_xxh3_128_numbers_avx2(uint64_t seed, const umbel_key *keys, size_t n,
                                           umbeli_hash128 *hashes) {
    const uint64_t secret = UINT64_C(0xc4f023344dc994ac); /* the default one's bytes 16 to 32 */
    const __m256i flip = umbeli_all_64(secret + umbeli_xxh3_mixed(seed));
    size_t i = 0;
    for (; n - i >= LANES && umbeli_are_numbers(keys + i); i += LANES) {
        umbeli_fetch_numbers(keys + i);
        hash_numbers_wide(keys + i, flip, hashes + i);
    }
    return i;
}

TARGET static void many(const umbeli_shape *shape, const umbel_key *keys, size_t n,
                        uint64_t *hashes) {
    const uint64_t seed = shape->seed;
    size_t i = 0;
    for (; n - i >= LANES; i += LANES) umbeli_xxh3_four(keys + i, seed, hashes + i);
    for (; i < n; i++) hashes[i] = umbeli_xxh3_inline(keys[i].data, keys[i].len, seed);
}

const umbeli_hasher umbeli_hasher_xxh3_avx2 = {.one = umbeli_xxh3_one, .many = many};

#else
typedef int umbeli_no_xxh3_avx2; /* a translation unit is never empty in ISO C */
#endif
