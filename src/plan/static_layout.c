/* SPDX-License-Identifier: MIT
 *
 * static_layout.c - sizes of binary fuse tables (Graf and Lemire, "Binary Fuse Filters", 2022)
 *
 * A table of n keys needs somewhat more than n slots, relatively fewer the more keys it has: 1.125
 * n with three slots per key and 1.075 n with four, from about a million keys on; the formulas are
 * the authors'.  Small tables are built in cache, large ones waste less space: shards of 260 to 520
 * thousand keys do both.
 */
#include "plan/static_layout.h"

#include <math.h>

#include "core/size.h"

enum { SHARD_KEYS = 512 * 1024, TRIPLE = 3 };

uint64_t umbeli_static_room(uint64_t keys, uint32_t shard_bits) {
    if (shard_bits == 0) return keys;
    /* Six standard deviations: with 10 000 shards, some shard gets more one time in 100 000. */
    double mean = ldexp((double)keys, -(int)shard_bits);
    return (uint64_t)(mean + 6 * sqrt(mean) + 1);
}

static uint64_t ceil_to(double x) {
    return (uint64_t)ceil(x);
}

/* Segments of a table for this many keys; false when it would have 2^32 slots. */
static bool segment(uint64_t keys, umbeli_static_layout *l) {
    double n = keys < 2 ? 2 : (double)keys, ln = log(n), bits, factor;
    if (l->arity == TRIPLE) {
        bits = floor(ln / log(3.33) + 2.25);
        factor = fmax(1.125, 0.875 + 0.25 * log(1e6) / ln);
    } else {
        bits = floor(ln / log(2.91) - 0.5);
        factor = fmax(1.075, 0.77 + 0.305 * log(6e5) / ln);
    }
    bits = fmin(fmax(bits, 2), UMBELI_STATIC_MAX_SEGMENT_BITS);
    l->segment_bits = (uint32_t)bits;
    uint64_t all = ceil_to(n * factor / exp2(bits)), min = l->arity;
    if (all < min) all = min;
    if (all > UINT32_MAX >> l->segment_bits) return false;
    l->segments = (uint32_t)(all - (l->arity - 1));
    return true;
}

uint32_t umbeli_static_shard_bits(uint64_t keys) {
    uint32_t bits = 0;
    while (keys >> bits >= SHARD_KEYS && bits < UMBELI_STATIC_MAX_SHARD_BITS) bits++;
    return bits;
}

static bool divide(uint64_t keys, uint64_t fullest, umbeli_static_layout *l) {
    l->shard_bits = umbeli_static_shard_bits(keys);
    if (keys >> l->shard_bits >= SHARD_KEYS) return false;
    uint64_t room = umbeli_static_room(keys, l->shard_bits);
    return segment(room > fullest ? room : fullest, l);
}

bool umbeli_static_divide(uint64_t keys, uint32_t arity, uint64_t fullest,
                          umbeli_static_layout *layout) {
    *layout = (umbeli_static_layout){.arity = arity ? arity : TRIPLE, .empty = keys == 0};
    if (keys == 0) return true;
    if (!divide(keys, fullest, layout)) return false;
    if (arity) return true;
    umbeli_static_layout four = {.arity = TRIPLE + 1};
    if (divide(keys, fullest, &four) && umbeli_static_slots(&four) < umbeli_static_slots(layout)) {
        *layout = four;
    }
    return true;
}

double umbeli_hash_collisions(uint64_t keys, double rate) {
    double chance = ldexp((double)keys, -64);
    return chance < 1e-6 * rate ? 0 : chance;
}

bool umbeli_static_widths_for_rate(umbeli_static_layout *l, uint64_t keys, double fpr) {
    double table = fpr - umbeli_hash_collisions(keys, fpr),
           shards = (double)umbeli_static_shards(l);
    if (!(table >= ldexp(1, -UMBELI_STATIC_MAX_WIDTH))) return false;
    uint32_t width = table >= 0.5 ? 1 : (uint32_t)floor(-log2(table));
    /* With a share f of wide shards the rate is 2^-width (1 - f/2). */
    double wide = ceil(shards * fmax(0, 2 * (1 - ldexp(table, (int)width))));
    l->width = width;
    l->wide = l->empty ? 0 : (uint32_t)wide;
    if (l->wide == shards && !l->empty) {
        l->width++;
        l->wide = 0;
    }
    return true;
}

bool umbeli_static_widths_for_bytes(umbeli_static_layout *l, uint64_t bytes) {
    l->width = l->wide = 0;
    uint64_t best = 0;
    for (uint32_t width = 1; width <= UMBELI_STATIC_MAX_WIDTH; width++) {
        umbeli_static_layout narrow = *l;
        narrow.width = width;
        uint64_t len = umbeli_static_len(&narrow);
        if (!l->empty && (len == 0 || len > bytes)) break;
        l->width = width;
        best = len;
    }
    if (l->width == 0) return false;
    if (l->empty || l->width == UMBELI_STATIC_MAX_WIDTH) return true;
    uint64_t more = umbeli_static_table_len(l, l->width + 1) - umbeli_static_table_len(l, l->width);
    uint64_t wide = (bytes - best) / more, shards = umbeli_static_shards(l);
    l->wide = (uint32_t)(wide < shards ? wide : shards - 1);
    return true;
}

uint64_t umbeli_static_len(const umbeli_static_layout *l) {
    uint64_t shards = umbeli_static_shards(l), narrow, wide, len;
    if (!umbeli_size_mul(umbeli_static_table_len(l, l->width), shards - l->wide, &narrow) ||
        !umbeli_size_mul(umbeli_static_table_len(l, l->width + 1), l->wide, &wide) ||
        !umbeli_size_add(narrow, wide, &len) ||
        !umbeli_size_add(len, umbeli_static_tables_at(l), &len) || len > INT64_MAX / 8) {
        return 0;
    }
    return len;
}

double umbeli_static_rate(const umbeli_static_layout *l, uint64_t keys) {
    if (l->empty) return 0;
    double wide = (double)l->wide / (double)umbeli_static_shards(l);
    double table = ldexp(1 - wide / 2, -(int)l->width);
    return fmin(table + umbeli_hash_collisions(keys, table),
                1); /* a file may claim any number of keys */
}
