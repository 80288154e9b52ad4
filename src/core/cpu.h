/* SPDX-License-Identifier: MIT
 *
 * cpu.h - what this processor can do, detected once
 */
#ifndef UMBELI_CPU_H
#define UMBELI_CPU_H

#include <stdint.h>

/* Not on Windows, where gcc does not align the stack for registers of 32 bytes (its bug 54412). */
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(_WIN32) && \
    !defined(UMBEL_GENERIC)
#define UMBELI_X86 1 /* its kernels are compiled in; umbeli_cpu says whether they may run */
#else
#define UMBELI_X86 0
#endif

#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__) && \
    !defined(UMBEL_GENERIC)
#define UMBELI_NEON 1 /* part of the architecture: nothing to detect */
#else
#define UMBELI_NEON 0
#endif

enum {
    UMBELI_CPU_AVX2 = 1 << 0,   /* and the operating system saves the registers */
    UMBELI_CPU_AVX512 = 1 << 1, /* likewise, and without a lower clock: Ice Lake, Zen 4 and later */
};

uint32_t umbeli_cpu(void);

/* For tests: pretend from now on that only the features in `mask` exist. */
void umbeli_cpu_limit(uint32_t mask);

#endif
