/* SPDX-License-Identifier: MIT
 *
 * bits.h - loads and stores of fixed byte order, rotations, wide products, bit counts
 *
 * Filters have the same layout in memory as in files (little-endian, bit p in byte p/8), so every
 * access goes through these; on little-endian machines they compile to plain loads.
 */
#ifndef UMBELI_BITS_H
#define UMBELI_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define UMBELI_LE16(x) __builtin_bswap16(x)
#define UMBELI_LE32(x) __builtin_bswap32(x)
#define UMBELI_LE64(x) __builtin_bswap64(x)
#else
#define UMBELI_LE16(x) (x)
#define UMBELI_LE32(x) (x)
#define UMBELI_LE64(x) (x)
#endif

static inline uint16_t umbeli_load_le16(const void *p) {
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return UMBELI_LE16(x);
}

static inline uint32_t umbeli_load_le32(const void *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return UMBELI_LE32(x);
}

static inline uint64_t umbeli_load_le64(const void *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return UMBELI_LE64(x);
}

static inline void umbeli_store_le16(void *p, uint16_t x) {
    x = UMBELI_LE16(x);
    memcpy(p, &x, sizeof x);
}

static inline void umbeli_store_le32(void *p, uint32_t x) {
    x = UMBELI_LE32(x);
    memcpy(p, &x, sizeof x);
}

static inline void umbeli_store_le64(void *p, uint64_t x) {
    x = UMBELI_LE64(x);
    memcpy(p, &x, sizeof x);
}

static inline double umbeli_load_f64(const void *p) {
    uint64_t bits = umbeli_load_le64(p);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void umbeli_store_f64(void *p, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    umbeli_store_le64(p, bits);
}

static inline uint32_t umbeli_rotl32(uint32_t x, unsigned r) {
    return (x << (r & 31)) | (x >> (-r & 31));
}

static inline uint64_t umbeli_rotl64(uint64_t x, unsigned r) {
    return (x << (r & 63)) | (x >> (-r & 63));
}

/* The upper half of the 128-bit product: maps a uniform a to [0, b) without a division. */
static inline uint64_t umbeli_mul_high(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)a * b) >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t carry = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (carry >> 32);
#endif
}

/* Remainders by a fixed divisor, without a division.  With inverse = floor((2^64-1) / divisor) the
 * quotient below is exact or one too small. */
typedef struct umbeli_modulus {
    uint64_t divisor, inverse;
} umbeli_modulus;

static inline umbeli_modulus umbeli_modulus_of(uint64_t divisor) {
    return (umbeli_modulus){divisor, divisor ? UINT64_MAX / divisor : 0};
}

static inline uint64_t umbeli_mod(uint64_t x, umbeli_modulus m) {
    uint64_t rest = x - umbeli_mul_high(x, m.inverse) * m.divisor;
    return rest >= m.divisor ? rest - m.divisor : rest;
}

static inline bool umbeli_bit_test(const uint8_t *bits, uint64_t p) {
    return (bits[p >> 3] >> (p & 7)) & 1;
}

/* True when the bit was not set before. */
static inline bool umbeli_bit_set(uint8_t *bits, uint64_t p) {
    uint8_t mask = (uint8_t)(1u << (p & 7));
    bool was_new = (bits[p >> 3] & mask) == 0;
    bits[p >> 3] |= mask;
    return was_new;
}

/* Copies bytes that other threads may be setting bits in, word by word: each word of the copy is
 * a value that it had at some moment. */
void umbeli_bits_copy_seen(uint8_t *into, const uint8_t *from, uint64_t len);

/* umbeli_bits_or for an `into` that other threads read meanwhile. */
void umbeli_bits_or_seen(uint8_t *into, const uint8_t *from, uint64_t len);

/* Set bits among the first `len` bytes. */
uint64_t umbeli_bits_count(const uint8_t *bits, uint64_t len);

/* Set bits among the first `n`. */
uint64_t umbeli_bits_count_first(const uint8_t *bits, uint64_t n);

/* Over groups of eight 32-bit lanes, at most 2^24 groups: all set bits, and the sum, over the
 * groups, of the product of the lanes' set bits. */
typedef struct umbeli_lane_counts {
    uint64_t set, products;
} umbeli_lane_counts;
enum { UMBELI_LANES_BYTES = 32 };
umbeli_lane_counts umbeli_bits_count_lanes(const uint8_t *bits, uint64_t groups);

/* Over lines of 64 bytes in 4, 8 or 16 lanes: returns all set bits, and adds to *products the
 * product of each line's lanes, which may need 96 bits. */
enum { UMBELI_COUNTED_LINE = 64 };
uint64_t umbeli_bits_count_lines(const uint8_t *bits, uint64_t lines, uint32_t lanes,
                                 double *products);

/* The three counts above for processors with AVX2; bits_avx2.c. */
uint64_t umbeli_bits_count_avx2(const uint8_t *bits, uint64_t len);
uint64_t umbeli_bits_count_lines_avx2(const uint8_t *bits, uint64_t lines, uint32_t lanes,
                                      double *products);
umbeli_lane_counts umbeli_bits_count_lanes_avx2(const uint8_t *bits, uint64_t groups);

/* The body of both versions, inlined so that each uses its own popcount instruction.  Halves of a
 * line have products of at most 2^40. */
__attribute__((always_inline)) static inline uint64_t
umbeli_count_lines(const uint8_t *bits, uint64_t lines, uint32_t lanes, double *products) {
    uint64_t set = 0;
    double sum = *products;
    for (uint64_t i = 0; i < lines; i++, bits += UMBELI_COUNTED_LINE) {
        uint64_t product[2] = {1, 1}, pair = 0;
        for (uint32_t at = 0; at < 8; at++) {
            uint64_t word = umbeli_load_le64(bits + 8 * at), half = at / 4;
            uint64_t count = (uint64_t)__builtin_popcountll(word);
            set += count;
            if (lanes == 8) {
                product[half] *= count;
            } else if (lanes == 16) {
                uint64_t low = (uint64_t)__builtin_popcountll(word & UINT32_MAX);
                product[half] *= low * (count - low);
            } else {
                pair = at % 2 ? pair + count : count;
                if (at % 2) product[half] *= pair;
            }
        }
        sum += (double)product[0] * (double)product[1];
    }
    *products = sum;
    return set;
}

/* Bitwise set operations on arrays of equal length. */
void umbeli_bits_or(uint8_t *into, const uint8_t *from, uint64_t len);
void umbeli_bits_and(uint8_t *into, const uint8_t *from, uint64_t len);
bool umbeli_bits_subset(const uint8_t *part, const uint8_t *whole, uint64_t len);
bool umbeli_bits_none(const uint8_t *bits, uint64_t len);

#endif
