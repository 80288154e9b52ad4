/* SPDX-License-Identifier: MIT
 *
 * reader.c - umbel_inline.h as a program for one processor has it: compiled for AVX2
 */
#include "umbel_inline.h"

#include "bench.h"

uint64_t reader_count(const umbel_filter *f, const uint64_t *hashes, size_t n) {
    umbel_reader reader;
    uint64_t found = 0;
    if (!umbel_reader_of(f, &reader)) return 0;
    for (size_t i = 0; i < n; i++) found += umbel_reader_contains_hash(&reader, hashes[i]);
    return found;
}
