/* SPDX-License-Identifier: MIT
 *
 * test_value.c - the value of a key: growing, answering, merging, running out of memory
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "fakeserver.h"
#include "value/value_unboxed.h"

static const uint8_t secret[BF_KEY_BYTES] = "0123456789abcdef";

static bf_params params_of(bf_layout layout, double error, uint64_t capacity) {
    bf_params p = {.layout = (uint8_t)layout, .error = error, .capacity = capacity, .expansion = 2};
    p.keyed = layout == BF_BLOCKED;
    if (p.keyed) memcpy(p.key, secret, sizeof p.key);
    return p;
}

/* Both layouts, and a filter that nobody reserved. */
enum { SORTS = 3, UNRESERVED = 2 };

static bf_params sort_of(int sort, double error, uint64_t capacity) {
    bf_params p = params_of(sort == BF_REDISBLOOM ? BF_REDISBLOOM : BF_BLOCKED, error, capacity);
    if (sort == UNRESERVED) {
        p.capacity = 100;
        p.expansion = BF_EXPANSION_AUTO;
    }
    return p;
}

static uint64_t digest_of(bf_value *v) {
    return fake_digest(&fake_types[v->layout == BF_BLOCKED], v);
}

static bf_value *made(bf_params p) {
    bf_value *v = NULL;
    umbel_diag diag = {0};
    if (bf_value_create(&p, 0, &v, &diag)) fail_msg("%s", diag.what);
    return v;
}

/* Numbers as keys. */
enum { BATCH = 100 };
typedef struct batch {
    char text[BATCH][24];
    umbel_key keys[BATCH];
} batch;

static void name_keys(batch *b, const char *prefix, int from) {
    for (int i = 0; i < BATCH; i++) {
        int len = snprintf(b->text[i], sizeof b->text[i], "%s%d", prefix, from + i);
        b->keys[i] = (umbel_key){b->text[i], (size_t)len};
    }
}

/* The first batch of a new filter gets a table for all its keys at once; it ends in the one that the
 * different ones would have grown to one by one. */
static void a_first_batch_takes_what_its_keys_need(void **state) {
    (void)state;
    for (int different = 1; different <= BATCH; different += different / 3 + 1) {
        bf_params p = sort_of(UNRESERVED, 0.01, 0);
        bf_value *v = made(p), *one_by_one = made(p);
        batch b;
        uint8_t was_new[BATCH];
        size_t done;
        name_keys(&b, "key", 0);
        for (int i = different; i < BATCH; i++) b.keys[i] = b.keys[i % different];
        assert_ok(bf_value_add(v, b.keys, BATCH, 0, was_new, &done));
        assert_int_equal(done, BATCH);
        for (int i = 0; i < different; i++) {
            assert_ok(bf_value_add(one_by_one, &b.keys[i], 1, 0, was_new, &done));
        }
        assert_int_equal(bf_value_bytes(v), bf_value_bytes(one_by_one));
        assert_int_equal(digest_of(v), digest_of(one_by_one));
        bf_value_free(v);
        bf_value_free(one_by_one);
    }
}

/* Adds n keys, and returns how many were new. */
static int add(bf_value *v, const char *prefix, int from, int n) {
    int fresh = 0;
    for (int i = 0; i < n; i += BATCH) {
        batch b;
        uint8_t was_new[BATCH];
        size_t done;
        name_keys(&b, prefix, from + i);
        assert_ok(bf_value_add(v, b.keys, BATCH, 0, was_new, &done));
        assert_int_equal(done, BATCH);
        for (int j = 0; j < BATCH; j++) fresh += was_new[j];
    }
    return fresh;
}

static int found(const bf_value *v, const char *prefix, int from, int n) {
    int sum = 0;
    for (int i = 0; i < n; i += BATCH) {
        batch b;
        uint8_t hit[BATCH], one;
        name_keys(&b, prefix, from + i);
        bf_value_contains(v, b.keys, BATCH, hit);
        for (int j = 0; j < BATCH; j++) {
            bf_value_contains(v, &b.keys[j], 1, &one);
            assert_int_equal(one, hit[j]);
            sum += hit[j];
        }
    }
    return sum;
}

static int quiet(void **state) {
    (void)state;
    bf_totals totals = bf_totals_get();
    assert_int_equal(totals.filters + totals.layers + totals.items + totals.capacity, 0);
    assert_int_equal(totals.bytes, 0);
    assert_int_equal(fake_heap.pieces, 0);
    fake_heap = (fake_memory){0};
    return 0;
}

/* ---- Making ---- */

static void refuses_what_cannot_be(void **state) {
    (void)state;
    static const struct {
        double error, tightening;
        uint64_t capacity;
        uint16_t expansion, window;
        bool counting;
    } bad[] = {
        {0, 0, 10, 2, 0, false},     {1, 0, 10, 2, 0, false},
        {-1, 0, 10, 2, 0, false},    {1e-300, 0, 10, 2, 0, false},
        {0.01, 0, 0, 2, 0, false},   {0.01, 0, UINT64_MAX, 2, 0, 0},
        {0.01, 1, 10, 2, 0, false},  {0.01, -0.5, 10, 2, 0, false},
        {0.01, 0, 10, 2, 8, true},   {0.01, 0, 10, 2, 1000, false},
        {1e-19, 0, 10, 0, 0, false}, {0.01, 0, INT64_MAX, 2, 0, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bf_params p = {
            .error = bad[i].error,
            .capacity = bad[i].capacity,
            .expansion = bad[i].expansion,
            .tightening = bad[i].tightening,
            .window = bad[i].window,
            .counting = bad[i].counting,
        };
        bf_value *v = NULL;
        umbel_diag diag = {0};
        fake_heap.limit = 1 << 30;
        umbel_err e = bf_value_create(&p, 0, &v, &diag);
        if (e != UMBEL_EINVAL && e != UMBEL_ENOMEM) fail_msg("case %zu: %d", i, (int)e);
        assert_non_null(diag.what);
    }
}

/* ---- Keys ---- */

static void nothing_is_forgotten_while_it_grows(void **state) {
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        for (uint16_t expansion = 1; expansion <= 4; expansion = (uint16_t)(2 * expansion)) {
            bf_params p = params_of((bf_layout)layout, 0.01, 700);
            p.expansion = expansion;
            bf_value *v = made(p);
            int fresh = add(v, "key", 0, 10000);
            assert_in_range(fresh, 9800, 10000);
            assert_int_equal(bf_value_card(v), fresh);
            assert_true(bf_value_layers(v) > 2);
            assert_true(bf_value_capacity(v) >= (uint64_t)fresh);
            assert_int_equal(found(v, "key", 0, 10000), 10000);
            assert_int_equal(add(v, "key", 0, 10000), 0); /* known, so nothing grows */
            assert_int_equal(bf_value_card(v), fresh);
            assert_in_range(found(v, "absent", 0, 20000), 0, 300);
            for (uint32_t i = 0; i < bf_value_layers(v); i++) {
                bf_layer layer;
                bf_value_layer(v, i, &layer);
                assert_true(layer.keys <= layer.capacity);
            }
            bf_value_free(v);
        }
    }
}

static void batches_and_single_keys_do_the_same(void **state) {
    (void)state;
    for (int sort = 0; sort < SORTS; sort++) {
        bf_params p = sort_of(sort, 0.01, 150);
        bf_value *one = made(p), *many = made(p);
        for (int i = 0; i < 3000; i += BATCH) {
            batch b;
            uint8_t in_batch[BATCH], alone;
            size_t done;
            name_keys(&b, "key", i);
            b.keys[7] = b.keys[3]; /* twice in a batch */
            assert_ok(bf_value_add(many, b.keys, BATCH, 0, in_batch, &done));
            for (int j = 0; j < BATCH; j++) {
                assert_ok(bf_value_add(one, &b.keys[j], 1, 0, &alone, &done));
                assert_int_equal(alone, in_batch[j]);
            }
        }
        assert_int_equal(digest_of(one), digest_of(many));
        bf_value_free(one);
        bf_value_free(many);
    }
}

/* Hashes up to seven million keys, then filters: 4 layers at ten million keys, here 3. */
static void unreserved_filters_stay_short(void **state) {
    (void)state;
    bf_value *v = made(sort_of(UNRESERVED, 0.01, 100));
    int in = 0;
    for (; in < 400000; in += 1000) {
        int fresh = add(v, "key", in, 1000);
        assert_in_range(fresh, 970, 1000);
        assert_true(bf_value_layers(v) <= (in < 45000 ? 2 : 3));
        if (in % 20000 == 0) {
            assert_int_equal(found(v, "key", in - in % 5000, 1000), 1000);
            assert_int_equal(found(v, "key", 0, 1000), 1000);
        }
    }
    assert_int_equal(found(v, "key", 0, in), in);
    assert_int_equal(add(v, "key", 0, 100000), 0);
    assert_in_range(found(v, "absent", 0, 200000), 200, 2000);
    bf_value_free(v);
}

/* As a million of them would take it: RedisBloom's own bytes are 240, rounded by allocators 256. */
static void small_filters_take_little(void **state) {
    (void)state;
    for (int sort = 0; sort < SORTS; sort++) {
        if (sort == BF_BLOCKED) continue; /* reserved for so few, with small steps */
        bf_value *v = made(sort_of(sort, 0.01, 100));
        assert_true(fake_heap.pieces == 2 && bf_value_memory(v) <= 224);
        int fresh = add(v, "key", 0, 100);
        assert_true(bf_value_memory(v) <= 240);
        assert_int_equal(found(v, "key", 0, 100), 100);
        assert_true(fake_heap.pieces == 2 && bf_value_layers(v) == 1);
        bf_value *twin = NULL;
        assert_ok(bf_value_copy(v, &twin));
        assert_true(fake_heap.pieces == 4 && digest_of(v) == digest_of(twin));
        bf_value_free(twin);
        add(v, "key", 100, 100);
        bool packed = sort == UNRESERVED; /* it needs no second layer */
        assert_true(fake_heap.pieces > 2 || packed);
        assert_int_equal(bf_value_layers(v), packed ? 1 : 2);
        assert_int_equal(found(v, "key", 0, 200), 200);
        assert_ok(bf_value_clear(v));
        assert_true(fake_heap.pieces == 2);
        assert_int_equal(add(v, "key", 0, 100), fresh);
        bf_value_free(v);
    }
}

/* RedisBloom's links without a handle: up to 64 KiB. */
static void larger_classic_filters_have_no_handle_either(void **state) {
    (void)state;
    bf_params p = params_of(BF_REDISBLOOM, 0.01, 47500);
    bf_value *v = made(p);
    assert_true(fake_heap.pieces == 2 && bf_value_bytes(v) <= UINT16_MAX);
    bf_value_free(v);
    p.capacity += 100;
    v = made(p);
    assert_true(fake_heap.pieces > 2 && bf_value_bytes(v) > UINT16_MAX);
    bf_value_free(v);
}

static void what_may_not_grow_stops_in_the_middle(void **state) {
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        bf_params p = params_of((bf_layout)layout, 0.0001, 130);
        p.expansion = 0;
        bf_value *v = made(p);
        assert_int_equal(add(v, "key", 0, 100), 100);
        batch b;
        uint8_t was_new[BATCH];
        size_t done = 0;
        name_keys(&b, "key", 100);
        b.keys[10] = b.keys[9];
        assert_int_equal(bf_value_add(v, b.keys, BATCH, 0, was_new, &done), UMBEL_EFULL);
        assert_int_equal(done, 31);
        assert_int_equal(was_new[10], 0);
        assert_int_equal(bf_value_card(v), 130);
        assert_int_equal(found(v, "key", 0, 100), 100);
        /* Keys that are in may be added again. */
        assert_ok(bf_value_add(v, b.keys, 31, 0, was_new, &done));
        assert_int_equal(done, 31);
        assert_int_equal(bf_value_add(v, b.keys, BATCH, 0, was_new, &done), UMBEL_EFULL);
        assert_int_equal(done, 31);
        bf_value_free(v);
    }
}

static void growth_keeps_to_the_limit(void **state) {
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        bf_value *v = made(params_of((bf_layout)layout, 0.01, 1000));
        batch b;
        uint8_t was_new[BATCH];
        size_t done = BATCH;
        umbel_err e = UMBEL_OK;
        int in = 0;
        while (!e && in < 1000000) {
            name_keys(&b, "key", in);
            e = bf_value_add(v, b.keys, BATCH, 50000, was_new, &done);
            in += (int)done;
        }
        assert_true(e == UMBEL_ELIMIT || e == UMBEL_EFULL);
        assert_in_range(in, 5000, 50000);
        assert_true(bf_value_memory(v) <= 50000 + 2048);
        assert_int_equal(found(v, "key", 0, in - in % BATCH), in - in % BATCH);
        /* The limit applied to the adds: under a lower one the filter stays as it is. */
        bf_value *copy = NULL;
        assert_ok(bf_value_add(v, b.keys, done, 100, was_new, &done));
        assert_ok(bf_value_copy(v, &copy));
        bf_value_free(copy);
        bf_value_free(v);
        bf_params p = params_of((bf_layout)layout, 0.01, 100000);
        assert_int_equal(bf_value_create(&p, 50000, &v, NULL), UMBEL_ELIMIT);
    }
}

static void counting_and_windows(void **state) {
    (void)state;
    bf_params p = params_of(BF_BLOCKED, 0.01, 1000);
    p.counting = true;
    bf_value *v = made(p);
    add(v, "key", 0, 500);
    add(v, "key", 0, 100);
    umbel_key key = {"key7", 4}, absent = {"no such key", 11};
    assert_in_range(bf_value_count(v, &key), 2, 15);
    assert_int_equal(bf_value_remove(v, &absent), UMBEL_EABSENT);
    assert_int_equal(bf_value_card(v), 600);
    for (int i = 0; i < 500; i += BATCH) {
        batch b;
        name_keys(&b, "key", i);
        for (int j = 0; j < BATCH; j++) assert_ok(bf_value_remove(v, &b.keys[j]));
    }
    assert_int_equal(bf_value_card(v), 100);
    assert_int_equal(found(v, "key", 0, 100), 100);
    assert_in_range(found(v, "key", 100, 400), 0, 20);
    bf_value_free(v);

    p.counting = false;
    p.window = 4;
    v = made(p);
    add(v, "key", 0, 10000);
    assert_int_equal(found(v, "key", 9000, 1000), 1000);
    assert_in_range(found(v, "key", 0, 5000), 0, 150);
    assert_int_equal(bf_value_remove(v, &key), UMBEL_ENOTSUP);
    bf_value_free(v);
}

/* ---- Whole values ---- */

static void clearing_goes_back_to_the_first_layer(void **state) {
    (void)state;
    for (int sort = 0; sort < SORTS; sort++) {
        bf_params p = sort_of(sort, 0.01, 300);
        bf_value *v = made(p), *fresh = made(p);
        add(v, "key", 0, 5000);
        assert_true(bf_value_layers(v) > (sort == UNRESERVED ? 1 : 3));
        assert_ok(bf_value_clear(v));
        assert_int_equal(bf_value_layers(v), 1);
        assert_int_equal(found(v, "key", 0, 5000), 0);
        assert_int_equal(digest_of(v), digest_of(fresh));
        add(v, "key", 0, 5000);
        assert_int_equal(found(v, "key", 0, 5000), 5000);
        bf_value_free(v);
        bf_value_free(fresh);
    }
}

static void copies_live_on_their_own(void **state) {
    (void)state;
    for (int sort = 0; sort < SORTS; sort++) {
        bf_value *v = made(sort_of(sort, 0.01, 300)), *copy = NULL;
        add(v, "key", 0, 3000);
        assert_ok(bf_value_copy(v, &copy));
        assert_int_equal(digest_of(v), digest_of(copy));
        bf_value_free(v);
        add(copy, "key", 3000, 3000);
        assert_int_equal(found(copy, "key", 0, 6000), 6000);
        bf_value_free(copy);
    }
}

static void merging_joins_layers_and_appends_the_rest(void **state) {
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        bf_params p = params_of((bf_layout)layout, 0.01, 1000);
        bf_value *a = made(p), *b = made(p);
        add(a, "a", 0, 400);
        add(b, "b", 0, 500);
        assert_ok(bf_value_merge(a, b, NULL));
        assert_in_range(bf_value_card(a), 890, 900);
        assert_int_equal(found(a, "a", 0, 400), 400);
        assert_int_equal(found(a, "b", 0, 500), 500);
        assert_ok(bf_value_merge(b, a, NULL)); /* counted twice: the bits show that it fits */
        assert_in_range(bf_value_card(b), 850, 950);
        add(b, "b", 0, 2500);
        assert_ok(bf_value_merge(a, b, NULL));
        assert_int_equal(bf_value_layers(a), bf_value_layers(b));
        assert_int_equal(found(a, "a", 0, 400), 400);
        assert_int_equal(found(a, "b", 0, 2500), 2500);
        add(a, "c", 0, 5000);
        assert_int_equal(found(a, "a", 0, 400) + found(a, "c", 0, 5000), 5400);
        bf_value_free(a);
        bf_value_free(b);
    }
}

/* One packed layer or several: each with each, and growing afterwards. */
static void unreserved_filters_merge_at_every_size(void **state) {
    (void)state;
    static const int sizes[] = {40, 400, 70000};
    for (int i = 0; i < 9; i++) {
        bf_params p = sort_of(UNRESERVED, 0.01, 100);
        bf_value *a = made(p), *b = made(p);
        int mine = sizes[i / 3], theirs = sizes[i % 3];
        umbel_diag diag = {0};
        for (int k = 0; k < mine; k += 20) {
            batch some;
            uint8_t was_new[BATCH];
            size_t done;
            name_keys(&some, "a", k);
            assert_ok(bf_value_add(a, some.keys, 20, 0, was_new, &done));
        }
        for (int k = 0; k < theirs; k += 20) {
            batch some;
            uint8_t was_new[BATCH];
            size_t done;
            name_keys(&some, "b", k);
            assert_ok(bf_value_add(b, some.keys, 20, 0, was_new, &done));
        }
        assert_ok(bf_value_merge(a, b, &diag));
        assert_int_equal(found(a, "a", 0, mine - mine % BATCH), mine - mine % BATCH);
        assert_int_equal(found(a, "b", 0, theirs - theirs % BATCH), theirs - theirs % BATCH);
        assert_in_range(bf_value_card(a), (mine + theirs) * 98 / 100, mine + theirs);
        add(a, "c", 0, 2000);
        assert_int_equal(found(a, "c", 0, 2000), 2000);
        bf_value_free(a);
        bf_value_free(b);
    }
}

static void merging_refuses_what_would_break_a_promise(void **state) {
    (void)state;
    umbel_diag diag = {0};
    for (int layout = 0; layout < 2; layout++) {
        bf_params p = params_of((bf_layout)layout, 0.01, 1000);
        bf_value *a = made(p), *b = made(p);
        add(a, "a", 0, 1000);
        add(b, "b", 0, 1000);
        uint64_t before = digest_of(a);
        assert_int_equal(bf_value_merge(a, b, &diag), UMBEL_EFULL);
        p.capacity = 2000;
        bf_value *larger = made(p);
        assert_int_equal(bf_value_merge(a, larger, &diag), UMBEL_EMISMATCH);
        assert_non_null(diag.what);
        bf_value *other = made(params_of((bf_layout)!layout, 0.01, 1000));
        assert_int_equal(bf_value_merge(a, other, &diag), UMBEL_EMISMATCH);
        if (layout == BF_BLOCKED) {
            bf_params unlike = params_of(BF_BLOCKED, 0.01, 1000);
            unlike.key[0] ^= 1;
            bf_value *keyed = made(unlike);
            assert_int_equal(bf_value_merge(a, keyed, &diag), UMBEL_EMISMATCH);
            bf_value_free(keyed);
        }
        assert_int_equal(digest_of(a), before);
        bf_value_free(a);
        bf_value_free(b);
        bf_value_free(larger);
        bf_value_free(other);
    }
}

static void tells_how_far_it_can_grow(void **state) {
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        bf_params p = params_of((bf_layout)layout, 0.01, 100);
        uint64_t little = bf_params_max_keys(&p, 1 << 20), more = bf_params_max_keys(&p, 1 << 24);
        assert_in_range(little, 100000, 2000000);
        assert_true(more > 10 * little);
        assert_true(bf_params_max_keys(&p, 0) > more);
        assert_int_equal(bf_params_max_keys(&p, 8), 0);
        p.expansion = 0;
        assert_int_equal(bf_params_max_keys(&p, 0), 100);
    }
}

/* Of a large layer only the beginning is read. */
static void a_part_of_the_bits_tells_about_all(void **state) {
    (void)state;
    for (int sort = 0; sort < 3; sort++) {
        bf_params p = params_of(sort == 1 ? BF_REDISBLOOM : BF_BLOCKED, 0.01, 8000000);
        p.counting = sort == 2;
        bf_value *v = made(p);
        umbel_measurement part, all;
        bf_room room;
        add(v, "key", 0, 400000);
        bf_value_measure(v, &part);
        umbel_measure(bf_value_filter(v, &room), &all);
        assert_true(part.bits == all.bits && part.bits_set != all.bits_set);
        assert_true(part.keys > 0.99 * all.keys && part.keys < 1.01 * all.keys);
        assert_true(part.rate > 0.9 * all.rate && part.rate < 1.1 * all.rate);
        assert_ok(bf_value_clear(v));
        umbel_measure(bf_value_filter(v, &room), &all);
        assert_int_equal(all.bits_set, 0);
        assert_in_range(add(v, "key", 0, 1000), 999, 1000);
        bf_value_free(v);
    }
}

/* Each allocation in turn fails: an error, no leak, and the value is unchanged. */
static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    for (int sort = 0; sort < SORTS; sort++) {
        bf_params p = sort_of(sort, 0.01, 150);
        bf_value *v = made(p), *other = made(p);
        add(v, "key", 0, 100);
        add(other, "key", 0, 400);
        for (uint64_t at = 1; at < 40; at++) {
            bf_value *out = NULL;
            batch b;
            uint8_t was_new[BATCH];
            size_t done = 0;
            uint64_t before = digest_of(v), pieces = fake_heap.pieces;
            fake_heap.fail_at = at;
            if (!bf_value_create(&p, 0, &out, NULL)) bf_value_free(out);
            fake_heap.fail_at = at;
            if (!bf_value_copy(other, &out)) bf_value_free(out);
            fake_heap.fail_at = at;
            if (bf_value_merge(v, other, NULL)) {
                assert_int_equal(digest_of(v), before);
                assert_int_equal(fake_heap.pieces, pieces);
            }
            name_keys(&b, "more", 0);
            fake_heap.fail_at = at;
            umbel_err e = bf_value_add(v, b.keys, BATCH, 0, was_new, &done);
            fake_heap.fail_at = 0;
            assert_true(e == UMBEL_OK || (e == UMBEL_ENOMEM && done < BATCH));
            assert_int_equal(found(v, "key", 0, 100), 100);
        }
        bf_value_free(v);
        bf_value_free(other);
    }
}

/* Servers before Redis 7.4 and Valkey 8 have no TryCalloc. */
static void memory_is_clear_with_and_without_trycalloc(void **state) {
    (void)state;
    void *(*try_calloc)(size_t, size_t) = RedisModule_TryCalloc;
    const uint64_t sizes[] = {1, 100, 6000, 60000, 1000000}; /* cleared by hand, and not */
    for (size_t i = 0; i < 4 * (sizeof sizes / sizeof sizes[0]); i++) {
        bf_params p = {.layout = i & 1 ? BF_REDISBLOOM : BF_BLOCKED, .error = 0.01};
        umbel_measurement m;
        bf_value *v = NULL;
        p.capacity = sizes[i / 4];
        RedisModule_TryCalloc = i & 2 ? try_calloc : NULL;
        fake_heap.fail_at = 2;
        assert_int_equal(bf_value_create(&p, 0, &v, NULL), UMBEL_ENOMEM);
        fake_heap.fail_at = 0;
        assert_int_equal(bf_value_create(&p, 0, &v, NULL), UMBEL_OK);
        bf_value_measure(v, &m);
        assert_int_equal(m.bits_set, 0);
        bf_value_free(v);
    }
    RedisModule_TryCalloc = try_calloc;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(refuses_what_cannot_be, quiet),
        cmocka_unit_test_teardown(nothing_is_forgotten_while_it_grows, quiet),
        cmocka_unit_test_teardown(batches_and_single_keys_do_the_same, quiet),
        cmocka_unit_test_teardown(a_first_batch_takes_what_its_keys_need, quiet),
        cmocka_unit_test_teardown(unreserved_filters_stay_short, quiet),
        cmocka_unit_test_teardown(small_filters_take_little, quiet),
        cmocka_unit_test_teardown(larger_classic_filters_have_no_handle_either, quiet),
        cmocka_unit_test_teardown(what_may_not_grow_stops_in_the_middle, quiet),
        cmocka_unit_test_teardown(growth_keeps_to_the_limit, quiet),
        cmocka_unit_test_teardown(counting_and_windows, quiet),
        cmocka_unit_test_teardown(clearing_goes_back_to_the_first_layer, quiet),
        cmocka_unit_test_teardown(copies_live_on_their_own, quiet),
        cmocka_unit_test_teardown(merging_joins_layers_and_appends_the_rest, quiet),
        cmocka_unit_test_teardown(unreserved_filters_merge_at_every_size, quiet),
        cmocka_unit_test_teardown(merging_refuses_what_would_break_a_promise, quiet),
        cmocka_unit_test_teardown(tells_how_far_it_can_grow, quiet),
        cmocka_unit_test_teardown(a_part_of_the_bits_tells_about_all, quiet),
        cmocka_unit_test_teardown(memory_may_run_out_anywhere, quiet),
        cmocka_unit_test_teardown(memory_is_clear_with_and_without_trycalloc, quiet),
    };
    fake_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
