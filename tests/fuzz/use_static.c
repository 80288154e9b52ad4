/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "../support/watched_memory.h"
#include "core/bits.h"
#include "umbel_foreign.h"

enum { MAX_KEYS = 300, KEY = 8 };

/* Keys of eight bytes, some of them more than once. */
typedef struct keys {
    uint8_t bytes[MAX_KEYS][KEY];
    size_t n;
    bool backwards;
} keys;

static void choose(keys *k, umbeli_reader *input) {
    uint64_t first = umbeli_take_u64le(input), step = umbeli_take_u64le(input);
    unsigned repeat = umbeli_take_u8(input) + 1u;
    k->n = umbeli_take_u16le(input) % MAX_KEYS;
    for (size_t i = 0; i < k->n; i++) {
        umbeli_store_le64(k->bytes[i], first + (i / repeat) * step);
    }
}

static int compare(const void *a, const void *b) {
    return memcmp(a, b, KEY);
}

static size_t distinct(const keys *k) {
    uint8_t sorted[MAX_KEYS][KEY];
    size_t n = 0;
    memcpy(sorted, k->bytes, sizeof sorted);
    qsort(sorted, k->n, KEY, compare);
    for (size_t i = 0; i < k->n; i++) n += i == 0 || memcmp(sorted[i - 1], sorted[i], KEY) != 0;
    return n;
}

static umbel_key key_at(const keys *k, size_t i) {
    return (umbel_key){k->bytes[k->backwards ? k->n - 1 - i : i], KEY};
}

/* A few at a time, each time another number of them, or one by one. */
static size_t deliver(const keys *k, size_t from, bool bit_by_bit, umbel_key to[7]) {
    size_t left = k->n - from, some = bit_by_bit ? 1 : from % 7 + 1;
    if (some > left) some = left;
    for (size_t i = 0; i < some; i++) to[i] = key_at(k, from + i);
    return some;
}

/* A key that exact filters must not find, unless it is one of the others. */
static umbel_key never_at(const keys *k, size_t i, uint8_t room[KEY]) {
    memcpy(room, k->bytes[i], KEY);
    room[i % KEY] ^= (uint8_t)(1 + i);
    return (umbel_key){room, KEY};
}

static bool is_member(const keys *k, const uint8_t *key) {
    size_t i = 0;
    while (i < k->n && memcmp(k->bytes[i], key, KEY) != 0) i++;
    return i < k->n;
}

static umbel_err build(const keys *k, const umbel_params *params, const umbel_opts *opts,
                       bool bit_by_bit, umbel_filter **out) {
    umbel_builder *builder = NULL;
    umbel_err e = umbel_builder_new(params, opts, &builder, NULL);
    for (size_t i = 0; i < k->n && !e && params->kind == UMBEL_KIND_EXACT; i++) {
        uint8_t room[KEY];
        umbel_key never = never_at(k, i, room);
        e = umbel_builder_never(builder, &never, 1, NULL);
    }
    for (size_t i = 0; i < k->n && !e;) {
        umbel_key some[7];
        size_t n = deliver(k, i, bit_by_bit, some);
        e = umbel_builder_add(builder, some, n, NULL);
        i += n;
    }
    if (!e) e = umbel_builder_finish(builder, out, NULL);
    umbel_builder_free(builder);
    return e;
}

static void check(const umbel_filter *f, const keys *k, const uint8_t *secret) {
    umbel_info info;
    umbel_describe(f, &info);
    insist(info.frozen, "static filters do not change");
    insist(info.keys_added == distinct(k), "each key counts once");
    for (size_t i = 0; i < k->n; i++) {
        insist(umbel_contains(f, k->bytes[i], KEY), "no false negative");
        uint64_t hash = one_hash(f, k->bytes[i], KEY);
        insist(umbel_contains_hash(f, hash), "by its hash too");
        uint8_t other[KEY];
        never_at(k, i, other);
        bool wrong = umbel_contains(f, other, KEY) && !is_member(k, other);
        insist(!wrong || info.kind != UMBEL_KIND_EXACT, "no known key is found by mistake");
    }
    use_answers(f);
    use_changes(f);
    use_formats(f, &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, secret);
}

void use_static(umbeli_reader *input) {
    static const double rates[] = {0.01, 0.3, 0.003, 1e-6, 0.0078125, 0.1};
    unsigned choices = umbeli_take_u8(input), rate = umbeli_take_u8(input);
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .seed = choices >> 4};
    keys *k = some_bytes(sizeof *k);
    watched_memory m;
    umbel_filter *f = NULL, *again = NULL;
    memset(k, 0, sizeof *k);
    params.fpr = rates[rate % (sizeof rates / sizeof rates[0])];
    const uint8_t *secret = choices & 8 ? (const uint8_t *)"sixteen bytes..." : NULL;
    if (choices & 1) params.hashes = choices & 2 ? 3 : 4;
    if (rate & 0x40) {
        params.kind = UMBEL_KIND_TIGHT;
        params.hashes = choices & 1;
        if (rate & 0x20) params.kind = UMBEL_KIND_EXACT;
    }
    watch_memory(&m, rate & 0x80 ? 1 + rate % 16 : 0);
    m.opts.secret = secret;
    choose(k, input);
    umbel_err e = build(k, &params, &m.opts, choices & 4, &f);
    insist(!e == (f != NULL), "a filter or an error");
    insist(!e || (e == UMBEL_ENOMEM && m.fail_at), "static filters can be built");
    m.fail_at = 0;
    if (!e) {
        check(f, k, secret);
        k->backwards = true;
        insist(!build(k, &params, &m.opts, !(choices & 4), &again), "once more");
        insist(umbel_equal(f, again), "the order of the keys does not matter");
    }
    umbel_free(again);
    umbel_free(f);
    insist(m.blocks == 0, "all memory is given back");
    free(k);
}
