/* SPDX-License-Identifier: MIT
 *
 * test_chain.c - what all chains share: growing moves nothing, segments, how far adds got, merging
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "kind/chain/chain.h"
#include "kind_check.h"
#include "umbel_foreign.h"

static const any_params growing[] = {
    {.native = {.kind = UMBEL_KIND_SCALABLE, .bytes = 4096, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_SCALABLE, .bytes = 4096, .fpr = 0.01, .scalable.expansion = 2}},
    {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 1000, .fpr = 0.01}},
};
enum { GROWING = sizeof growing / sizeof *growing, N = 40000 };

static umbel_filter *make(any_params params) {
    umbel_filter *f = NULL;
    assert_int_equal(any_create(&params, NULL, &f, NULL), UMBEL_OK);
    return f;
}

static void name_keys(uint64_t *numbers, umbel_key *keys, uint64_t set, size_t n) {
    for (size_t i = 0; i < n; i++) {
        numbers[i] = check_key(set, i);
        keys[i] = (umbel_key){&numbers[i], 8};
    }
}

static uint8_t *bytes_of(const umbel_filter *f, umbel_format format, size_t *len) {
    *len = (size_t)umbel_encoded_size(f, format);
    uint8_t *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_int_equal(umbel_encode(f, format, bytes, *len, NULL), UMBEL_OK);
    return bytes;
}

static umbel_format format_of(const umbel_filter *f) {
    return f->shape.format;
}

/* Filters stay where they are, and the chain has no more memory than its layers need. */
static void growing_moves_nothing(void **state) {
    (void)state;
    for (size_t g = 0; g < GROWING; g++) {
        umbel_filter *f = make(growing[g]);
        const umbeli_chain *c = umbeli_chain_of(f);
        const uint8_t *bits[64] = {NULL};
        for (uint64_t i = 0; i < N; i++) {
            uint64_t key = check_key(1, i);
            assert_int_equal(umbel_add(f, &key, 8, NULL, NULL), UMBEL_OK);
            assert_true(c->count <= 64);
            for (uint32_t l = 0; l < c->count; l++) {
                if (!bits[l]) bits[l] = c->layers[l].bits;
                if (umbeli_is_packed(&c->layers[l])) continue;
                assert_ptr_equal(c->layers[l].bits, bits[l]);
            }
        }
        assert_true(c->count > 3 || umbeli_is_packed(&c->layers[c->newest]));
        umbel_info info = described(f);
        assert_true(info.grows && info.layers == c->count);
        umbel_free(f);
    }
}

/* A grown chain, its decoded file (one segment) and its copy are the same in every respect. */
static void segments_do_not_show(void **state) {
    (void)state;
    for (size_t g = 0; g < GROWING; g++) {
        umbel_filter *f = make(growing[g]), *decoded = NULL, *copy = NULL;
        check_add(f, 1, 0, N);
        size_t len, again_len;
        uint8_t *bytes = bytes_of(f, format_of(f), &len);
        assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &decoded, NULL),
                         UMBEL_OK);
        assert_int_equal(umbel_copy(f, &copy, NULL), UMBEL_OK);
        umbel_filter *all[] = {decoded, copy};
        for (int i = 0; i < 2; i++) {
            assert_true(umbel_equal(f, all[i]) && umbel_equal(all[i], f));
            assert_false(umbel_is_empty(all[i]));
            assert_int_equal(umbeli_filter_bytes(all[i]), umbeli_filter_bytes(f));
            uint8_t *again = bytes_of(all[i], format_of(f), &again_len);
            assert_int_equal(len, again_len);
            assert_memory_equal(bytes, again, len);
            free(again);
        }
        assert_int_equal(umbeli_chain_of(decoded)->shared, umbeli_chain_of(decoded)->count);
        assert_int_equal(umbeli_chain_of(f)->shared, 1);
        check_add(decoded, 1, N, 3 * N); /* now it has both */
        check_add(f, 1, N, 3 * N);
        assert_true(umbel_equal(f, decoded));
        assert_false(umbel_equal(f, copy));
        for (int i = 0; i < 2; i++) {
            assert_int_equal(umbel_clear(all[i], NULL), UMBEL_OK);
            assert_true(umbel_is_empty(all[i]));
            assert_int_equal(umbeli_chain_of(all[i])->count, 1);
            assert_int_equal(umbeli_filter_bytes(all[i]), umbeli_chain_of(f)->layers[0].bytes);
            check_add(all[i], 1, 0, 4 * N);
            assert_true(umbel_equal(f, all[i]));
        }
        free(bytes);
        umbel_free(f);
        umbel_free(decoded);
        umbel_free(copy);
    }
}

/* Batches stop just where single adds would, say where, and leave the answers after it alone. */
static void adds_say_how_far_they_got(void **state) {
    (void)state;
    static uint64_t numbers[N];
    static umbel_key keys[N];
    static uint8_t was_new[N], one[N];
    name_keys(numbers, keys, 1, N);
    for (size_t i = 5; i < N; i += 5) keys[i] = keys[i / 2]; /* some come again */
    for (size_t g = 0; g < GROWING; g++) {
        for (uint64_t limit = 6000; limit < 60000; limit += 7001) {
            umbel_filter *batch = make(growing[g]), *single = make(growing[g]);
            size_t done = 0, stop = 0;
            memset(was_new, 2, N);
            umbel_err e = umbeli_chain_add_within(batch, keys, N, limit, was_new, &done), f;
            for (size_t got; stop < N; stop++) {
                f = umbeli_chain_add_within(single, &keys[stop], 1, limit, &one[stop], &got);
                assert_int_equal(got, !f);
                if (f) break;
            }
            if (done < N) assert_int_equal(e, f);
            assert_true(done == N || e == UMBEL_EFULL || e == UMBEL_ELIMIT);
            assert_int_equal(done, stop);
            assert_memory_equal(was_new, one, done);
            for (size_t i = done; i < N; i++) assert_int_equal(was_new[i], 2);
            assert_true(umbel_equal(batch, single));
            assert_true(umbeli_filter_bytes(batch) <= limit);
            /* The limit was that of the call. */
            assert_int_equal(batch->ops->add_many(batch, keys, N, NULL, &done), UMBEL_OK);
            assert_int_equal(done, N);
            umbel_free(batch);
            umbel_free(single);
        }
    }
}

static umbeli_chain *chain_of(umbel_filter *f) {
    return (umbeli_chain *)f;
}

static void merging_is_all_or_nothing(void **state) {
    (void)state;
    any_params params = growing[GROWING - 1];
    umbel_diag diag = {0};
    for (uint64_t fails = 0; fails < 40; fails++) {
        check_memory m = {.fails = UINT64_MAX};
        umbel_alloc alloc = check_alloc(&m);
        umbel_filter *into = NULL, *from = make(params);
        assert_int_equal(any_create(&params, &(umbel_opts){.alloc = &alloc}, &into, NULL),
                         UMBEL_OK);
        check_add(into, 1, 0, 400);
        check_add(from, 2, 0, 550);
        size_t len, again_len;
        uint8_t *before = bytes_of(into, UMBEL_FMT_REDISBLOOM, &len);
        check_add(from, 2, 550, 20000); /* the first layer of both is too much */
        assert_int_equal(umbeli_chain_merge(chain_of(into), umbeli_chain_of(from), &diag),
                         UMBEL_EFULL);
        assert_non_null(diag.what);
        uint8_t *after = bytes_of(into, UMBEL_FMT_REDISBLOOM, &again_len);
        assert_int_equal(len, again_len);
        assert_memory_equal(before, after, len);
        free(after);

        umbel_clear(into, NULL);
        check_add(into, 2, 0, 300); /* keys of the other: the bits say that they fit */
        free(before);
        before = bytes_of(into, UMBEL_FMT_REDISBLOOM, &len);
        m.fails = fails;
        umbel_err e = umbeli_chain_merge(chain_of(into), umbeli_chain_of(from), &diag);
        m.fails = UINT64_MAX;
        if (e) {
            assert_int_equal(e, UMBEL_ENOMEM);
            after = bytes_of(into, UMBEL_FMT_REDISBLOOM, &again_len);
            assert_int_equal(len, again_len);
            assert_memory_equal(before, after, len);
            free(after);
        } else {
            assert_int_equal(umbeli_chain_of(into)->count, umbeli_chain_of(from)->count);
            assert_int_equal(into->shape.capacity, from->shape.capacity);
            assert_int_equal(check_found(into, 2, 0, 20550), 20550);
            after = bytes_of(into, UMBEL_FMT_REDISBLOOM, &again_len); /* counts add up */
            umbel_filter *read = NULL;
            assert_int_equal(umbel_decode(after, again_len, UMBEL_LOAD, NULL, NULL, &read, NULL),
                             UMBEL_OK);
            umbel_free(read);
            free(after);
        }
        free(before);
        umbel_free(into);
        umbel_free(from);
        assert_int_equal(m.out, 0);
        if (!e) return;
    }
    fail_msg("merging never succeeds");
}

static void merging_refuses_others(void **state) {
    (void)state;
    umbel_diag diag = {0};
    any_params unlike[] = {growing[GROWING - 1], growing[GROWING - 1], growing[GROWING - 1],
                           growing[0]};
    unlike[0].foreign.expansion = 4;
    unlike[1].foreign.capacity = 2000;
    unlike[2].foreign.fpr = 0.001;
    umbel_filter *into = make(growing[GROWING - 1]);
    for (size_t i = 0; i < 4; i++) {
        umbel_filter *from = make(unlike[i]);
        assert_int_equal(umbeli_chain_merge(chain_of(into), umbeli_chain_of(from), &diag),
                         UMBEL_EMISMATCH);
        assert_non_null(diag.what);
        umbel_free(from);
    }
    umbel_free(into);
}

/* Links of old releases use 2^n2 of their bits; the others do not count, whatever they are. */
static void only_bits_in_use_are_measured(void **state) {
    (void)state;
    umbeli_layer link;
    umbel_filter *f = NULL;
    umbeli_settings memory = {.threads = 1};
    assert_int_equal(umbeli_redisbloom_size_link(20, 0.01, &link, NULL), UMBEL_OK);
    assert_int_equal(link.bytes, 24);
    link.n2 = 7;
    uint32_t options = UMBELI_REDISBLOOM_FORCE64;
    assert_int_equal(umbeli_redisbloom_new(&link, 1, options, 2, NULL, &memory, &f, NULL),
                     UMBEL_OK);
    memset(f->data + 16, 0xff, 8); /* not in use */
    memset(f->data, 0x0f, 16);
    umbel_info info = described(f);
    umbel_measurement now = measured(f);
    assert_true(now.bits == 128 && now.bits_set == 64);
    double rate = now.rate;
    memset(f->data + 16, 0, 8);
    assert_true(rate > 0);
    assert_true(rate < 1);
    assert_true(measured(f).rate == rate);
    assert_true(isfinite(now.keys));
    assert_false(info.grows);
    memset(f->data, 0xff, 24);
    now = measured(f);
    assert_int_equal(now.bits_set, 128);
    assert_true(now.rate == 1.0);
    assert_true(isinf(now.keys));
    umbel_free(f);
}

/* Batches drop few found keys in one way and many in another: from none to all of them present. */
static void batches_find_what_single_lookups_do(void **state) {
    (void)state;
    enum { ASKED = 3000 };
    static const umbel_kind kinds[] = {UMBEL_KIND_SCALABLE, UMBEL_KIND_WINDOW};
    static uint64_t in[ASKED], out[ASKED], mixed[ASKED];
    static umbel_key in_keys[ASKED], out_keys[ASKED], keys[ASKED];
    static uint8_t hit[ASKED];
    name_keys(in, in_keys, 1, ASKED);
    name_keys(out, out_keys, 2, ASKED);
    for (size_t k = 0; k < 2; k++) {
        umbel_params params = {.kind = kinds[k], .capacity = k ? ASKED : 100, .fpr = 0.05};
        umbel_filter *f = NULL;
        assert_int_equal(umbel_create(&params, NULL, &f, NULL), UMBEL_OK);
        assert_int_equal(umbel_add_many(f, in_keys, ASKED, NULL, NULL, NULL), UMBEL_OK);
        for (size_t every = 1; every < 2 * ASKED; every += every / 2 + 1) {
            for (size_t i = 0; i < ASKED; i++) {
                keys[i] = (i + every / 2) % every == 0 ? in_keys[i] : out_keys[i];
            }
            assert_int_equal(umbel_hash_many(f, keys, ASKED, mixed, NULL), UMBEL_OK);
            memset(hit, 7, ASKED);
            umbel_contains_many(f, keys, ASKED, hit);
            for (size_t i = 0; i < ASKED; i++) {
                assert_int_equal(hit[i], umbel_contains(f, keys[i].data, keys[i].len));
            }
            memset(hit, 7, ASKED);
            umbel_contains_hashes(f, mixed, ASKED, hit);
            for (size_t i = 0; i < ASKED; i++) {
                assert_int_equal(hit[i], umbel_contains_hash(f, mixed[i]));
            }
        }
        umbel_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_moves_nothing),
        cmocka_unit_test(segments_do_not_show),
        cmocka_unit_test(adds_say_how_far_they_got),
        cmocka_unit_test(merging_is_all_or_nothing),
        cmocka_unit_test(merging_refuses_others),
        cmocka_unit_test(only_bits_in_use_are_measured),
        cmocka_unit_test(batches_find_what_single_lookups_do),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
