/* SPDX-License-Identifier: MIT
 *
 * line_neon.c - the kernel over whole lines for 64-bit ARM, which always has NEON: a line is four
 *               registers
 */
#include "core/cpu.h"

#if UMBELI_NEON

#include <arm_neon.h>

#include "kind/blocked/line.h"

#define KERNEL umbeli_line_neon
#define KERNEL_NAME "neon"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define KERNEL_CONCURRENT false
#define KERNEL_OF_LINES
#define BLOCK_LOG2 UMBELI_LINE_LOG2

enum { QUARTERS = 4 };

typedef struct block_mask {
    uint32x4_t quarter[QUARTERS];
} block_mask;

/* A word gets a bit if the key's bit of its lane is in it: a 1 shifted by a negative amount, which
 * is a shift to the right, or by 32 and more is 0. */
static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    const umbeli_line_words *w = lanes == 4   ? &umbeli_line_words_4
                                 : lanes == 8 ? &umbeli_line_words_8
                                              : &umbeli_line_words_16;
    int32x4_t down = vdupq_n_s32(-(int32_t)umbeli_line_shift(lanes));
    block_mask m;
    for (int i = 0; i < QUARTERS; i++) {
        uint32x4_t products = vmulq_n_u32(vld1q_u32(w->salt + 4 * i), x);
        uint32x4_t bits = vsubq_u32(vshlq_u32(products, down), vld1q_u32(w->below + 4 * i));
        m.quarter[i] = vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(bits));
    }
    return m;
}

static inline bool block_has(const uint8_t *line, block_mask m) {
    uint32x4_t missing = vdupq_n_u32(0);
    for (int i = 0; i < QUARTERS; i++) {
        uint32x4_t old = vreinterpretq_u32_u8(vld1q_u8(line + 16 * i));
        missing = vorrq_u32(missing, vbicq_u32(m.quarter[i], old));
    }
    return vmaxvq_u32(missing) == 0;
}

static inline bool block_put(uint8_t *line, block_mask m) {
    uint32x4_t missing = vdupq_n_u32(0);
    for (int i = 0; i < QUARTERS; i++) {
        uint32x4_t old = vreinterpretq_u32_u8(vld1q_u8(line + 16 * i));
        missing = vorrq_u32(missing, vbicq_u32(m.quarter[i], old));
        vst1q_u8(line + 16 * i, vreinterpretq_u8_u32(vorrq_u32(old, m.quarter[i])));
    }
    return vmaxvq_u32(missing) != 0;
}

#include "kind/blocked/blocked_loops.h"

#else
typedef int umbeli_no_line_neon; /* a translation unit is never empty in ISO C */
#endif
