/* SPDX-License-Identifier: MIT
 *
 * cpu.h - what this processor can do, detected once, and prefetching for its caches
 */
#ifndef UMBELI_CPU_H
#define UMBELI_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* Not on Windows, where gcc does not align the stack for registers of 32 bytes (its bug 54412). */
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(_WIN32) && \
    !defined(UMBEL_GENERIC)
#define UMBELI_X86 1 /* its kernels are compiled in; umbeli_cpu says whether they may run */
#else
#define UMBELI_X86 0
#endif

enum {
    UMBELI_CPU_AVX2 = 1 << 0,   /* and the operating system saves the registers */
    UMBELI_CPU_AVX512 = 1 << 1, /* likewise, and without a lower clock: Ice Lake, Zen 4 and later */
};

uint32_t umbeli_cpu(void);

/* For tests: pretend from now on that only the features in `mask` exist. */
void umbeli_cpu_limit(uint32_t mask);

/* ---- Prefetching what will be read soon, for the loops over batches ----
 *
 * The first-level cache waits for a dozen or two of lines at a time, the second-level cache for
 * several dozen.  So lines that come from memory are fetched into the second level only, from where
 * they are read without waiting: twice as many keys in the same time. */

enum { UMBELI_FAR_ABOVE = 8 * 1024 * 1024 };

/* Whether an array of that many bytes is mostly in memory, beyond what a core has of the caches. */
static inline bool umbeli_is_far(uint64_t bytes) {
    return bytes > UMBELI_FAR_ABOVE;
}

/* In the hottest loops is_far is a constant: a branch for every line costs up to a tenth. */
static inline void umbeli_fetch(const void *p, bool is_far) {
    if (is_far) {
        __builtin_prefetch(p, 0, 2);
    } else {
        __builtin_prefetch(p, 0, 3);
    }
}

#endif
