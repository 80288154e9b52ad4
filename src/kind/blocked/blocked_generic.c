/* SPDX-License-Identifier: MIT
 *
 * blocked_generic.c - the split-block kernel in plain C; the others must match it bit for bit
 *
 * Where WebAssembly has vectors, it uses them: nothing has to be detected there at run time.
 */
#include "core/bits.h"
#include "kind/blocked/blocked.h"

#define KERNEL umbeli_blocked_generic
#define KERNEL_NAME "generic"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define BLOCK_LOG2 UMBELI_BLOCK_LOG2

#if defined(__wasm_simd128__)

#include <wasm_simd128.h>

typedef struct block_mask {
    v128_t half[2];
} block_mask;

/* 1 << (product >> 27) in each lane.  There is no shift of lanes by different amounts, so the upper
 * byte of the product goes to all four bytes of its lane: two bits of it say which of them gets the
 * bit, the next three which bit. */
static inline v128_t lanes_of(v128_t product) {
    v128_t upper = wasm_i8x16_shuffle(product, product, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15,
                                      15, 15, 15);
    v128_t which = wasm_v128_and(wasm_u16x8_shr(upper, 3), wasm_i8x16_splat(7));
    v128_t bit = wasm_i8x16_swizzle(wasm_u64x2_const_splat(UINT64_C(0x8040201008040201)), which);
    v128_t place = wasm_v128_and(upper, wasm_u8x16_const_splat(0xc0));
    return wasm_v128_and(bit, wasm_i8x16_eq(place, wasm_u32x4_const_splat(0xc0804000)));
}

static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    (void)lanes;
    /* clang 14 makes one instruction of loading and spreading x, and then moves it past a store to
     * the address that it loads from. */
    __asm__("" : "+r"(x));
    v128_t all = wasm_u32x4_splat(x);
    return (block_mask){{
        lanes_of(wasm_i32x4_mul(all, wasm_v128_load(umbeli_block_salts))),
        lanes_of(wasm_i32x4_mul(all, wasm_v128_load(umbeli_block_salts + 4))),
    }};
}

static inline bool misses(v128_t low, v128_t high, block_mask m) {
    return wasm_v128_any_true(
        wasm_v128_or(wasm_v128_andnot(m.half[0], low), wasm_v128_andnot(m.half[1], high)));
}

static inline bool block_has(const uint8_t *block, block_mask m) {
    return !misses(wasm_v128_load(block), wasm_v128_load(block + 16), m);
}

static inline bool block_put(uint8_t *block, block_mask m) {
    v128_t low = wasm_v128_load(block), high = wasm_v128_load(block + 16);
    wasm_v128_store(block, wasm_v128_or(low, m.half[0]));
    wasm_v128_store(block + 16, wasm_v128_or(high, m.half[1]));
    return misses(low, high, m);
}

#else

typedef struct block_mask {
    uint32_t lane[UMBELI_BLOCK_LANES];
} block_mask;

static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    block_mask m;
    for (uint32_t i = 0; i < lanes; i++) {
        m.lane[i] = UINT32_C(1) << umbeli_block_bit(x, i);
    }
    return m;
}

static inline bool block_has(const uint8_t *block, block_mask m) {
    uint32_t missing = 0;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        missing |= m.lane[i] & ~umbeli_load_le32(block + 4 * i);
    }
    return missing == 0;
}

static inline bool block_put(uint8_t *block, block_mask m) {
    uint32_t missing = 0;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        uint32_t lane = umbeli_load_le32(block + 4 * i);
        missing |= m.lane[i] & ~lane;
        umbeli_store_le32(block + 4 * i, lane | m.lane[i]);
    }
    return missing != 0;
}

#endif

#include "kind/blocked/blocked_loops.h"
