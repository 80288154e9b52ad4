/* SPDX-License-Identifier: MIT
 *
 * static_sort.c - radix sort from the top bits, so that many equal keys cost nothing extra
 */
#include "kind/static/static_store.h"

enum { RADIX_BITS = 11, FEW = 24 };

/* Insertion sort of a few hashes into another array, or the same. */
static void insert_few(const uint64_t *from, uint64_t *a, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t x = from[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* Sorts hashes that agree in all bits from `bits` up. */
static void sort(uint64_t *a, uint64_t *scratch, size_t n, unsigned bits) {
    if (n <= FEW) {
        insert_few(a, a, n);
        return;
    }
    if (bits == 0) return; /* all equal */
    unsigned radix = 1;
    while (radix < RADIX_BITS && radix < bits && n >> (radix + 3) != 0) radix++;
    unsigned shift = bits - radix;
    size_t mask = ((size_t)1 << radix) - 1, ends[1 << RADIX_BITS], sum = 0;
    memset(ends, 0, (mask + 1) * sizeof *ends);
    for (size_t i = 0; i < n; i++) ends[(a[i] >> shift) & mask]++;
    for (size_t i = 0; i <= mask; i++) {
        size_t count = ends[i];
        ends[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) scratch[ends[(a[i] >> shift) & mask]++] = a[i];
    for (size_t i = 0, from = 0; i <= mask; from = ends[i++]) {
        size_t count = ends[i] - from;
        if (count <= FEW) {
            insert_few(scratch + from, a + from, count);
        } else {
            memcpy(a + from, scratch + from, count * sizeof *a);
            sort(a + from, scratch + from, count, shift);
        }
    }
}

size_t umbeli_static_sort(uint64_t *hashes, uint64_t *scratch, size_t n) {
    sort(hashes, scratch, n, 64);
    size_t kept = n > 0;
    for (size_t i = 1; i < n; i++) {
        if (hashes[i] != hashes[kept - 1]) hashes[kept++] = hashes[i];
    }
    return kept;
}
