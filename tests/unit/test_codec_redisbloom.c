/* SPDX-License-Identifier: MIT
 *
 * test_codec_redisbloom.c - the format redisbloom: its bytes, its growth, and damage
 */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "foreign.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "golden.h"
#include "umbel_foreign.h"
#include "umbel_redis.h"

enum { FRAME = 16, FIXED = 20, LINK = 53, MIB = 1024 * 1024 };

static const umbel_foreign like = {.format = UMBEL_FMT_REDISBLOOM};
static const umbeli_settings plenty = {.threads = 1};

static umbel_foreign params_of(uint64_t keys, double fpr, uint32_t expansion) {
    return (umbel_foreign){
        .format = UMBEL_FMT_REDISBLOOM, .capacity = keys, .fpr = fpr, .expansion = expansion};
}

static const char *key_of(int i) {
    static char text[16];
    snprintf(text, sizeof text, "key%d", i);
    return text;
}

static umbel_filter *filled(umbel_foreign params, int keys) {
    umbel_filter *f = foreign_create(params);
    for (int i = 0; i < keys; i++) foreign_add(f, key_of(i));
    return f;
}

static uint8_t *header_of(const umbel_filter *f, size_t *len) {
    assert_int_equal(umbel_redis_head(f, NULL, 0, len, NULL), UMBEL_ESPACE);
    uint8_t *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_ok(umbel_redis_head(f, bytes, *len, len, NULL));
    return bytes;
}

/* LOADCHUNK with iterator 1. */
static umbel_err load_header(const uint8_t *bytes, size_t len, const umbeli_settings *settings,
                             umbel_filter **out) {
    umbeli_redisbloom_head h;
    umbel_err e = umbeli_redisbloom_read_header(bytes, len, &h, NULL);
    return e ? e : umbeli_redisbloom_from_header(bytes, len, &h, NULL, settings, out, NULL);
}

/* ---- RedisBloom's own dumps ---- */

static void one_dump(golden_table *t) {
    uint32_t options = (uint32_t)strtoul(t->column[3], NULL, 10);
    umbel_foreign params =
        params_of(strtoull(t->column[1], NULL, 10), strtod(t->column[2], NULL), 0);
    params.nonscaling = options & UMBELI_REDISBLOOM_NO_SCALING;
    umbel_filter *f = filled(params, 100);
    assert_int_equal(keys_added(f), strtoull(t->column[5], NULL, 10));

    size_t want_len, len, bits_len;
    uint8_t *want = golden_hex(t->column[6], &want_len), *header = header_of(f, &len);
    assert_int_equal(len, want_len);
    assert_memory_equal(header, want, len);
    uint8_t *bits = golden_hex(t->column[8], &bits_len);
    const uint8_t *chunk;
    int64_t next;
    umbeli_redisbloom_chunk(f, 1, &next, &chunk, &len);
    assert_int_equal(next, strtoll(t->column[7], NULL, 10));
    assert_int_equal(len, bits_len);
    assert_memory_equal(chunk, bits, len);
    umbeli_redisbloom_chunk(f, next, &next, &chunk, &len);
    assert_int_equal(next, 0);
    assert_int_equal(len, 0);

    umbel_filter *loaded = NULL;
    assert_int_equal(load_header(want, want_len, &plenty, &loaded), 0);
    assert_true(umbel_is_empty(loaded));
    int64_t iterator = strtoll(t->column[7], NULL, 10);
    assert_int_equal(umbeli_redisbloom_load_chunk(loaded, iterator, bits, bits_len, NULL),
                     UMBEL_OK);
    assert_true(umbel_equal(loaded, f));
    for (int i = 0; i < 100; i++) assert_true(foreign_contains(loaded, key_of(i)));

    uint8_t *file = foreign_bytes(loaded, &len);
    assert_int_equal(len, FRAME + want_len + bits_len);
    assert_memory_equal(file, "UMBRBLM1", 8);
    assert_memory_equal(file + FRAME, want, want_len);
    assert_memory_equal(file + FRAME + want_len, bits, bits_len);
    foreign_same_again(&like, file, len);
    free(want);
    free(header);
    free(bits);
    free(file);
    umbel_free(f);
    umbel_free(loaded);
}

static void dumps_are_redisblooms(void **state) {
    (void)state;
    golden_table t = golden_table_open("redisbloom/filters.tsv");
    while (golden_table_next(&t)) one_dump(&t);
    assert_int_equal(t.rows, 2);
    golden_table_close(&t);
}

/* ---- Growing ---- */

static void chains_grow_by_the_rules(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(100, 0.01, 0), 5000);
    const umbeli_chain *c = umbeli_chain_of(f);
    uint64_t entries = 100, sum = 0, at = 0;
    double error = 0.005;
    assert_true(c->count >= 6);
    for (uint32_t i = 0; i < c->count; i++, entries *= 2, error /= 2) {
        const umbeli_layer *link = &c->layers[i];
        double each = -log(error) / 0.480453013918201;
        assert_int_equal(link->capacity, entries);
        assert_true(link->rate == error);
        assert_int_equal(link->bytes, ((uint64_t)((double)entries * each) + 63) / 64 * 8);
        assert_int_equal(link->nbits, link->bytes * 8);
        assert_int_equal(link->hashes, (uint32_t)ceil(0.693147180559945 * each));
        uint64_t left = 0; /* the payload shows the links one after the other */
        assert_ptr_equal(umbeli_filter_run(f, at, &left), link->bits);
        assert_true(left == link->bytes);
        if (i + 1 < c->count) assert_int_equal(link->keys, entries); /* full before the next */
        sum += link->keys;
        at += link->bytes;
    }
    assert_int_equal(sum, keys_added(f));
    assert_int_equal(umbeli_filter_bytes(f), at);
    int wrong = 0;
    for (int i = 0; i < 5000; i++) assert_true(foreign_contains(f, key_of(i)));
    for (int i = 5000; i < 105000; i++) wrong += foreign_contains(f, key_of(i));
    assert_true(wrong < 1000); /* the sum of all links stays below 1% */
    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    assert_true(info.fpr == 0.01);
    assert_true(now.rate < 0.01);
    assert_true(now.keys > 4850 && now.keys < 5150);
    assert_true(keys_added(f) > 4950);
    assert_int_equal(info.bytes, at);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    foreign_same_again(&like, file, len);
    free(file);
    umbel_free(f);
}

static void other_growths(void **state) {
    (void)state;
    umbel_filter *even = filled(params_of(50, 0.01, 1), 1000);
    const umbeli_chain *c = umbeli_chain_of(even);
    assert_true(c->count >= 19);
    for (uint32_t i = 0; i < c->count; i++) assert_int_equal(c->layers[i].capacity, 50);
    for (int i = 0; i < 1000; i++) assert_true(foreign_contains(even, key_of(i)));
    umbel_filter *steep = filled(params_of(10, 0.01, 100), 1000);
    assert_int_equal(umbeli_chain_of(steep)->count, 2);
    assert_int_equal(umbeli_chain_of(steep)->layers[1].capacity, 1000);
    umbel_free(even);
    umbel_free(steep);
}

static void full_is_full(void **state) {
    (void)state;
    umbel_foreign params = params_of(10, 0.001, 0);
    params.nonscaling = true;
    umbel_filter *f = filled(params, 10);
    assert_int_equal(keys_added(f), 10);
    size_t len, again_len;
    uint8_t *before = foreign_bytes(f, &len);
    bool was_new = true;
    assert_int_equal(umbel_add(f, "one more", 8, &was_new, NULL), UMBEL_EFULL);
    assert_int_equal(umbel_add(f, "key3", 4, &was_new, NULL), UMBEL_OK); /* is in already */
    assert_false(was_new);
    umbel_key keys[] = {{"key1", 4}, {"another", 7}};
    assert_int_equal(umbel_add_many(f, keys, 2, NULL, NULL, NULL), UMBEL_EFULL);
    uint8_t *after = foreign_bytes(f, &again_len);
    assert_int_equal(len, again_len);
    assert_memory_equal(before, after, len);
    free(before);
    free(after);
    umbel_free(f);
}

/* Memory runs out, or the limit is reached, while growing: nothing changes. */
static void growing_in_vain_changes_nothing(void **state) {
    (void)state;
    umbel_foreign params = params_of(100, 0.01, 0);
    for (size_t failing = 1; failing <= 2; failing++) {
        foreign_memory m;
        foreign_memory_start(&m, 0, 0);
        if (failing == 2) m.opts.max_bytes = 300;
        umbel_filter *f = NULL;
        assert_int_equal(umbel_create_foreign(&params, &m.opts, &f, NULL), UMBEL_OK);
        int i = 0;
        while (umbeli_chain_of(f)->layers[0].keys < 100) foreign_add(f, key_of(i++));
        while (foreign_contains(f, key_of(i))) i++;
        for (size_t n = 1;; n++) {
            size_t len, again_len;
            uint8_t *before = foreign_bytes(f, &len);
            m.failing = failing == 1 ? m.calls + n : 0;
            umbel_err e = umbel_add(f, key_of(i), strlen(key_of(i)), NULL, NULL);
            if (e == UMBEL_OK) {
                assert_int_equal(n, 3); /* links, bits */
                free(before);
                break;
            }
            assert_int_equal(e, failing == 1 ? UMBEL_ENOMEM : UMBEL_ELIMIT);
            uint8_t *after = foreign_bytes(f, &again_len);
            assert_int_equal(len, again_len);
            assert_memory_equal(before, after, len);
            free(before);
            free(after);
            if (failing == 2) break;
        }
        umbel_free(f);
        assert_int_equal(m.blocks, 0);
    }
}

/* Adds keys until that fails, which must be due to the limit; returns the bytes at that point. */
static uint64_t fill_up(umbel_filter *f, uint64_t limit) {
    umbel_info info;
    umbel_err e = UMBEL_OK;
    for (int i = 0; !e; i++) {
        e = umbel_add(f, key_of(i), strlen(key_of(i)), NULL, NULL);
        assert_true(umbeli_filter_bytes(f) <= limit);
        assert_true(i < 3000);
    }
    assert_int_equal(e, UMBEL_ELIMIT);
    umbel_describe(f, &info);
    return info.bytes;
}

/* Links are made up to the last one that fits, and no further. */
static void growing_up_to_the_limit(void **state) {
    (void)state;
    for (uint32_t expansion = 1; expansion <= 2; expansion++) {
        umbel_foreign params = params_of(50, 0.01, expansion);
        umbel_filter *roomy = NULL;
        assert_int_equal(
            umbel_create_foreign(&params, &(umbel_opts){.max_bytes = MIB}, &roomy, NULL), UMBEL_OK);
        for (int i = 0; i < 600; i++) foreign_add(roomy, key_of(i));
        const umbeli_chain *c = umbeli_chain_of(roomy);
        assert_true(c->count > 3);
        uint64_t before = c->layers[0].bytes;
        for (uint32_t l = 1; l < c->count; l++, before += c->layers[l - 1].bytes) {
            uint64_t with = before + c->layers[l].bytes;
            for (uint64_t less = 0; less <= 1; less++) {
                umbel_filter *f = NULL;
                umbel_opts opts = {.max_bytes = with - less};
                assert_int_equal(umbel_create_foreign(&params, &opts, &f, NULL), UMBEL_OK);
                assert_int_equal(fill_up(f, opts.max_bytes), less ? before : with);
                umbel_free(f);
            }
        }
        umbel_free(roomy);
    }
}

static void copies_and_clearing(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(100, 0.01, 0), 1000), *copy = NULL;
    assert_int_equal(umbel_copy(f, &copy, NULL), UMBEL_OK);
    assert_true(umbel_equal(f, copy));
    for (int i = 1000; i < 4000; i++) foreign_add(copy, key_of(i)); /* grows on its own */
    assert_true(umbeli_chain_of(copy)->count > umbeli_chain_of(f)->count);
    for (int i = 0; i < 4000; i++) assert_true(foreign_contains(copy, key_of(i)));
    assert_int_equal(umbel_clear(f, NULL), UMBEL_OK);
    assert_true(umbel_is_empty(f));
    assert_false(foreign_contains(f, "key1"));
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    foreign_same_again(&like, file, len); /* the counts agree again */
    foreign_add(f, "key1");
    assert_int_equal(keys_added(f), 1);
    umbel_diag diag;
    assert_int_equal(umbel_merge(f, copy, &diag), UMBEL_ENOTSUP);
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_NATIVE), 0);
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_DCSO), 0);
    free(file);
    umbel_free(f);
    umbel_free(copy);
}

static void batches_agree(void **state) {
    (void)state;
    enum { N = 3000 };
    foreign_number_batches_agree(params_of(N, 0.01, 0));
    foreign_number_batches_agree(params_of(100, 0.01, 0));
    foreign_number_batches_agree(params_of(100, 0.01, 1));
}

/* ---- Pieces ---- */

/* Dumps and loads piece by piece; returns the number of pieces. */
static size_t dump_and_load(const umbel_filter *f, umbel_filter **out) {
    size_t len, pieces = 0;
    uint8_t *header = header_of(f, &len);
    assert_int_equal(load_header(header, len, &plenty, out), UMBEL_OK);
    free(header);
    for (int64_t iterator = 1, next;; iterator = next) {
        const uint8_t *bytes;
        umbeli_redisbloom_chunk(f, iterator, &next, &bytes, &len);
        if (next == 0) break;
        assert_true(len > 0 && len <= 16 * MIB);
        assert_int_equal(next, iterator + (int64_t)len);
        assert_int_equal(umbeli_redisbloom_load_chunk(*out, next, bytes, len, NULL), UMBEL_OK);
        pieces++;
    }
    return pieces;
}

/* A single key is looked up in up to 64 links at a time, a batch in one after another. */
static void all_links_are_asked(void **state) {
    (void)state;
    enum { KEYS = 400 };
    static const struct {
        uint64_t capacity;
        double fpr;
        uint32_t expansion, links, probes; /* at least; of the first link */
    } chains[] = {{1, 1e-20, 1, 129, 68}, {10, 0.9, 2, 5, 2}, {100, 0.01, 1, 4, 8}};
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        umbel_filter *f =
            filled(params_of(chains[c].capacity, chains[c].fpr, chains[c].expansion), KEYS);
        int absent = 0;
        assert_true(umbeli_chain_of(f)->count >= chains[c].links);
        assert_int_equal(umbeli_chain_of(f)->layers[0].hashes, chains[c].probes);
        for (int i = 0; i < 4 * KEYS; i++) {
            umbel_key key = {key_of(i), strlen(key_of(i))}, twice[2] = {key, key};
            uint8_t hit[2];
            umbel_contains_many(f, twice, 2, hit);
            assert_int_equal(umbel_contains(f, key.data, key.len), hit[0]);
            if (i < KEYS) assert_true(hit[0]);
            absent += !hit[0];
        }
        assert_true(absent > KEYS / 4); /* so small links have many false positives */
        umbel_free(f);
    }
}

static void pieces_never_cross_links(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(100, 0.01, 0), 2000), *loaded = NULL;
    assert_int_equal(dump_and_load(f, &loaded), umbeli_chain_of(f)->count);
    assert_true(umbel_equal(f, loaded));
    umbel_free(loaded);
    umbel_free(f);
    f = foreign_create(params_of(14000000, 0.01, 0)); /* 18.4 MiB: two pieces */
    foreign_add(f, "x");
    assert_int_equal(dump_and_load(f, &loaded), 2);
    assert_true(umbel_equal(f, loaded));
    umbel_free(loaded);
    umbel_free(f);
}

static void odd_pieces_are_refused(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(100, 0.01, 0), 250);
    const umbeli_chain *c = umbeli_chain_of(f);
    assert_int_equal(c->count, 2);
    uint8_t bytes[1024] = {0};
    size_t first = (size_t)c->layers[0].bytes, all = (size_t)umbeli_filter_bytes(f), len;
    const struct {
        int64_t iterator;
        size_t len;
        const char *what;
    } cases[] = {
        {0, 0, "no link"},
        {-1, 8, "no link"},
        {INT64_MIN, 8, "no link"},
        {8, 8, "no link"}, /* before the start */
        {(int64_t)all + 9, 8, "no link"},
        {INT64_MAX, 8, "no link"},
        {(int64_t)first + 2, first + 1, "Too big"}, /* across two links */
        {(int64_t)all + 2, all - first + 1, "Too big"},
        {(int64_t)all + 2, 2, "Too big"},
    };
    umbel_diag diag;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            umbeli_redisbloom_load_chunk(f, cases[i].iterator, bytes, cases[i].len, &diag),
            UMBEL_EINVAL);
        assert_non_null(strstr(sentence(&diag), cases[i].what));
    }
    const int64_t none[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)all + 1};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        int64_t next = 9;
        const uint8_t *piece;
        umbeli_redisbloom_chunk(f, none[i], &next, &piece, &len);
        assert_int_equal(next, 0);
        assert_int_equal(len, 0);
    }
    umbel_free(f);
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(20, 0.01, 0), 50);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    for (size_t cut = 0; cut < len; cut++) {
        uint64_t at = cut < 8 ? 0 : cut < FRAME ? cut : cut < FRAME + FIXED + 2 * LINK ? 8 : cut;
        foreign_refused(&like, file, cut, UMBEL_ECORRUPT, at);
    }
    uint8_t *longer = calloc(len + 1, 1);
    assert_non_null(longer);
    memcpy(longer, file, len);
    foreign_refused(&like, longer, len + 1, UMBEL_ECORRUPT, len);
    /* A truncated header, with the length to match. */
    for (uint64_t header = 0; header < FIXED + 2 * LINK; header++) {
        foreign_refused_with(&like, file, len, 8, 8, header, UMBEL_ECORRUPT, FRAME + header);
    }
    free(longer);
    free(file);
    umbel_free(f);
}

/* A field of the header set to a value, in a file and through LOADCHUNK, which allocates what the
 * header says. */
static void field_refused(const uint8_t *file, size_t len, size_t at, size_t width, uint64_t value,
                          umbel_err want, size_t refused_at) {
    foreign_refused_with(&like, file, len, FRAME + at, width, value, want, FRAME + refused_at);
    size_t header_len = FIXED + 2 * LINK;
    uint8_t *header = malloc(header_len);
    assert_non_null(header);
    memcpy(header, file + FRAME, header_len);
    for (size_t b = 0; b < width; b++) header[at + b] = (uint8_t)(value >> 8 * b);
    umbel_filter *loaded = NULL;
    assert_int_equal(load_header(header, header_len, &plenty, &loaded), want);
    assert_null(loaded);
    free(header);
}

static void every_field_is_checked(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(20, 0.01, 0), 50);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    const uint64_t one = UINT64_C(0x3ff0000000000000), nan = UINT64_C(0x7ff8000000000000);
    const uint64_t huge = UINT64_C(0x7fe0000000000000), minus = UINT64_C(0xbff0000000000000);
    const struct {
        size_t at, width;
        uint64_t value;
        umbel_err want;
        size_t refused_at;
    } cases[] = {
        {0, 8, 0, UMBEL_ECORRUPT, 0},
        {0, 8, 1, UMBEL_ECORRUPT, 0},
        {0, 8, UINT64_MAX, UMBEL_ECORRUPT, 0},
        {8, 4, 0, UMBEL_ECORRUPT, 8},
        {8, 4, 1, UMBEL_ECORRUPT, 8},
        {8, 4, 3, UMBEL_ECORRUPT, FIXED + 2 * LINK},
        {8, 4, UINT32_MAX, UMBEL_ECORRUPT, FIXED + 2 * LINK},
        {12, 4, 0, UMBEL_EVERSION, 12},
        {12, 4, 1, UMBEL_EVERSION, 12},
        {12, 4, 7, UMBEL_EVERSION, 12},
        {12, 4, 16, UMBEL_EVERSION, 12},
        {12, 4, UINT32_MAX, UMBEL_EVERSION, 12},
        {FIXED, 8, 0, UMBEL_ECORRUPT, FIXED},
        {FIXED, 8, 1, UMBEL_ECORRUPT, FIXED + 8},
        {FIXED, 8, UINT64_C(1) << 61, UMBEL_ECORRUPT, FIXED},
        {FIXED, 8, UINT64_MAX, UMBEL_ECORRUPT, FIXED},
        {FIXED + 8, 8, 0, UMBEL_ECORRUPT, FIXED + 8},
        {FIXED + 8, 8, UINT64_MAX, UMBEL_ECORRUPT, FIXED + 8},
        {FIXED + 16, 8, 0, UMBEL_ECORRUPT, 0},
        {FIXED + 16, 8, UINT64_MAX, UMBEL_ECORRUPT, FIXED + LINK + 16},
        {FIXED + 24, 8, 0, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 24, 8, one, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 24, 8, nan, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 24, 8, minus, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 32, 8, one, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 32, 8, nan, UMBEL_ECORRUPT, FIXED + 32},
        {FIXED + 32, 8, huge, UMBEL_ECORRUPT, FIXED + 32},
        {FIXED + 32, 8, minus, UMBEL_ECORRUPT, FIXED + 32},
        {FIXED + 40, 4, 0, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 40, 4, 1, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 40, 4, UINT32_MAX, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 52, 1, 9, UMBEL_ECORRUPT, FIXED + 52}, /* 2^9 bits of 256 */
        {FIXED + 52, 1, 64, UMBEL_ECORRUPT, FIXED + 52},
        {FIXED + 52, 1, 255, UMBEL_ECORRUPT, FIXED + 52},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        field_refused(file, len, cases[i].at, cases[i].width, cases[i].value, cases[i].want,
                      cases[i].refused_at);
    }
    foreign_refused_with(&like, file, len, 0, 8, 0, UMBEL_ECORRUPT, 0);
    foreign_refused_with(&like, file, len, 8, 8, UINT64_MAX, UMBEL_ECORRUPT, 8);
    foreign_refused_with(&like, file, len, 8, 8, len - FRAME + 1, UMBEL_ECORRUPT, 8);
    free(file);
    umbel_free(f);
}

/* umbel 0.3 wrote such headers: 0 stands for what follows from the error. */
static void bits_per_entry_may_be_zero(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(20, 0.01, 0), 50), *read = NULL;
    size_t len, again_len;
    uint8_t *file = foreign_bytes(f, &len), *zeroed = malloc(len);
    assert_non_null(zeroed);
    memcpy(zeroed, file, len);
    memset(zeroed + FRAME + FIXED + 32, 0, 8);
    assert_int_equal(umbel_decode(zeroed, len, UMBEL_LOAD, &like, NULL, &read, NULL), UMBEL_OK);
    uint8_t *again = foreign_bytes(read, &again_len);
    assert_int_equal(again_len, len);
    assert_memory_equal(again, file, len);
    field_refused(zeroed, len, FIXED + 40, 4, 7, UMBEL_ECORRUPT, FIXED + 40); /* not 8 */
    free(again);
    free(zeroed);
    free(file);
    umbel_free(read);
    umbel_free(f);
}

/* Each link has half of the rate of the one before: with fewer than i probes, link i is a lie. */
static void late_links_have_many_probes(void **state) {
    (void)state;
    enum { I = 4 };
    umbel_filter *f = filled(params_of(1, 0.5, 1), I + 1), *loaded = NULL;
    size_t len, at = FRAME + FIXED + I * LINK;
    uint8_t *file = foreign_bytes(f, &len);
    for (uint32_t probes = I - 1; probes <= I; probes++) {
        double each = probes / 0.693147180559945 - 1e-9;
        uint64_t bits;
        memcpy(&bits, &each, sizeof bits);
        umbeli_store_le64(file + at + 32, bits);
        umbeli_store_le32(file + at + 40, probes);
        if (probes < I) {
            foreign_refused(&like, file, len, UMBEL_ECORRUPT, at + 40);
        } else {
            assert_ok(umbel_decode(file, len, UMBEL_LOAD, &like, NULL, &loaded, NULL));
        }
    }
    umbel_free(loaded);
    free(file);
    umbel_free(f);
}

/* Sizes that are possible individually, but not together. */
static void links_add_up(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(1, 0.5, 1), 2);
    size_t len;
    uint8_t *header = header_of(f, &len);
    umbeli_redisbloom_head head;
    for (int more = 0; more < 2; more++) {
        uint64_t bytes = (UINT64_C(1) << 58) + (UINT64_C(1) << 58) * (uint64_t)more;
        for (int i = 0; i < 2; i++) {
            umbeli_store_le64(header + FIXED + i * LINK, bytes);
            umbeli_store_le64(header + FIXED + i * LINK + 8, 8 * bytes);
        }
        umbel_diag diag = {0};
        umbel_err e = umbeli_redisbloom_read_header(header, len, &head, &diag);
        assert_int_equal(e, more ? UMBEL_ECORRUPT : UMBEL_OK);
        if (more) assert_int_equal(diag.offset, FIXED + LINK);
    }
    free(header);
    umbel_free(f);
}

/* The next link is in proportion to the last, whatever the header claims that this is for. */
static void claims_do_not_grow(void **state) {
    (void)state;
    static const struct {
        uint64_t entries;
        uint32_t growth;
        umbel_err want;
    } cases[] = {
        {20, 2, UMBEL_OK},
        {20, 32768, UMBEL_OK},
        {20, 32769, UMBEL_OK}, /* RedisBloom 2 had no limit */
        {20, 1 << 30, UMBEL_ELIMIT},
        {UINT64_C(1) << 18, 2, UMBEL_OK}, /* less than a MiB */
        {UINT64_C(1) << 24, 2, UMBEL_EFULL},
        {UINT64_C(1) << 50, 2, UMBEL_EFULL},
    };
    umbel_filter *f = filled(params_of(20, 0.01, 0), 0);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    umbel_free(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        umbeli_store_le64(file + FRAME, cases[i].entries); /* keys in all, in the link, planned */
        umbeli_store_le64(file + FRAME + FIXED + 16, cases[i].entries);
        umbeli_store_le64(file + FRAME + FIXED + 44, cases[i].entries);
        umbeli_store_le32(file + FRAME + 16, cases[i].growth);
        f = NULL;
        assert_ok(umbel_decode(file, len, UMBEL_LOAD, &like, NULL, &f, NULL));
        assert_int_equal(umbel_add(f, "key", 3, NULL, NULL), cases[i].want);
        umbel_free(f);
    }
    free(file);
}

static void a_large_claim_meets_the_limit(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(1000000, 0.01, 0)), *loaded = NULL;
    size_t len;
    uint8_t *header = header_of(f, &len);
    umbeli_settings little = {.threads = 1, .max_bytes = MIB};
    assert_int_equal(load_header(header, len, &little, &loaded), UMBEL_ELIMIT);
    assert_null(loaded);
    free(header);
    umbel_free(f);
}

/* Links of old releases use 2^n2 of their bits. */
static void powers_of_two_are_read(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(20, 0.01, 0), 20), *old = NULL;
    assert_int_equal(umbeli_chain_of(f)->layers[0].nbits, 256);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    file[FRAME + 12] = UMBELI_REDISBLOOM_FORCE64;
    file[FRAME + FIXED + 52] = 8; /* all 256: the same places */
    foreign_same_again(&like, file, len);
    old = foreign_decode(&like, file, len);
    for (int i = 0; i < 20; i++) assert_true(foreign_contains(old, key_of(i)));
    int next = 20;
    while (umbel_add(old, key_of(next), strlen(key_of(next)), NULL, NULL) == UMBEL_OK) next++;
    assert_int_equal(umbel_add(old, key_of(next), strlen(key_of(next)), NULL, NULL), UMBEL_ENOTSUP);
    umbel_free(old);
    file[FRAME + FIXED + 52] = 7; /* half of them: keys are placed elsewhere */
    memset(file + FRAME + FIXED + LINK, 0xff, 16);
    memset(file + FRAME + FIXED + LINK + 16, 0, 16);
    old = foreign_decode(&like, file, len);
    assert_true(foreign_contains(old, "anything"));
    umbel_free(old);
    free(file);
    umbel_free(f);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    foreign_not_made(params_of(0, 0.1, 0), "capacity");
    foreign_not_made(params_of(10, 0, 0), "fpr");
    umbel_free(foreign_create(params_of(10, 0.1, 32768)));
    foreign_not_made(params_of(10, 0.1, 32769), "expansion");
    foreign_not_made(params_of(UINT64_MAX, 0.01, 0), "capacity");
    foreign_not_made(params_of(10, 5e-324, 0), "fpr");
    umbel_foreign params = params_of(10, 0.1, 2);
    params.nonscaling = true;
    foreign_not_made(params, "expansion");
    params = params_of(10, 0.1, 2);
    params.seed = 1;
    foreign_not_made(params, "seed");
    umbel_plan plan;
    params = params_of(1000000, 0.01, 0);
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.hashes, 8);
    assert_true(plan.rate < 0.0051);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps_are_redisblooms),
        cmocka_unit_test(chains_grow_by_the_rules),
        cmocka_unit_test(other_growths),
        cmocka_unit_test(full_is_full),
        cmocka_unit_test(growing_in_vain_changes_nothing),
        cmocka_unit_test(growing_up_to_the_limit),
        cmocka_unit_test(copies_and_clearing),
        cmocka_unit_test(batches_agree),
        cmocka_unit_test(all_links_are_asked),
        cmocka_unit_test(pieces_never_cross_links),
        cmocka_unit_test(odd_pieces_are_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_field_is_checked),
        cmocka_unit_test(bits_per_entry_may_be_zero),
        cmocka_unit_test(late_links_have_many_probes),
        cmocka_unit_test(links_add_up),
        cmocka_unit_test(claims_do_not_grow),
        cmocka_unit_test(a_large_claim_meets_the_limit),
        cmocka_unit_test(powers_of_two_are_read),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
