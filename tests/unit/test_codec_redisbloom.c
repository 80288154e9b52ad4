/* SPDX-License-Identifier: MIT
 *
 * The format redisbloom: dumps of RedisBloom's own code, growing, pieces, files
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "any_filter.h"
#include "foreign.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "golden.h"
#include "umbel_foreign.h"

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
    *len = (size_t)umbeli_redisbloom_header_size(f);
    umbeli_span span = {.bytes = malloc(*len), .cap = *len};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    assert_non_null(span.bytes);
    umbeli_redisbloom_put_header(f, &w);
    assert_int_equal(span.used, *len);
    return span.bytes;
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
    assert_int_equal(umbeli_redisbloom_load_header(want, want_len, &plenty, &loaded, NULL), 0);
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

/* The last link that fits is made, and no other. */
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
    static char text[N][16];
    static umbel_key keys[N];
    for (int i = 0; i < N; i++) {
        int len = snprintf(text[i], sizeof text[i], "%d", i * 7919 % 2500);
        keys[i] = (umbel_key){text[i], (size_t)len};
    }
    foreign_batches_agree(params_of(N, 0.01, 0), keys, N);
    foreign_batches_agree(params_of(100, 0.01, 0), keys, N);
    foreign_batches_agree(params_of(100, 0.01, 1), keys, N);
}

/* ---- Pieces ---- */

/* Dumps and loads piece by piece; returns the number of pieces. */
static size_t dump_and_load(const umbel_filter *f, umbel_filter **out) {
    size_t len, pieces = 0;
    uint8_t *header = header_of(f, &len);
    assert_int_equal(umbeli_redisbloom_load_header(header, len, &plenty, out, NULL), UMBEL_OK);
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
        cmocka_unit_test(pieces_never_cross_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
