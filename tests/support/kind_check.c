/* SPDX-License-Identifier: MIT */
#include "kind_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/bits.h"
#include "core/cpu.h"
#include "hash/xxh.h"
#include "random_keys.h"
#include "umbel_foreign.h"

enum { BATCH = 1000 };

uint64_t check_seed(void) {
    static uint64_t seed;
    static bool known;
    if (known) return seed;
    const char *given = getenv("UMBEL_TEST_SEED");
    seed =
        given ? strtoull(given, NULL, 0) : 20261115; /* limits of chance: the same seed every run */
    known = true;
    printf("# UMBEL_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

uint64_t check_key(uint64_t stream, uint64_t i) {
    /* Bijective in i + 2^40 * stream: keys are distinct. */
    return random_mix(i + (stream << 40) + check_seed() * UINT64_C(0x9e3779b97f4a7c15));
}

static size_t batch_of(uint64_t stream, uint64_t from, uint64_t n, uint64_t *numbers,
                       umbel_key *keys) {
    size_t some = n < BATCH ? (size_t)n : BATCH;
    for (size_t i = 0; i < some; i++) {
        numbers[i] = check_key(stream, from + i);
        keys[i] = (umbel_key){&numbers[i], sizeof numbers[i]};
    }
    return some;
}

uint64_t check_add(umbel_filter *f, uint64_t stream, uint64_t from, uint64_t n) {
    uint64_t numbers[BATCH], added = 0;
    umbel_key keys[BATCH];
    uint8_t was_new[BATCH];
    for (uint64_t i = 0; i < n; i += BATCH) {
        size_t some = batch_of(stream, from + i, n - i, numbers, keys);
        assert_int_equal(umbel_add_many(f, keys, some, was_new, NULL, NULL), UMBEL_OK);
        for (size_t j = 0; j < some; j++) added += was_new[j];
    }
    return added;
}

uint64_t check_found(const umbel_filter *f, uint64_t stream, uint64_t from, uint64_t n) {
    uint64_t numbers[BATCH], found = 0;
    umbel_key keys[BATCH];
    uint8_t hit[BATCH];
    for (uint64_t i = 0; i < n; i += BATCH) {
        size_t some = batch_of(stream, from + i, n - i, numbers, keys);
        umbel_contains_many(f, keys, some, hit);
        for (size_t j = 0; j < some; j++) {
            found += hit[j];
            if (j % 16 == 0) assert_int_equal(umbel_contains(f, keys[j].data, 8), hit[j]);
        }
    }
    return found;
}

void check_rate(const umbel_filter *f, uint64_t stream, uint64_t n, double promise,
                double expected) {
    double seen = (double)check_found(f, stream, 0, n), asked = (double)n;
    double limit = asked * promise + 5 * sqrt(asked * promise) + 5;
    if (seen > limit) fail_msg("%g of %g found, at most %g were promised", seen, asked, limit);
    if (expected == 0) return;
    double mean = asked * expected, off = 5 * sqrt(mean) + 5;
    if (fabs(seen - mean) > off) fail_msg("%g of %g found, not %g+-%g", seen, asked, mean, off);
}

umbel_filter *check_create(umbel_params params) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = ""};
    umbel_err e = umbel_create(&params, NULL, &f, &diag);
    if (e) fail_msg("create: %s: %s", umbel_err_name(e), sentence(&diag));
    return f;
}

void check_kernels_agree(umbel_params params) {
    umbel_filter *best = check_create(params);
    umbeli_cpu_limit(0);
    umbel_filter *plain = check_create(params);
    umbeli_cpu_limit(UINT32_MAX);
    umbel_info info;
    umbel_describe(plain, &info);
    assert_string_equal(info.kernel, "generic");
    assert_int_equal(check_add(best, 1, 0, 30000), check_add(plain, 1, 0, 30000));
    assert_true(umbel_equal(best, plain));
    assert_int_equal(check_found(best, 2, 0, 30000), check_found(plain, 2, 0, 30000));
    umbel_free(best);
    umbel_free(plain);
}

static void *take(void *ctx, size_t size) {
    check_memory *m = ctx;
    if (m->calls++ == m->fails) return NULL;
    m->out++;
    return malloc(size);
}

static void give_back(void *ctx, void *ptr) {
    check_memory *m = ctx;
    m->out--;
    free(ptr);
}

umbel_alloc check_alloc(check_memory *m) {
    return (umbel_alloc){.alloc = take, .free = give_back, .ctx = m};
}

typedef struct file {
    uint8_t *bytes;
    size_t len;
} file;

static file file_of(const umbel_filter *f) {
    file x = {.len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE)};
    assert_true(x.len > 0);
    x.bytes = malloc(x.len);
    assert_non_null(x.bytes);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, x.bytes, x.len, NULL), UMBEL_OK);
    return x;
}

void check_same_bytes(const umbel_filter *a, umbel_filter *b) {
    size_t len = (size_t)umbel_encoded_size(a, UMBEL_FMT_NATIVE);
    assert_int_equal(len, umbel_encoded_size(b, UMBEL_FMT_NATIVE));
    uint8_t *x = malloc(len), *y = malloc(len);
    assert_true(x && y);
    assert_int_equal(umbel_encode(a, UMBEL_FMT_NATIVE, x, len, NULL), UMBEL_OK);
    assert_int_equal(umbel_encode(b, UMBEL_FMT_NATIVE, y, len, NULL), UMBEL_OK);
    if (memcmp(x, y, len) != 0) fail_msg("the bytes differ");
    free(x);
    free(y);
    umbel_free(b);
}

void check_round_trip(const umbel_filter *f) {
    file x = file_of(f);
    umbel_filter *made[3] = {NULL};
    umbel_diag diag = {.what = ""};
    if (umbel_decode(x.bytes, x.len, UMBEL_LOAD, NULL, NULL, &made[0], &diag))
        fail_msg("%s", sentence(&diag));
    assert_int_equal(umbel_decode(x.bytes, x.len, UMBEL_MAP,
                                  &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, NULL, &made[1],
                                  NULL),
                     UMBEL_OK);
    assert_int_equal(umbel_decode(x.bytes, x.len, UMBEL_VERIFY,
                                  &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, NULL, NULL, NULL),
                     UMBEL_OK);
    assert_int_equal(umbel_copy(f, &made[2], NULL), UMBEL_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(umbel_equal(f, made[i]));
        assert_true(keys_added(f) == keys_added(made[i]));
        file again = file_of(made[i]);
        assert_int_equal(again.len, x.len);
        assert_memory_equal(again.bytes, x.bytes, x.len);
        free(again.bytes);
        umbel_info a, b;
        umbel_describe(f, &a);
        umbel_describe(made[i], &b);
        assert_true(a.capacity == b.capacity && a.layers == b.layers);
        umbel_measurement now = measured(f), then = measured(made[i]);
        assert_true(now.rate == then.rate && now.bits_set == then.bits_set);
        for (uint64_t k = 0; k < 2000; k++) {
            uint64_t key = check_key(k % 7, k);
            assert_int_equal(umbel_contains(f, &key, 8), umbel_contains(made[i], &key, 8));
        }
    }
    for (int i = 0; i < 3; i++) umbel_free(made[i]);
    free(x.bytes);
}

void check_goes_on(umbel_filter *f, uint64_t from, uint64_t n) {
    const umbel_foreign native = {.format = UMBEL_FMT_NATIVE};
    file x = file_of(f);
    umbel_filter *read = NULL, *view = NULL;
    assert_int_equal(umbel_decode(x.bytes, x.len, UMBEL_LOAD, &native, NULL, &read, NULL),
                     UMBEL_OK);
    assert_int_equal(umbel_decode(x.bytes, x.len, UMBEL_MAP, &native, NULL, &view, NULL), UMBEL_OK);
    assert_int_equal(umbel_add(view, "x", 1, NULL, NULL), UMBEL_EFROZEN);
    umbel_info info;
    umbel_describe(view, &info);
    assert_int_equal(umbel_advance(view, NULL), info.generations ? UMBEL_EFROZEN : UMBEL_ENOTSUP);
    assert_int_equal(check_add(f, 1, from, n), check_add(read, 1, from, n));
    assert_true(umbel_equal(f, read));
    umbel_free(view);
    umbel_free(read);
    free(x.bytes);
}

static void refuses(const uint8_t *bytes, size_t len) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = NULL};
    umbel_err e = umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                               NULL, &f, &diag);
    assert_true(e == UMBEL_ECORRUPT || e == UMBEL_EVERSION);
    assert_non_null(diag.what);
    assert_null(f);
}

/* Whatever the header says: refused, or a filter on which every operation is harmless. */
static void survives(const uint8_t *bytes, size_t len) {
    const umbel_opts opts = {.max_bytes = 1 << 24};
    for (int way = 0; way < 2; way++) {
        umbel_filter *f = NULL;
        umbel_err e =
            way ? umbel_decode(bytes, len, UMBEL_MAP, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                               &opts, &f, NULL)
                : umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                               &opts, &f, NULL);
        assert_true(e == UMBEL_OK || e == UMBEL_ECORRUPT || e == UMBEL_EVERSION ||
                    e == UMBEL_ELIMIT);
        assert_int_equal(e == UMBEL_OK, f != NULL);
        if (e) continue;
        umbel_info info;
        umbel_describe(f, &info);
        (void)measured(f);
        for (uint64_t i = 0; i < 300; i++) {
            uint64_t key = check_key(1, i);
            (void)umbel_contains(f, &key, 8);
            (void)umbel_count(f, &key, 8);
            (void)umbel_add(f, &key, 8, NULL, NULL);
            if (i % 3 == 0) (void)umbel_remove(f, &key, 8, NULL);
        }
        file again = file_of(f);
        free(again.bytes);
        umbel_free(f);
    }
}

static void forge(file x, size_t at, size_t width, uint64_t value) {
    uint32_t header = umbeli_load_le32(x.bytes + 12);
    uint8_t *copy = malloc(x.len);
    assert_non_null(copy);
    memcpy(copy, x.bytes, x.len);
    for (size_t i = 0; i < width; i++) copy[at + i] = (uint8_t)(value >> (8 * i));
    umbeli_store_le64(copy + header - 8, umbeli_xxh3_64(copy, header - 8, 0));
    /* The trailer's own sum is seeded with the header's. */
    uint64_t sums =
        x.len - 8 - (uint64_t)umbeli_load_le64(x.bytes + 96) - umbeli_load_le64(x.bytes + 104);
    umbeli_store_le64(copy + x.len - 8, umbeli_xxh3_64(copy + x.len - 8 - sums, (size_t)sums,
                                                       umbeli_load_le64(copy + header - 8)));
    survives(copy, x.len);
    free(copy);
}

void check_bad_files(const umbel_filter *f) {
    file x = file_of(f);
    size_t header = umbeli_load_le32(x.bytes + 12),
           payload = (size_t)umbeli_load_le64(x.bytes + 96);
    for (size_t len = 0; len < x.len; len += len < header || len > payload ? 1 : 97) {
        uint8_t *part = malloc(len + 1); /* its own block, so that overruns are detected */
        assert_non_null(part);
        memcpy(part, x.bytes, len);
        refuses(part, len);
        free(part);
    }
    for (size_t at = 0; at < x.len; at += at < header ? 1 : 53) {
        x.bytes[at] ^= 0x10;
        refuses(x.bytes, x.len);
        x.bytes[at] ^= 0x10;
    }
    for (size_t at = 16; at + 12 < header; at += 4) {
        uint32_t was = umbeli_load_le32(x.bytes + at);
        const uint32_t lies[] = {0, 1, 2, was - 1, was + 1, 2 * was, was ^ 0x80000000, UINT32_MAX};
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) forge(x, at, 4, lies[i]);
        if (at % 8 == 0) {
            forge(x, at, 8, UINT64_MAX);
            forge(x, at, 8, UINT64_C(1) << 63);
            forge(x, at, 8, (UINT64_C(1) << 59) + was);
        }
    }
    free(x.bytes);
}
