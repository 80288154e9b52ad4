/* SPDX-License-Identifier: MIT
 *
 * test_probes.c - the bits that umbel_probes names are those that an add sets and a lookup reads
 */
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "core/filter.h"
#include "every_format.h"
#include "kind/chain/chain.h"
#include "umbel_experimental.h"

enum { KEYS = 200, MAX_PROBES = 1024 };

static const uint8_t secret[] = "sixteen bytes it";

/* Keys of 4 bytes, which every format takes. */
static void key_of(uint32_t i, uint8_t key[4]) {
    uint32_t mixed = (i + 1) * UINT32_C(2654435761);
    memcpy(key, &mixed, 4);
}

static void set_bit(uint8_t *bits, uint64_t i) {
    bits[i / 8] |= (uint8_t)(1u << i % 8);
}

/* After each add into an empty filter its data is what the probes say, and nothing else. */
static void names_what_add_sets(const any_params *params) {
    umbel_filter *f = NULL;
    assert_ok(any_create(params, NULL, &f, NULL));
    umbel_info info = described(f);
    uint8_t *expected = malloc((size_t)f->data_len);
    assert_non_null(expected);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint8_t key[4];
        uint64_t bits[MAX_PROBES];
        key_of(i, key);
        memset(expected, 0, (size_t)f->data_len);
        size_t n = umbel_probes(f, key, 4, bits, MAX_PROBES);
        assert_true(n == info.hashes && n > 0);
        for (size_t j = 0; j < n; j++) {
            assert_true(bits[j] < info.bits);
            set_bit(expected, bits[j]);
        }
        assert_ok(umbel_add(f, key, 4, NULL, NULL));
        assert_memory_equal(f->data, expected, (size_t)f->data_len);
        uint64_t again[MAX_PROBES];
        assert_true(umbel_probes(f, key, 4, again, MAX_PROBES) == n);
        assert_memory_equal(again, bits, n * sizeof *bits);
        assert_ok(umbel_clear(f, NULL));
    }
    free(expected);
    umbel_free(f);
}

/* Filters of a fixed size that keys are added to: neither chains of layers nor built once. */
static bool is_one_table(umbel_kind kind) {
    umbel_traits traits;
    assert_true(umbel_kind_traits(kind, &traits));
    return !traits.built_once && !traits.grows && !traits.forgets;
}

static void native_kinds(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_AUTO + 1; umbel_kind_name(kind); kind++) {
        if (!is_one_table(kind)) continue;
        any_params p = {.native = {.kind = kind, .capacity = 1000, .fpr = 0.01, .seed = 7}};
        names_what_add_sets(&p);
        p.secret = secret;
        names_what_add_sets(&p);
    }
    any_params concurrent = {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 32, .concurrent = 1}};
    names_what_add_sets(&concurrent);
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 2) {
        any_params line = {.native = {.kind = UMBEL_KIND_LINE, .bytes = 640, .hashes = lanes}};
        names_what_add_sets(&line);
    }
    any_params many = {.native = {.kind = UMBEL_KIND_CLASSIC, .bytes = 4096, .hashes = 1024}};
    names_what_add_sets(&many);
}

static void foreign_formats(void **state) {
    (void)state;
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, 1000, 0.01);
    for (size_t i = 0; i < count; i++) {
        if (forms[i].about.takes & UMBEL_FIELD_EXPANSION)
            continue; /* a chain of layers: see below */
        any_params p = {.foreign = forms[i].made};
        names_what_add_sets(&p);
    }
}

/* No bit of a static filter belongs to one key, but each of the named slots decides about the key:
 * with its first bit flipped the key is gone. */
static void static_slots(void **state) {
    (void)state;
    uint8_t bytes[KEYS][4];
    umbel_key keys[KEYS];
    for (uint32_t i = 0; i < KEYS; i++) {
        key_of(i, bytes[i]);
        keys[i] = (umbel_key){bytes[i], 4};
    }
    for (uint32_t arity = 3; arity <= 4; arity++) {
        umbel_params p = {.kind = UMBEL_KIND_STATIC, .fpr = 0.001, .hashes = arity};
        umbel_filter *f = NULL;
        assert_ok(build_from(&p, NULL, keys, KEYS, &f, NULL));
        for (uint32_t i = 0; i < KEYS; i++) {
            uint64_t bits[4];
            assert_int_equal(umbel_probes(f, bytes[i], 4, bits, 4), arity);
            assert_true(umbel_contains(f, bytes[i], 4));
            for (uint32_t j = 0; j < arity; j++) {
                f->data[bits[j] / 8] ^= (uint8_t)(1u << bits[j] % 8);
                assert_false(umbel_contains(f, bytes[i], 4));
                f->data[bits[j] / 8] ^= (uint8_t)(1u << bits[j] % 8);
            }
        }
        umbel_free(f);
    }
    umbel_params none = {.kind = UMBEL_KIND_STATIC, .fpr = 0.001};
    umbel_filter *empty = NULL;
    assert_ok(build_from(&none, NULL, NULL, 0, &empty, NULL));
    assert_int_equal(umbel_probes(empty, "ada", 3, NULL, 0), 0);
    umbel_free(empty);
}

/* In tight and exact filters the parities of the named bits decide: with any one of them flipped the
 * key is gone. */
static void parities_of(umbel_kind kind) {
    enum { MANY = 5000, ROOM = 2048 }; /* two levels, at 40% with windows of 128 slots */
    static uint8_t bytes[MANY][4];
    static umbel_key keys[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        key_of(i, bytes[i]);
        keys[i] = (umbel_key){bytes[i], 4};
    }
    const double rates[] = {0.4, 0.01, 1e-7};
    for (size_t r = 0; r < 2 * sizeof rates / sizeof *rates; r++) {
        umbel_params p = {.kind = kind, .fpr = rates[r / 2], .seed = 7};
        umbel_filter *f = NULL;
        umbel_info info;
        assert_ok(build_from(&p, NULL, keys, r % 2 ? MANY : KEYS, &f, NULL));
        umbel_describe(f, &info);
        for (uint32_t i = 0; i < KEYS; i++) {
            uint64_t bits[ROOM];
            size_t n = umbel_probes(f, bytes[i], 4, bits, ROOM);
            assert_in_range(n, 1, ROOM);
            assert_true(umbel_contains(f, bytes[i], 4));
            for (size_t j = 0; j < n; j++) {
                assert_true(bits[j] < info.bits);
                f->data[bits[j] / 8] ^= (uint8_t)(1u << bits[j] % 8);
                assert_false(umbel_contains(f, bytes[i], 4));
                f->data[bits[j] / 8] ^= (uint8_t)(1u << bits[j] % 8);
            }
        }
        umbel_free(f);
    }
    umbel_params none = {.kind = kind, .fpr = 0.001};
    umbel_filter *empty = NULL;
    assert_ok(build_from(&none, NULL, NULL, 0, &empty, NULL));
    assert_int_equal(umbel_probes(empty, "ada", 3, NULL, 0), 0);
    umbel_free(empty);
}

static void parities(void **state) {
    (void)state;
    parities_of(UMBEL_KIND_TIGHT);
    parities_of(UMBEL_KIND_EXACT);
}

/* A chain names the bits of every layer; a key that was added has all of them set in one. */
static void chains(void **state) {
    (void)state;
    const any_params growing[] = {
        {.native = {.kind = UMBEL_KIND_SCALABLE,
                    .bytes = 4096,
                    .fpr = 0.01,
                    .scalable = {.expansion = 2}}},
        {.native = {.kind = UMBEL_KIND_WINDOW, .capacity = 4000, .fpr = 0.01}},
        {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 50, .fpr = 0.01}},
    };
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++) {
        umbel_filter *f = NULL;
        umbel_info info;
        uint8_t key[4];
        assert_ok(any_create(&growing[i], NULL, &f, NULL));
        for (uint32_t k = 0; k < 3000; k++) {
            key_of(k, key);
            assert_ok(umbel_add(f, key, 4, NULL, NULL));
        }
        umbel_describe(f, &info);
        assert_true(info.layers > 1);
        for (uint32_t k = 2000; k < 3000; k++) { /* the window has forgotten older ones */
            uint64_t bits[MAX_PROBES], at = 0;
            key_of(k, key);
            size_t n = umbel_probes(f, key, 4, bits, MAX_PROBES), p = 0;
            const umbeli_chain *c = umbeli_chain_of(f);
            bool found = false;
            for (uint32_t l = 0; l < c->count; l++) {
                bool all = true;
                for (uint32_t h = 0; h < c->layers[l].hashes; h++, p++) {
                    assert_true(bits[p] >= 8 * at && bits[p] < 8 * (at + c->layers[l].bytes));
                    uint64_t left = 0;
                    const uint8_t *byte = umbeli_filter_run(f, bits[p] / 8, &left);
                    assert_non_null(byte);
                    all = all && (*byte >> bits[p] % 8 & 1);
                }
                found = found || all;
                at += c->layers[l].bytes;
            }
            assert_int_equal(p, n);
            assert_true(found);
        }
        umbel_free(f);
    }
}

/* Packed hashes are named by where they would be. */
static void packed_layers(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    umbel_info info;
    uint64_t bits[MAX_PROBES];
    umbel_params params = {.kind = UMBEL_KIND_SCALABLE, .bytes = 4096, .fpr = 0.01};
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (uint32_t k = 0; k < 9000; k++) assert_ok(umbel_add(f, &k, sizeof k, NULL, NULL));
    umbel_describe(f, &info);
    assert_true(info.layers > 1);
    size_t n = umbel_probes(f, "ada", 3, bits, MAX_PROBES);
    assert_in_range(n, 2, 8 * info.layers);
    for (size_t i = 0; i < n; i++) assert_true(bits[i] < info.bits);
    umbel_free(f);
}

/* The vectors of docs/formats/native-kinds.md. */
static void line_vectors(void **state) {
    (void)state;
    static const struct {
        uint64_t seed, lines, line;
        const char *key;
        uint64_t bits[16];
        uint32_t lanes;
    } vectors[] = {
        {0, 1000, 410, "ada", {119, 140, 380, 460}, 4},
        {0, 1000, 410, "ada", {59, 70, 190, 230, 298, 326, 399, 508}, 8},
        {0,
         1000,
         410,
         "ada",
         {29, 35, 95, 115, 149, 163, 199, 254, 268, 301, 333, 383, 404, 430, 457, 505},
         16},
        {0x2a, 1000000, 511014, "https://example.org/", {57, 110, 129, 245, 266, 332, 399, 489}, 8},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        any_params p = {.native = {.kind = UMBEL_KIND_LINE,
                                   .bytes = 64 * vectors[i].lines,
                                   .hashes = vectors[i].lanes,
                                   .seed = vectors[i].seed}};
        umbel_filter *f = NULL;
        uint64_t bits[MAX_PROBES];
        assert_ok(any_create(&p, NULL, &f, NULL));
        size_t n = umbel_probes(f, vectors[i].key, strlen(vectors[i].key), bits, MAX_PROBES);
        assert_int_equal(n, vectors[i].lanes);
        for (size_t j = 0; j < n; j++) {
            assert_true(bits[j] == 512 * vectors[i].line + vectors[i].bits[j]);
        }
        umbel_free(f);
    }
}

/* No more than cap are written, and the full number is still returned. */
static void little_room(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_AUTO + 1; umbel_kind_name(kind); kind++) {
        if (!is_one_table(kind)) continue;
        any_params p = {.native = {.kind = kind, .capacity = 1000, .fpr = 0.01}};
        umbel_filter *f = NULL;
        assert_ok(any_create(&p, NULL, &f, NULL));
        uint64_t all[MAX_PROBES], few[3] = {0, 0, 99};
        size_t n = umbel_probes(f, "ada", 3, all, MAX_PROBES);
        assert_true(umbel_probes(f, "ada", 3, NULL, 0) == n);
        assert_true(umbel_probes(f, "ada", 3, few, 2) == n);
        assert_true(few[0] == all[0]);
        assert_true(few[1] == all[1]);
        assert_true(few[2] == 99);
        umbel_free(f);
    }
}

/* A key that the format has no bits for. */
static void other_length(void **state) {
    (void)state;
    umbel_foreign badger = {.format = UMBEL_FMT_BADGER, .capacity = 1000, .bits_per_key = 10};
    umbel_filter *f = NULL;
    assert_ok(umbel_create_foreign(&badger, NULL, &f, NULL));
    uint64_t bits[MAX_PROBES];
    assert_int_equal(umbel_probes(f, "ada", 3, bits, MAX_PROBES), 0);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_kinds), cmocka_unit_test(foreign_formats),
        cmocka_unit_test(static_slots), cmocka_unit_test(parities),
        cmocka_unit_test(chains),       cmocka_unit_test(packed_layers),
        cmocka_unit_test(line_vectors), cmocka_unit_test(little_room),
        cmocka_unit_test(other_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
