/* SPDX-License-Identifier: MIT */
#include <bloom.h>
#include <math.h>
#include <stdlib.h>

#include "bench.h"

static void *build(const umbel_key *keys, size_t n, double bits_per_key) {
    struct bloom *b = malloc(sizeof *b);
    /* libbloom is sized by rate: the one whose optimum has this many bits per key. */
    double error = exp(-bits_per_key * 0.480453013918201);
    if (!b || bloom_init(b, (int)n, error)) abort();
    for (size_t i = 0; i < n; i++) bloom_add(b, keys[i].data, (int)keys[i].len);
    return b;
}

static size_t count(void *filter, const umbel_key *keys, size_t n) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += bloom_check(filter, keys[i].data, (int)keys[i].len) == 1;
    return found;
}

static void end(void *filter) {
    bloom_free(filter);
    free(filter);
}

const peer peer_libbloom = {.name = "libbloom", .build = build, .count = count, .end = end};
