/* SPDX-License-Identifier: MIT
 *
 * test_tight_parts.c - tight filters inside: plans, layouts that lie, hashes that are not random,
 * golden files
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/native/native_header.h"
#include "golden.h"
#include "hash/native_hash.h"
#include "kind/static/tight.h"
#include "kind_check.h"
#include "umbel_foreign.h"
#include "umbel_plan.h"

enum { PARAMS = 128 };

static umbel_plan solved(umbel_plan plan) {
    plan.kind = UMBEL_KIND_TIGHT;
    if (umbel_plan_solve(&plan, NULL)) fail_msg("%s", plan.why);
    return plan;
}

/* Numbers in a file, seven bits per byte; with 0s above them where they are to be longer. */
static uint8_t *put_number(uint8_t *at, uint32_t x, uint32_t longer) {
    for (; x >= 0x80; x >>= 7) *at++ = (uint8_t)(x | 0x80);
    *at++ = (uint8_t)(x | (longer ? 0x80 : 0));
    while (longer > 0) *at++ = --longer ? 0x80 : 0;
    return at;
}

/* The parameters of a layout whose level i has seed 200 i; returns their length. */
static size_t put_params(const umbeli_tight_layout *l, uint8_t *params) {
    uint8_t *at = params;
    *at++ = (uint8_t)l->width;
    at = put_number(at, l->level[0].blocks - l->level[0].narrow, 0);
    for (uint32_t i = 0; i < l->levels; i++) {
        if (i > 0) *at++ = (uint8_t)l->level[i - 1].shard_bits;
        at = put_number(at, l->level[i].blocks, 0);
        *at++ = (uint8_t)(i * 200);
    }
    return (size_t)(at - params);
}

/* Bits per key over the bound, all included: payload and parameters. */
static double factor(uint64_t keys, double fpr) {
    umbel_plan plan = solved((umbel_plan){.capacity = keys, .fpr = fpr});
    umbeli_tight_layout l;
    uint8_t params[PARAMS];
    assert_true(umbeli_tight_for_rate(keys, fpr, &l));
    double bytes = (double)plan.bytes + (double)put_params(&l, params);
    return 8 * bytes / ((double)keys * -log2(fpr));
}

/* Only where 64 bits of hash can tell this many keys apart. */
static void at_max(uint64_t keys, double fpr, double limit) {
    if (ldexp((double)keys, -64) > 0.001 * fpr) return;
    double f = factor(keys, fpr);
    if (f > limit) fail_msg("%llu keys, %g: %g", (unsigned long long)keys, fpr, f);
}

static void space(void **state) {
    (void)state;
    at_max(1000, 0.01, 1.05);
    at_max(10000, 0.01, 1.036);
    for (double fpr = 0.5; fpr >= 1e-9; fpr *= 0.97) {
        at_max(1000, fpr, fpr > 0.25 ? 1.2 : fpr > 0.05 ? 1.13 : 1.08);
    }
    for (double keys = 1e5; keys < 1e11; keys *= 1.37) {
        uint64_t n = (uint64_t)keys;
        at_max(n, 0.01, keys < 1e6 ? 1.02 : 1.016);
        for (double fpr = 0.05; fpr >= 1e-9; fpr *= 0.83) at_max(n, fpr, 1.03);
        for (int r = 1; r < 30; r++) at_max(n, ldexp(1, -r), 1.01);
        for (double fpr = 0.5; fpr > 0.05; fpr *= 0.99) at_max(n, fpr, 1.07);
    }
}

static void plans(void **state) {
    (void)state;
    umbel_plan urls = solved((umbel_plan){.capacity = 2000000000, .bytes = 500u << 20});
    assert_true(urls.fpr > 0.239);
    assert_true(urls.fpr < 0.2425);
    assert_true(urls.bound > 0.23);
    for (double fpr = 0.9; fpr > 1e-9; fpr *= 0.61) {
        for (double keys = 1; keys < 1e10; keys *= 7.3) {
            umbel_plan plan = solved((umbel_plan){.capacity = (uint64_t)keys, .fpr = fpr});
            assert_true(plan.rate <= plan.fpr && plan.hashes == 1);
            umbel_plan back = solved((umbel_plan){.capacity = plan.capacity, .bytes = plan.bytes});
            assert_int_equal(back.bytes, plan.bytes);
            assert_true(back.rate <= plan.rate);
            assert_true(back.fpr <= fpr);
            umbel_plan max = solved((umbel_plan){.fpr = fpr, .bytes = plan.bytes});
            assert_true(max.bytes <= plan.bytes && max.capacity > 0);
            (void)solved((umbel_plan){.capacity = plan.capacity, .fpr = fpr, .bytes = plan.bytes});
        }
    }
}

static void refusals(void **state) {
    (void)state;
    const struct {
        umbel_plan plan;
        umbel_verdict verdict;
    } bad[] = {
        {{.capacity = 1000, .fpr = 1e-12}, UMBEL_PLAN_BEYOND_KIND},
        {{.capacity = 1000000, .bytes = 400}, UMBEL_PLAN_TOO_SMALL},
        {{.capacity = 1000000, .bytes = 1000000, .fpr = 0.001}, UMBEL_PLAN_BELOW_BOUND},
        {{.capacity = 1000000, .bytes = 1247000, .fpr = 0.001}, UMBEL_PLAN_BEYOND_KIND},
        {{.capacity = UINT64_MAX, .fpr = 0.01}, UMBEL_PLAN_TOO_LARGE},
        {{.bytes = 1, .fpr = 0.01}, UMBEL_PLAN_TOO_SMALL},
        {{.capacity = 1000, .fpr = 0.01, .hashes = 2}, UMBEL_PLAN_BAD_HASHES},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        umbel_plan plan = bad[i].plan;
        plan.kind = UMBEL_KIND_TIGHT;
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_EINVAL);
        if (plan.verdict != bad[i].verdict) fail_msg("%zu: %d %s", i, plan.verdict, plan.why);
    }
}

/* More bytes never promise less: what the search relies on. */
static void promises_fall_with_bytes(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 100, 1000, 4097, 20000, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        umbeli_tight_layout l;
        double before = 1;
        assert_true(umbeli_tight_for_rate(sizes[i], 0.5, &l));
        uint64_t min = umbeli_tight_len(&l), step = 8 + min / 3000;
        for (uint64_t bytes = min / 2; bytes < 6 * min; bytes += step) {
            if (!umbeli_tight_for_bytes(sizes[i], bytes, &l)) continue;
            double promise = umbeli_tight_promise(&l, sizes[i]);
            assert_true(umbeli_tight_len(&l) <= bytes);
            assert_true(promise <= before && umbeli_tight_rate(&l, sizes[i]) <= promise);
            before = promise;
        }
        assert_true(before < 0.1);
    }
}

/* ---- files that lie ----------------------------------------------------------------------- */

/* A filter with these parameters on a payload of just that length, so that a sanitizer sees every
 * step beyond it. */
static umbel_err make_from(const uint8_t *params, size_t params_len, const uint8_t *payload,
                           uint64_t len, umbel_filter **out) {
    static const uint8_t magic[] = {'U', 'M', 'B', 'E', 'L', 0x1a, '\r', '\n', 1};
    uint8_t header[128 + PARAMS + 8] = {0};
    size_t end = 128 + (params_len + 7) / 8 * 8;
    umbeli_native_header h;
    umbeli_settings memory;
    memcpy(header, magic, sizeof magic);
    umbeli_store_le32(header + 12, (uint32_t)end + 8);
    umbeli_store_le32(header + 16, UMBEL_KIND_TIGHT);
    umbeli_store_le32(header + 20, 1);
    umbeli_store_le32(header + 24, 1);
    umbeli_store_le32(header + 28, 1);
    umbeli_store_le64(header + 48, 8 * len);
    umbeli_store_le64(header + 96, 4096);
    umbeli_store_le64(header + 104, len);
    umbeli_store_le32(header + 112, 1 << 20);
    umbeli_store_le32(header + 116, (uint32_t)params_len);
    if (params_len) memcpy(header + 128, params, params_len);
    umbeli_store_le64(header + end, umbeli_xxh3_64(header, end, 0));
    assert_int_equal(umbeli_settings_from(NULL, &memory, NULL), UMBEL_OK);
    assert_int_equal(umbeli_native_read(header, end + 8, &h, NULL), UMBEL_OK);
    return umbeli_native_make(header, &h, payload, &memory, out, NULL);
}

static umbel_err make(const umbeli_tight_layout *l, const uint8_t *payload, uint64_t len,
                      umbel_filter **out) {
    uint8_t params[PARAMS];
    return make_from(params, put_params(l, params), payload, len, out);
}

/* All kernels of this machine give the same answers. */
static void same_answers(const umbel_filter *f) {
    enum { MANY = 300 };
    uint64_t hashes[MANY];
    uint8_t hit[2][MANY];
    for (uint64_t i = 0; i < MANY; i++) hashes[i] = check_key(3, i);
    umbeli_tight_generic.ops->contains_hashes(f, hashes, MANY, hit[0]);
    umbeli_tight_best()->ops->contains_hashes(f, hashes, MANY, hit[1]);
    assert_memory_equal(hit[0], hit[1], MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(umbeli_tight_generic.ops->contains_hash(f, hashes[i]), hit[0][i]);
        assert_int_equal(umbeli_tight_best()->ops->contains_hash(f, hashes[i]), hit[0][i]);
    }
}

/* One table from the same keys: what is passed on, thresholds and words. */
static void same_table(umbeli_tight *t, uint64_t n) {
    enum { ROOM = 1 << 16 };
    const umbeli_tight_kernel *const kernels[] = {&umbeli_tight_generic, umbeli_tight_best()};
    static uint64_t hashes[2][ROOM], scratch[ROOM], rows[ROOM];
    static uint32_t prints[ROOM];
    static uint8_t marks[2][ROOM], tables[2][8 * ROOM];
    const umbeli_tight_rung *r = &t->ribbon.rungs[0];
    size_t left[2];
    for (size_t k = 0; k < 2; k++) {
        umbeli_tight_scratch b = {kernels[k], rows, prints, scratch};
        for (uint64_t i = 0; i < n; i++) hashes[k][i] = check_key(4, i);
        assert_int_equal(umbeli_static_sort(hashes[k], scratch, n), n);
        memset(marks[k], 0, sizeof marks[k]);
        memset(tables[k], 0, sizeof tables[k]);
        left[k] = umbeli_tight_build_table(r, &b, hashes[k], n, marks[k], tables[k]);
    }
    assert_true(left[0] > 0 && left[0] < n / 5);
    assert_int_equal(left[0], left[1]);
    assert_memory_equal(hashes[0], hashes[1], left[0] * sizeof **hashes);
    assert_memory_equal(marks[0], marks[1], sizeof marks[0]);
    assert_memory_equal(tables[0], tables[1], sizeof tables[0]);
}

static void kernels_agree(void **state) {
    (void)state;
    umbeli_settings memory;
    umbeli_shape shape = {.hash = UMBEL_HASH_XXH3};
    assert_int_equal(umbeli_settings_from(NULL, &memory, NULL), UMBEL_OK);
    uint32_t seen[UMBELI_TIGHT_MAX_WINDOW] = {0};
    for (uint32_t width = 0; width <= 31; width++) {
        for (uint32_t wide = 0; wide < 2; wide++) {
            umbel_filter *f = NULL;
            umbeli_tight_layout l = {.levels = 2, .level = {{.blocks = 61}, {.blocks = 7}}};
            umbeli_tight_set_widths(&l, width, 23 * wide);
            assert_int_equal(umbeli_tight_new(&l, shape, &memory, &f, NULL), UMBEL_OK);
            same_table((umbeli_tight *)f, 4040);
            seen[umbeli_tight_window(&l) - 1]++;
            umbel_free(f);
        }
    }
    assert_true(seen[0] == 59 && seen[1] == 5);
}

/* Layouts that nobody would build, on payloads that nobody built. */
static void strange_layouts(void **state) {
    (void)state;
    uint32_t seen[UMBELI_TIGHT_MAX_WINDOW] = {0};
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t dice = check_key(9, i);
        umbeli_tight_layout l = {.levels = 1 + (uint32_t)(dice >> 40) % 3};
        for (uint32_t j = 0; j < l.levels; j++) {
            l.level[j] = (umbeli_tight_level){
                .shard_bits = j + 1 < l.levels ? (uint32_t)((dice >> (20 + 3 * j)) % 5) : 0,
                .blocks = 2 + (uint32_t)((dice >> (8 + 4 * j)) % (i % 2 ? 9 : 3)),
            };
        }
        umbeli_tight_set_widths(&l, (uint32_t)(i % 3 ? dice % 32 : dice % 3),
                                (uint32_t)((dice >> 28) % l.level[0].blocks));
        for (uint32_t j = 0; j < l.levels && i % 5 == 0 && l.width > 2; j++) {
            l.level[j].blocks = l.level[j].narrow = 1;
        }
        seen[umbeli_tight_window(&l) - 1]++;
        uint64_t len = umbeli_tight_len(&l);
        assert_true(len < 1 << 20);
        if (len == 0) continue;
        uint8_t *payload = malloc((size_t)len);
        assert_non_null(payload);
        for (uint64_t j = 0; j < len; j++) {
            payload[j] = i % 7 == 0 ? 0xff : (uint8_t)check_key(10 + i, j);
        }
        umbel_filter *f = NULL;
        assert_int_equal(make(&l, payload, len, &f), UMBEL_OK);
        assert_true(check_found(f, 2, 0, 300) <= 300);
        same_answers(f);
        const uint64_t ends[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
        for (size_t j = 0; j < 5; j++) (void)umbel_contains_hash(f, ends[j]);
        umbel_free(f);
        assert_int_equal(make(&l, payload, len - 1, &f), UMBEL_ECORRUPT);
        free(payload);
    }
    assert_true(seen[0] > 500 && seen[1] > 300);
}

static void refused_layouts(void **state) {
    (void)state;
    const umbeli_tight_layout bad[] = {
        {.width = 33, .levels = 2, .level = {{0, 1, 1}, {0, 1, 1}}},
        {.width = 32, .levels = 2, .level = {{0, 2, 1}, {0, 1, 0}}},
        {.width = 5, .levels = 2, .level = {{0, 2, 0}, {0, 1, 0}}},
        {.width = 5, .levels = 2, .level = {{25, 1, 1}, {0, 1, 1}}},
        {.width = 5, .levels = 2, .level = {{0, 0, 0}, {0, 1, 1}}},
        {.width = 5, .levels = 2, .level = {{0, 1, 1}, {0, 0, 1}}},
        {.width = 5, .levels = 2, .level = {{0, 1, 2}, {0, 1, 1}}},
        {.width = 5, .levels = 2, .level = {{0, (1 << 24) + 1, 1}, {0, 1, 1}}},
        {.width = 2, .levels = 2, .level = {{0, 1, 1}, {0, 2, 2}}}, /* less than a window */
        {.width = 2, .levels = 2, .level = {{0, 2, 2}, {0, 1, 1}}},
        {.width = 0, .levels = 1, .level = {{0, 3, 3}}},
        {.width = 31, .levels = 2, .level = {{24, 1 << 24, 1}, {24, 1 << 24, 0}}},
    };
    static const uint8_t payload[4096];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (uint64_t len = 0; len < sizeof payload; len += 8) {
            umbel_filter *f = NULL;
            assert_int_equal(make(&bad[i], payload, len, &f), UMBEL_ECORRUPT);
        }
    }
}

/* The parameters of 3 bits in one block are {3, 0, 1, seed}: everything near them is refused. */
static void refused_parameters(void **state) {
    (void)state;
    static const uint8_t payload[4096];
    umbel_filter *f = NULL;
    const uint8_t good[] = {3, 0, 1, 9};
    assert_int_equal(make_from(good, 4, payload, 24, &f), UMBEL_OK);
    umbel_free(f);
    assert_int_equal(make_from(good, 0, payload, 0, &f), UMBEL_OK);
    assert_false(umbel_contains(f, "x", 1));
    umbel_free(f);
    for (size_t len = 0; len < 4; len++) {
        assert_int_equal(make_from(good, len, payload, 24, &f), UMBEL_ECORRUPT);
        if (len) assert_int_equal(make_from(good, len, payload, 0, &f), UMBEL_ECORRUPT);
    }
    /* Numbers that are longer than they need be, or than a number can be. */
    for (uint32_t longer = 1; longer < 12; longer++) {
        uint8_t wide[PARAMS] = {3}, blocks[PARAMS] = {3, 0};
        uint8_t *end = put_number(put_number(wide + 1, 0, longer), 1, 0);
        *end++ = 9;
        assert_int_equal(make_from(wide, (size_t)(end - wide), payload, 24, &f), UMBEL_ECORRUPT);
        end = put_number(blocks + 2, 1, longer);
        *end++ = 9;
        assert_int_equal(make_from(blocks, (size_t)(end - blocks), payload, 24, &f),
                         UMBEL_ECORRUPT);
    }
    const uint8_t huge[] = {3, 0, 0x81, 0x80, 0x80, 0x80, 0x10, 9}; /* 2^32 + 1 */
    assert_int_equal(make_from(huge, sizeof huge, payload, 24, &f), UMBEL_ECORRUPT);
    /* Eight levels of one block each, and nine. */
    uint8_t levels[PARAMS] = {3, 0, 1, 9};
    for (size_t n = 2; n <= 9; n++) levels[3 * n - 1] = 1;
    assert_int_equal(make_from(levels, 25, payload, 8 + 8 * 24, &f), UMBEL_OK);
    umbel_free(f);
    assert_int_equal(make_from(levels, 28, payload, 8 + 9 * 24, &f), UMBEL_ECORRUPT);
    assert_int_equal(make_from(levels, 28, payload, 16 + 9 * 24, &f), UMBEL_ECORRUPT);
}

/* ---- hashes that are not random ----------------------------------------------------------- */

static umbel_err build_from(uint64_t n, uint64_t (*hash)(uint64_t), umbel_filter **out) {
    umbeli_settings memory;
    umbeli_shards shards;
    umbel_params params = {.fpr = 0.01};
    umbeli_shape shape = {.hash = UMBEL_HASH_XXH3};
    assert_int_equal(umbeli_settings_from(NULL, &memory, NULL), UMBEL_OK);
    assert_int_equal(umbeli_shards_begin(&shards, NULL, &memory, NULL), UMBEL_OK);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = hash(i);
        assert_int_equal(umbeli_store_add(shards.store, &x, 1, NULL), UMBEL_OK);
    }
    assert_int_equal(umbeli_shards_sort(&shards, NULL), UMBEL_OK);
    umbel_err e = umbeli_tight_build(&shards, &params, &shape, NULL, out, NULL);
    umbeli_shards_end(&shards);
    return e;
}

static uint64_t counted(uint64_t i) {
    return i;
}

static uint64_t crowded(uint64_t i) {
    return umbeli_tight_mix(i) >> 40;
}

static uint64_t upper(uint64_t i) {
    return i << 40;
}

/* Another seed scatters what lies in one place; where it cannot, building ends with an error. */
static void hashes_in_one_place(void **state) {
    (void)state;
    uint64_t (*const ways[])(uint64_t) = {counted, crowded, upper};
    const uint64_t sizes[] = {1000, 10000, 600000};
    for (size_t i = 0; i < 9; i++) {
        umbel_filter *f = NULL;
        uint64_t n = sizes[i / 3];
        umbel_err e = build_from(n, ways[i % 3], &f);
        assert_true(e == UMBEL_OK || e == UMBEL_EINVAL);
        assert_true(e == UMBEL_OK || i / 3 == 2);
        if (e) continue;
        for (uint64_t j = 0; j < n; j++) assert_true(umbel_contains_hash(f, ways[i % 3](j)));
        umbel_free(f);
    }
}

/* Keys key0, key1, ... and the files of another builder: tests/golden/native/make_tight.py. */
static void golden(void **state) {
    (void)state;
    golden_table t = golden_table_open("native/tight.tsv");
    while (golden_table_next(&t)) {
        unsigned long n = strtoul(t.column[0], NULL, 10);
        umbel_params params = {.kind = UMBEL_KIND_TIGHT,
                               .seed = strtoull(t.column[1], NULL, 10),
                               .fpr = strtod(t.column[2], NULL)};
        umbel_builder *b = NULL;
        umbel_filter *f = NULL, *theirs = NULL;
        assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
        for (unsigned long j = 0; j < n; j++) {
            char text[32];
            umbel_key key = {text, (size_t)snprintf(text, sizeof text, "key%lu", j)};
            assert_int_equal(umbel_builder_add(b, &key, 1, NULL), UMBEL_OK);
        }
        assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
        umbel_builder_free(b);
        umbel_foreign native = {.format = UMBEL_FMT_NATIVE};
        size_t len;
        uint8_t *bytes = golden_hex(t.column[3], &len);
        assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, &native, NULL, &theirs, NULL),
                         UMBEL_OK);
        check_same_bytes(f, theirs);
        umbel_free(f);
        free(bytes);
    }
    assert_int_equal(t.rows, 4);
    golden_table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(space),
        cmocka_unit_test(plans),
        cmocka_unit_test(refusals),
        cmocka_unit_test(promises_fall_with_bytes),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(strange_layouts),
        cmocka_unit_test(refused_layouts),
        cmocka_unit_test(refused_parameters),
        cmocka_unit_test(hashes_in_one_place),
        cmocka_unit_test(golden),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
