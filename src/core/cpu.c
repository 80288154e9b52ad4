/* SPDX-License-Identifier: MIT */
#include "core/cpu.h"

#include <stdatomic.h>

enum { KNOWN = 1 << 30 };

/* Every thread detects the same value, so a race to store it is harmless. */
static _Atomic uint32_t features;
static _Atomic uint32_t allowed = UINT32_MAX;

static uint32_t detect(void) {
    uint32_t found = 0;
#if UMBELI_X86
    /* Checks OSXSAVE and XCR0 as well as CPUID. */
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) found |= UMBELI_CPU_AVX2;
    /* VBMI came after the processors that slow down as soon as a wide register is used. */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vpopcntdq")) {
        found |= UMBELI_CPU_AVX512;
    }
#endif
    return found;
}

uint32_t umbeli_cpu(void) {
    uint32_t word = atomic_load_explicit(&features, memory_order_relaxed);
    if (!(word & KNOWN)) {
        word = detect() | (uint32_t)KNOWN;
        atomic_store_explicit(&features, word, memory_order_relaxed);
    }
    return word & atomic_load_explicit(&allowed, memory_order_relaxed) & ~(uint32_t)KNOWN;
}

void umbeli_cpu_limit(uint32_t mask) {
    atomic_store_explicit(&allowed, mask, memory_order_relaxed);
}
