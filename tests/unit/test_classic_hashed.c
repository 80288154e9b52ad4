/* SPDX-License-Identifier: MIT
 *
 * test_classic_hashed.c - classic filters give the same bits and answers by hash as by key, in batches
 * as one by one, and on every processor
 */
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "core/cpu.h"
#include "hash/native_hash.h"
#include "kind/classic/classic.h"
#include "random_keys.h"
#include "umbel_foreign.h"

static void same_answers(umbel_params params, const uint8_t *secret) {
    umbel_filter *f = NULL;
    params.kind = UMBEL_KIND_CLASSIC;
    assert_ok(umbel_create(&params, &(umbel_opts){.secret = secret}, &f, NULL));
    key_set in = random_keys((size_t)params.capacity, 1), other = random_keys(3001, 2);
    assert_ok(umbel_add_many(f, in.keys, in.n, NULL, NULL, NULL));
    for (size_t i = 0; i < other.n; i += 2) other.keys[i] = in.keys[i % in.n];
    umbeli_hash128 *hashes = malloc(other.n * sizeof *hashes);
    uint8_t *hit = malloc(other.n);
    assert_true(hashes && hit);
    for (size_t i = 0; i < other.n; i++) {
        hashes[i] = umbeli_native_hash128(&f->shape, other.keys[i].data, other.keys[i].len);
    }
    umbeli_classic_bits bits = {f->data, f->shape.bits, f->shape.hashes};
    umbeli_classic_contains_hashed(bits, hashes, other.n, hit);
    size_t found = 0;
    for (size_t i = 0; i < other.n; i++) {
        assert_int_equal(hit[i], umbel_contains(f, other.keys[i].data, other.keys[i].len));
        found += hit[i];
    }
    assert_in_range(found, other.n / 2, other.n - 1);
    free(hashes);
    free(hit);
    free_keys(&in);
    free_keys(&other);
    umbel_free(f);
}

static void test_same_answers(void **state) {
    (void)state;
    static const uint8_t secret[16] = "sixteen letters";
    static const uint64_t keys[] = {1, 100, 20000, 300000}; /* the last: beyond the plain loop */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        same_answers((umbel_params){.capacity = keys[i], .fpr = 0.03}, NULL);
        same_answers((umbel_params){.capacity = keys[i], .fpr = 0.4, .seed = 7}, NULL);
        same_answers((umbel_params){.capacity = keys[i], .fpr = 1e-6}, secret);
    }
}

/* Beyond the caches, batches go in more stages; half of the bits are set, so each stage decides
 * something. */
static void test_same_answers_beyond_caches(void **state) {
    (void)state;
    static const uint32_t hashes[] = {1, 2, 3, 4, 7};
    key_set in = random_keys(2000, 5), other = random_keys(4001, 6);
    for (size_t i = 0; i < other.n; i += 2) other.keys[i] = in.keys[i % in.n];
    for (size_t k = 0; k < sizeof hashes / sizeof *hashes; k++) {
        umbel_params params = {
            .kind = UMBEL_KIND_CLASSIC, .bytes = (33 << 20) + 1, .hashes = hashes[k]};
        umbel_filter *f = NULL;
        assert_ok(umbel_create(&params, NULL, &f, NULL));
        memset(f->data, 0x5a, (size_t)f->data_len);
        assert_ok(umbel_add_many(f, in.keys, in.n, NULL, NULL, NULL));
        for (size_t n = other.n; n > 0; n /= 3) {
            uint8_t hit[4001];
            umbel_contains_many(f, other.keys, n, hit);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(hit[i], umbel_contains(f, other.keys[i].data, other.keys[i].len));
                if (i % 2 == 0) assert_int_equal(hit[i], 1);
            }
        }
        umbel_free(f);
    }
    free_keys(&in);
    free_keys(&other);
}

/* Adds by hash set the same bits and say the same about them as adds by key. */
static void test_same_adds(void **state) {
    (void)state;
    static const uint64_t keys[] = {1, 100, 20000, 300000};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .capacity = keys[i], .fpr = 0.03};
        umbel_filter *by_key = NULL, *by_hash = NULL;
        assert_ok(umbel_create(&params, NULL, &by_key, NULL));
        assert_ok(umbel_create(&params, NULL, &by_hash, NULL));
        key_set in = random_keys((size_t)keys[i] + 7, 3);
        for (size_t k = 0; k < 7; k++) in.keys[keys[i] + k] = in.keys[k % keys[i]]; /* come again */
        umbeli_hash128 *hashes = malloc(in.n * sizeof *hashes);
        uint8_t *want = malloc(in.n), *got = malloc(in.n);
        assert_true(hashes);
        assert_true(want);
        assert_true(got);
        for (size_t k = 0; k < in.n; k++) {
            hashes[k] = umbeli_native_hash128(&by_hash->shape, in.keys[k].data, in.keys[k].len);
        }
        umbeli_classic_bits bits = {by_hash->data, by_hash->shape.bits, by_hash->shape.hashes};
        assert_ok(umbel_add_many(by_key, in.keys, in.n, want, NULL, NULL));
        assert_int_equal(umbeli_classic_add_hashed(bits, hashes, in.n, got), keys_added(by_key));
        assert_memory_equal(want, got, in.n);
        assert_true(umbel_equal(by_key, by_hash));
        free(hashes);
        free(want);
        free(got);
        free_keys(&in);
        umbel_free(by_key);
        umbel_free(by_hash);
    }
}

/* In a filter this full, keys of one batch share bits, so which is called new depends on the order
 * in which bits are set. */
static void same_as_one_by_one(uint64_t bytes, uint32_t hashes, size_t n) {
    umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .bytes = bytes, .hashes = hashes};
    umbel_filter *alone = NULL;
    assert_ok(umbel_create(&params, NULL, &alone, NULL));
    key_set in = random_keys(n, 4);
    for (size_t i = 0; i < n; i += 5) in.keys[i] = in.keys[random_below(n)];
    uint8_t *want = malloc(n + 1), *got = malloc(n + 1);
    assert_true(want && got);
    for (size_t i = 0; i < n; i++) {
        bool was_new;
        assert_ok(umbel_add(alone, in.keys[i].data, in.keys[i].len, &was_new, NULL));
        want[i] = was_new;
    }
    static const uint32_t cpus[] = {UINT32_MAX, 0};
    for (size_t way = 0; way < 4; way++) {
        umbel_filter *batch = NULL;
        uint8_t *answers = way & 1 ? NULL : got;
        assert_ok(umbel_create(&params, NULL, &batch, NULL));
        umbeli_cpu_limit(cpus[way / 2]);
        assert_ok(umbel_add_many(batch, in.keys, n, answers, NULL, NULL));
        umbeli_cpu_limit(UINT32_MAX);
        if (answers) assert_memory_equal(want, answers, n);
        assert_int_equal(keys_added(batch), keys_added(alone));
        assert_true(umbel_equal(alone, batch));
        umbel_free(batch);
    }
    free(want);
    free(got);
    free_keys(&in);
    umbel_free(alone);
}

static void test_batches_as_one_by_one(void **state) {
    (void)state;
    for (uint32_t hashes = 1; hashes <= 40; hashes++) {
        same_as_one_by_one(1 + random_below(60), hashes, random_below(40));
        same_as_one_by_one(200 * hashes, hashes, 1500 + random_below(1000));
    }
    same_as_one_by_one(1 << 16, UMBELI_CLASSIC_MAX_HASHES, 700);
    same_as_one_by_one(1 << 21, 7, 3000); /* fetched ahead */
    same_as_one_by_one(1 << 21, 9, 3000);
    same_as_one_by_one((1 << 26) + 1, 10, 3000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_same_answers_beyond_caches),
        cmocka_unit_test(test_same_adds),
        cmocka_unit_test(test_batches_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
