/* SPDX-License-Identifier: MIT */
#include "hash/native_hash.h"

#include "core/cpu.h"

const umbeli_hasher *umbeli_native_hasher(const umbeli_shape *shape) {
    bool keyed = umbeli_is_keyed(shape);
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) {
        return keyed ? &umbeli_hasher_siphash13_avx2 : &umbeli_hasher_xxh3_avx2;
    }
#endif
    return keyed ? &umbeli_hasher_siphash13 : &umbeli_hasher_xxh3;
}

void umbeli_native_hashes128(const umbeli_shape *shape, const umbel_key *keys, size_t n,
                             umbeli_hash128 *hashes) {
    size_t i = 0;
#if UMBELI_X86
    if (!umbeli_is_keyed(shape) && umbeli_cpu() & UMBELI_CPU_AVX2) {
        i = umbeli_xxh3_128_numbers_avx2(shape->seed, keys, n, hashes);
    }
#endif
    for (; i < n; i++) hashes[i] = umbeli_native_hash128(shape, keys[i].data, keys[i].len);
}

uint64_t umbeli_fingerprint(umbeli_secret secret) {
    static const char text[] = "umbel: which key is it?";
    uint64_t print = umbeli_siphash13(text, sizeof text - 1, secret);
    return print ? print : 1;
}
