/* SPDX-License-Identifier: MIT */
#include "core/bits.h"

#include "core/cpu.h"

/* Nothing here depends on byte order, so words are loaded as they are. */
static uint64_t word_at(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* Bytes up to the next whole word; at most len. */
static uint64_t before_word(const uint8_t *p, uint64_t len) {
    uint64_t n = -(uintptr_t)p % sizeof(size_t);
    return n < len ? n : len;
}

/* In units of size_t, as in block_atomic.h: the widest word that every machine loads and stores in
 * one piece. */
void umbeli_bits_copy_seen(uint8_t *into, const uint8_t *from, uint64_t len) {
    uint64_t i = 0, head = before_word(from, len);
    for (; i < head; i++) into[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
    for (; i + sizeof(size_t) <= len; i += sizeof(size_t)) {
        size_t word = __atomic_load_n((const size_t *)(const void *)(from + i), __ATOMIC_RELAXED);
        memcpy(into + i, &word, sizeof word);
    }
    for (; i < len; i++) into[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

void umbeli_bits_or_seen(uint8_t *into, const uint8_t *from, uint64_t len) {
    uint64_t i = 0, head = before_word(into, len);
    for (; i < head; i++) __atomic_store_n(into + i, into[i] | from[i], __ATOMIC_RELAXED);
    for (; i + sizeof(size_t) <= len; i += sizeof(size_t)) {
        size_t word, *at = (size_t *)(void *)(into + i);
        memcpy(&word, from + i, sizeof word);
        __atomic_store_n(at, *at | word, __ATOMIC_RELAXED);
    }
    for (; i < len; i++) __atomic_store_n(into + i, into[i] | from[i], __ATOMIC_RELAXED);
}

/* ---- counting ------------------------------------------------------------------------------ */

static uint64_t count(const uint8_t *bits, uint64_t len) {
    uint64_t count = 0, i = 0;
    for (; i + 8 <= len; i += 8) count += (uint64_t)__builtin_popcountll(word_at(bits + i));
    for (; i < len; i++) count += (uint64_t)__builtin_popcount(bits[i]);
    return count;
}

static umbeli_lane_counts count_lanes(const uint8_t *bits, uint64_t groups) {
    umbeli_lane_counts sums = {0, 0};
    for (uint64_t i = 0; i < groups; i++, bits += UMBELI_LANES_BYTES) {
        uint64_t product = 1;
        for (size_t at = 0; at < UMBELI_LANES_BYTES; at += 4) {
            unsigned set = (unsigned)__builtin_popcount(umbeli_load_le32(bits + at));
            product *= set;
            sums.set += set;
        }
        sums.products += product;
    }
    return sums;
}

uint64_t umbeli_bits_count(const uint8_t *bits, uint64_t len) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return umbeli_bits_count_avx2(bits, len);
#endif
    return count(bits, len);
}

umbeli_lane_counts umbeli_bits_count_lanes(const uint8_t *bits, uint64_t groups) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return umbeli_bits_count_lanes_avx2(bits, groups);
#endif
    return count_lanes(bits, groups);
}

uint64_t umbeli_bits_count_lines(const uint8_t *bits, uint64_t lines, uint32_t lanes,
                                 double *products) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) {
        return umbeli_bits_count_lines_avx2(bits, lines, lanes, products);
    }
#endif
    return umbeli_count_lines(bits, lines, lanes, products);
}

uint64_t umbeli_bits_count_first(const uint8_t *bits, uint64_t n) {
    uint64_t set = umbeli_bits_count(bits, n / 8);
    unsigned rest = n % 8 ? bits[n / 8] & ((1u << n % 8) - 1) : 0;
    return set + (uint64_t)__builtin_popcount(rest);
}

/* ---- sets ---------------------------------------------------------------------------------- */

void umbeli_bits_or(uint8_t *into, const uint8_t *from, uint64_t len) {
    for (uint64_t i = 0; i < len; i++) into[i] = (uint8_t)(into[i] | from[i]);
}

void umbeli_bits_and(uint8_t *into, const uint8_t *from, uint64_t len) {
    for (uint64_t i = 0; i < len; i++) into[i] = (uint8_t)(into[i] & from[i]);
}

bool umbeli_bits_subset(const uint8_t *part, const uint8_t *whole, uint64_t len) {
    uint64_t i = 0;
    for (; i + 8 <= len; i += 8) {
        if (word_at(part + i) & ~word_at(whole + i)) return false;
    }
    for (; i < len; i++) {
        if (part[i] & ~whole[i]) return false;
    }
    return true;
}

bool umbeli_bits_none(const uint8_t *bits, uint64_t len) {
    uint64_t i = 0;
    for (; i + 8 <= len; i += 8) {
        if (word_at(bits + i)) return false;
    }
    for (; i < len; i++) {
        if (bits[i]) return false;
    }
    return true;
}
