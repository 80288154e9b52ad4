/* SPDX-License-Identifier: MIT
 *
 * cpu.h - what this processor can do, asked once
 */
#ifndef UMBELI_CPU_H
#define UMBELI_CPU_H

#include <stdint.h>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(UMBEL_GENERIC)
#define UMBELI_X86 1 /* kernels for it are compiled in; whether they may run is umbeli_cpu's word */
#else
#define UMBELI_X86 0
#endif

enum {
    UMBELI_CPU_AVX2 = 1 << 0, /* usable: the operating system saves the registers, too */
};

uint32_t umbeli_cpu(void);

/* For tests: pretend that only the features in `mask` exist from here on. */
void umbeli_cpu_limit(uint32_t mask);

#endif
