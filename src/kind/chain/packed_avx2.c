/* SPDX-License-Identifier: MIT
 *
 * packed_avx2.c - packed hashes on processors that count bits in one instruction
 */
#include "core/cpu.h"

#if UMBELI_X86

/* Every processor with AVX2 has these. */
#define KERNEL umbeli_packed_avx2
#define KERNEL_TARGET __attribute__((target("avx2,popcnt,bmi,bmi2")))
#include "kind/chain/packed_loops.h"

#endif
