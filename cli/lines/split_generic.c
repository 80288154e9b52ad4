/* SPDX-License-Identifier: MIT
 *
 * split_generic.c - line ends, eight bytes at a time in portable C
 */
#include "lines/split.h"

/* Bit i is set if byte i of the word is zero.  The borrow of the textbook subtraction would carry
 * into the next byte; adding 0x7f to seven bits cannot. */
static inline uint64_t zero_bytes(uint64_t word) {
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t high = ~(((word & low7) + low7) | word | low7); /* 0x80 in each zero byte */
    return (high >> 7) * UINT64_C(0x0102040810204080) >> 56; /* gathered into eight bits */
}

static inline uint64_t load_le64(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

size_t cli_split_generic(const uint8_t *text, size_t len, uint8_t sep, uint32_t *ends) {
    const uint64_t seps = sep * UINT64_C(0x0101010101010101);
    size_t i = 0, n = 0;
    for (; i + 64 <= len; i += 64) {
        uint64_t mask = 0;
        for (unsigned j = 0; j < 8; j++) {
            mask |= zero_bytes(load_le64(text + i + 8 * j) ^ seps) << (8 * j);
        }
        for (; mask; mask &= mask - 1) ends[n++] = (uint32_t)i + (uint32_t)__builtin_ctzll(mask);
    }
    return n + cli_split_tail(text, i, len, sep, ends + n);
}

cli_split *cli_split_best(void) {
#if defined(__x86_64__) && !defined(UMBEL_GENERIC)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("popcnt")) {
        return cli_split_avx2;
    }
#endif
    return cli_split_generic;
}
