/* SPDX-License-Identifier: MIT
 *
 * static_sort.c - radix sorts: one for evenly spread hashes, and one for all others, from the top
 * bits, so that many equal keys cost nothing extra
 */
#include "kind/static/static_store.h"

/* FEW: moves per hash that an insertion sort may take.  Beyond EVEN_MAX hashes, 4 MiB of them, the
 * two digits of sort_even would scatter them over more than a cache. */
enum { FEW = 24, EVEN_MAX = 1 << 19, DIGIT_BITS = 11, TOP_BITS = 9 };

/* Insertion sort, fast where hardly any hash has to move; false when too many had to. */
static bool insert_all(uint64_t *a, size_t n) {
    size_t moves = 0;
    for (size_t i = 1; i < n; i++) {
        uint64_t x = a[i];
        if (a[i - 1] <= x) continue;
        size_t j = i;
        for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
        a[j] = x;
        moves += i - j;
        if (moves > FEW * n) return false;
    }
    return true;
}

/* Moves hashes to where their digit belongs, given how often each occurs. */
static void deal(const uint64_t *from, uint64_t *to, size_t n, unsigned shift, size_t radix,
                 size_t *counts) {
    for (size_t i = 0, sum = 0; i < radix; i++) {
        size_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) to[counts[(from[i] >> shift) & (radix - 1)]++] = from[i];
}

/* Sorts hashes that agree in all bits from `bits` up, if they are evenly spread: by two digits that
 * together tell most of them apart, the lower one first.  False: they are not.  Not inlined because
 * sort is recursive and the counts are large. */
static __attribute__((noinline)) bool sort_even(uint64_t *a, uint64_t *scratch, size_t n,
                                                unsigned bits) {
    size_t lower[1 << DIGIT_BITS], upper[1 << DIGIT_BITS];
    unsigned digit = 4;
    while (digit < DIGIT_BITS && n >> (2 * digit - 3)) digit++; /* eight values for each hash */
    if (n <= FEW || bits < 2 * digit) return insert_all(a, n);
    unsigned high = bits - digit, low = high - digit;
    size_t radix = (size_t)1 << digit, mask = radix - 1;
    memset(lower, 0, radix * sizeof *lower);
    memset(upper, 0, radix * sizeof *upper);
    for (size_t i = 0; i < n; i++) {
        lower[(a[i] >> low) & mask]++;
        upper[(a[i] >> high) & mask]++;
    }
    deal(a, scratch, n, low, radix, lower);
    deal(scratch, a, n, high, radix, upper);
    return insert_all(a, n);
}

/* Sorts hashes that agree in all bits from `bits` up. */
static void sort(uint64_t *a, uint64_t *scratch, size_t n, unsigned bits) {
    if (n <= EVEN_MAX && sort_even(a, scratch, n, bits)) return;
    if (bits == 0) return; /* all equal */
    unsigned digit = bits < TOP_BITS ? bits : TOP_BITS, shift = bits - digit;
    size_t radix = (size_t)1 << digit, ends[1 << TOP_BITS] = {0};
    for (size_t i = 0; i < n; i++) ends[(a[i] >> shift) & (radix - 1)]++;
    deal(a, scratch, n, shift, radix, ends);
    memcpy(a, scratch, n * sizeof *a);
    for (size_t i = 0, from = 0; i < radix; from = ends[i++]) {
        sort(a + from, scratch + from, ends[i] - from, shift);
    }
}

size_t umbeli_static_sort(uint64_t *hashes, uint64_t *scratch, size_t n) {
    uint64_t differing = 0; /* bits: those of a bucket begin alike */
    for (size_t i = 1; i < n; i++) differing |= hashes[i] ^ hashes[0];
    unsigned bits = differing ? 64 - (unsigned)__builtin_clzll(differing) : 0;
    sort(hashes, scratch, n, bits);
    size_t kept = n > 0;
    for (size_t i = 1; i < n; i++) {
        if (hashes[i] != hashes[kept - 1]) hashes[kept++] = hashes[i];
    }
    return kept;
}
