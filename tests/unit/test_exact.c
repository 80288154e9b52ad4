/* SPDX-License-Identifier: MIT
 *
 * test_exact.c - exact filters: no known key is answered wrongly, in little more than the least bits
 *
 * labels: once
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/cpu.h"
#include "golden.h"
#include "kind_check.h"
#include "native_file.h"
#include "umbel_plan.h"

/* Members are keys 0 to members - 1 of one stream, the others those of the next.  The first `both`
 * members are told of as others, too, and everything comes `times` times. */
typedef struct universe {
    uint64_t stream, members, others, both;
    uint64_t times;
} universe;

typedef umbel_err taker(umbel_builder *b, const umbel_key *keys, size_t n, umbel_diag *diag);

static void tell(umbel_builder *b, taker *take, uint64_t stream, uint64_t n) {
    enum { BATCH = 1000 };
    for (uint64_t i = 0; i < n; i += BATCH) {
        uint64_t numbers[BATCH];
        umbel_key keys[BATCH];
        size_t some = n - i < BATCH ? (size_t)(n - i) : BATCH;
        for (size_t j = 0; j < some; j++) {
            numbers[j] = check_key(stream, i + j);
            keys[j] = (umbel_key){&numbers[j], 8};
        }
        assert_int_equal(take(b, keys, some, NULL), UMBEL_OK);
    }
}

static umbel_filter *built(const universe *u, umbel_params params, const umbel_opts *opts) {
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    umbel_build_report report;
    params.kind = UMBEL_KIND_EXACT;
    assert_int_equal(umbel_builder_new(&params, opts, &b, NULL), UMBEL_OK);
    for (uint64_t i = 0; i < u->times; i++) {
        tell(b, umbel_builder_never, u->stream + 1, u->others);
        tell(b, umbel_builder_never, u->stream, u->both);
    }
    for (uint64_t i = 0; i < u->times; i++) tell(b, umbel_builder_add, u->stream, u->members);
    assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
    umbel_builder_report(b, &report);
    assert_int_equal(report.never, u->others + u->both);
    assert_int_equal(report.members, u->both);
    umbel_builder_free(b);
    return f;
}

/* The logarithm of the number of ways to choose the members from all known keys. */
static double least_bits(const universe *u) {
    double r = (double)u->members, n = (double)u->others;
    return (lgamma(r + n + 1) - lgamma(r + 1) - lgamma(n + 1)) / log(2);
}

static void all_right(const umbel_filter *f, const universe *u) {
    assert_int_equal(check_found(f, u->stream, 0, u->members), u->members);
    assert_int_equal(check_found(f, u->stream + 1, 0, u->others), 0);
    umbel_info info = described(f);
    assert_int_equal(info.kind, UMBEL_KIND_EXACT);
    assert_int_equal(info.keys_added, u->members);
    assert_int_equal(info.universe, u->others);
}

/* From 0 to 10^low members, and as many others at another size. */
static universe any_universe(uint64_t i) {
    uint64_t dice = check_key(77, i);
    universe u = {.stream = 1000 + 2 * i, .times = 1 + i % 3 / 2};
    u.members = i % 10 == 0 ? 0 : (uint64_t)pow(10, (double)(dice % 1000) / 1000 * 4.7);
    u.others = i % 10 == 1 ? 0 : (uint64_t)pow(10, (double)(dice / 1000 % 1000) / 1000 * 5.3);
    u.both = dice / 1000000 % (u.members + 1) / (1 + i % 5);
    return u;
}

static void hundred_universes(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        universe u = any_universe(i);
        umbel_params params = {.seed = i % 2 ? check_key(78, i) : 0, .fpr = i % 4 == 3 ? 1e-4 : 0};
        umbel_filter *f = built(&u, params, NULL);
        all_right(f, &u);
        umbel_measurement now = measured(f);
        check_rate(f, 5, 200000, now.rate, u.members >= 1000 ? now.rate : 0);
        assert_true(params.fpr == 0 || now.rate <= params.fpr);
        umbel_free(f);
    }
}

static void close_to_the_bound(void **state) {
    (void)state;
    const universe some[] = {
        {.stream = 1, .members = 10000, .others = 200000},
        {.stream = 3, .members = 20000, .others = 640000}, /* the worst ratio */
        {.stream = 5, .members = 10000, .others = 3000000},
        {.stream = 7, .members = 30000, .others = 615000},
        {.stream = 9, .members = 100000, .others = 1900000},
        {.stream = 11, .members = 50000, .others = 3200000},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        universe u = some[i];
        u.times = 1;
        umbel_filter *f = built(&u, (umbel_params){0}, NULL);
        all_right(f, &u);
        double bits = (double)described(f).bits, ratio = bits / least_bits(&u);
        printf("# %6llu of %8llu: %.3f bits per member, %.4f times the least\n",
               (unsigned long long)u.members, (unsigned long long)(u.members + u.others),
               bits / (double)u.members, ratio);
        assert_true(ratio <= 1.10);
        umbel_free(f);
    }
}

static const universe few = {.stream = 31, .members = 40, .others = 3000, .both = 3, .times = 1};
static const universe some = {.stream = 33, .members = 9000, .others = 60000, .times = 1};
static const universe dense = {.stream = 35, .members = 70000, .others = 9000, .times = 1};
static const universe empty = {.stream = 37, .others = 100, .times = 1};
static const universe alone = {.stream = 39, .members = 100, .times = 1};

static void files(void **state) {
    (void)state;
    const universe all[] = {few, some, dense, empty, alone};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        umbel_filter *f = built(&all[i], (umbel_params){.seed = i}, NULL);
        check_round_trip(f);
        umbel_filter *copy = NULL;
        assert_int_equal(umbel_copy(f, &copy, NULL), UMBEL_OK);
        all_right(copy, &all[i]);
        umbel_free(copy);
        umbel_free(f);
    }
}

static void bad_files(void **state) {
    (void)state;
    umbel_filter *f = built(&few, (umbel_params){0}, NULL);
    check_bad_files(f);
    umbel_free(f);
}

/* Puts these in place of the own parameters and computes both checksums again. */
static umbel_err with_params(const umbel_filter *f, const uint8_t *params, size_t len,
                             umbel_diag *diag) {
    uint8_t bytes[1 << 16];
    size_t size = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    umbel_filter *read = NULL;
    assert_true(size <= sizeof bytes);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, size, NULL), UMBEL_OK);
    size_t end = 128 + (len + 7) / 8 * 8;
    memset(bytes + 128, 0, 4096 - 128);
    memcpy(bytes + 128, params, len);
    native_set(bytes, 12, 4, end + 8);
    native_set(bytes, 116, 4, len);
    native_resum(bytes, size);
    umbel_err e = umbel_decode(bytes, size, UMBEL_LOAD, NULL, NULL, &read, diag);
    if (!e) (void)check_found(read, 1, 0, 500);
    umbel_free(read);
    return e;
}

/* Every byte of the parameters with every value, cut off at every length, and with one more. */
static void hostile_parameters(void **state) {
    (void)state;
    uint8_t bytes[1 << 16], params[64];
    umbel_filter *f = built(&few, (umbel_params){0}, NULL);
    size_t size = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    assert_true(size <= sizeof bytes);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, size, NULL), UMBEL_OK);
    size_t len = (size_t)native_get(bytes, 116, 4), accepted = 0;
    assert_true(len < sizeof params);
    for (size_t at = 0; at < len; at++) {
        for (unsigned value = 0; value < 256; value++) {
            memcpy(params, bytes + 128, len);
            params[at] = (uint8_t)value;
            umbel_err e = with_params(f, params, len, NULL);
            assert_true(e == UMBEL_OK || e == UMBEL_ECORRUPT);
            accepted += e == UMBEL_OK;
        }
    }
    assert_true(accepted > 256 && accepted < 256 * (len - 1)); /* seeds and counts may be any */
    memcpy(params, bytes + 128, len);
    for (size_t cut = 0; cut < len; cut++) {
        assert_int_equal(with_params(f, params, cut, NULL), UMBEL_ECORRUPT);
    }
    params[len] = 0;
    assert_int_equal(with_params(f, params, len + 1, NULL), UMBEL_ECORRUPT);
    const uint8_t long_number[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                   0x80, 0x80, 0x80, 0x02, 0,    0};
    assert_int_equal(with_params(f, long_number, sizeof long_number, NULL), UMBEL_ECORRUPT);
    umbel_free(f);
}

static void kernels_agree(void **state) {
    (void)state;
    umbel_filter *f = built(&some, (umbel_params){0}, NULL);
    umbeli_cpu_limit(0);
    umbel_filter *plain = built(&some, (umbel_params){0}, NULL);
    umbeli_cpu_limit(UINT32_MAX);
    assert_string_equal(described(plain).kernel, "generic");
    assert_int_equal(check_found(plain, 5, 0, 50000), check_found(f, 5, 0, 50000));
    check_same_bytes(f, plain);
    umbel_free(f);
}

static void memory_runs_out(void **state) {
    (void)state;
    check_memory m = {.fails = UINT64_MAX};
    umbel_alloc alloc = check_alloc(&m);
    umbel_opts opts = {.alloc = &alloc};
    const universe u = {.stream = 41, .members = 200, .others = 5000, .both = 7, .times = 1};
    umbel_filter *f = built(&u, (umbel_params){0}, &opts);
    umbel_free(f);
    uint64_t calls = m.calls;
    for (uint64_t fails = 0; fails < calls; fails++) {
        umbel_builder *b = NULL;
        umbel_params params = {.kind = UMBEL_KIND_EXACT};
        m = (check_memory){.fails = fails};
        f = NULL;
        umbel_err e = umbel_builder_new(&params, &opts, &b, NULL);
        uint64_t number = 1;
        umbel_key key = {&number, 8};
        for (; !e && number < 5000; number++) e = umbel_builder_never(b, &key, 1, NULL);
        for (; !e && number < 5200; number++) e = umbel_builder_add(b, &key, 1, NULL);
        if (!e) e = umbel_builder_finish(b, &f, NULL);
        umbel_builder_free(b);
        assert_true(e == UMBEL_ENOMEM || (e == UMBEL_OK && f));
        umbel_free(f);
        assert_int_equal(m.out, 0);
    }
}

static void threads_and_files_make_the_same_bytes(void **state) {
    (void)state;
    umbel_filter *f = built(&dense, (umbel_params){0}, NULL);
    umbel_opts opts = {.threads = 3, .tmp = "/tmp"};
    check_same_bytes(f, built(&dense, (umbel_params){0}, &opts));
    umbel_free(f);
}

/* A builder of any kind takes good keys, and all of them first. */
static void every_builder(void **state) {
    (void)state;
    const universe u = {.stream = 43, .members = 3000, .others = 20000, .times = 1};
    uint64_t mended = 0;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; umbel_kind_name(kind); kind++) {
        umbel_builder *b = NULL;
        umbel_filter *f = NULL;
        umbel_build_report report;
        umbel_traits traits;
        umbel_diag diag;
        umbel_kind_traits(kind, &traits);
        umbel_params params = {.kind = kind, .fpr = 0.05};
        if (!traits.built_once) params.capacity = 3000;
        assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
        tell(b, umbel_builder_never, u.stream + 1, u.others);
        tell(b, umbel_builder_never, u.stream, 5);
        tell(b, umbel_builder_add, u.stream, u.members);
        assert_int_equal(umbel_builder_never(b, NULL, 0, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.field, "never");
        assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
        umbel_builder_report(b, &report);
        assert_int_equal(report.never, u.others + 5);
        assert_int_equal(report.members, 5);
        assert_int_equal(report.exceptions, described(f).exceptions);
        assert_true(report.exceptions == 0 || !traits.universe);
        mended += report.exceptions;
        umbel_builder_free(b);
        assert_int_equal(check_found(f, u.stream, 0, u.members), u.members);
        assert_int_equal(check_found(f, u.stream + 1, 0, u.others), 0);
        umbel_free(f);
    }
    assert_true(mended > 1000);
}

static void tell_texts(umbel_builder *b, taker *take, const char *form, unsigned long n) {
    for (unsigned long i = 0; i < n; i++) {
        char text[32];
        umbel_key key = {text, (size_t)snprintf(text, sizeof text, "%s%lu", form, i)};
        assert_int_equal(take(b, &key, 1, NULL), UMBEL_OK);
    }
}

/* Keys key0, key1, ... among other0, other1, ... and the files of another builder:
 * tests/golden/native/make_tight.py. */
static void golden(void **state) {
    (void)state;
    golden_table t = golden_table_open("native/exact.tsv");
    while (golden_table_next(&t)) {
        umbel_params params = {.kind = UMBEL_KIND_EXACT, .seed = strtoull(t.column[2], NULL, 10)};
        umbel_builder *b = NULL;
        umbel_filter *f = NULL, *theirs = NULL;
        assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
        tell_texts(b, umbel_builder_never, "other", strtoul(t.column[1], NULL, 10));
        tell_texts(b, umbel_builder_add, "key", strtoul(t.column[0], NULL, 10));
        assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
        umbel_builder_free(b);
        size_t len;
        uint8_t *bytes = golden_hex(t.column[3], &len);
        assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &theirs, NULL), UMBEL_OK);
        check_same_bytes(f, theirs);
        umbel_free(f);
        free(bytes);
    }
    assert_int_equal(t.rows, 5);
    golden_table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hundred_universes),
        cmocka_unit_test(close_to_the_bound),
        cmocka_unit_test(files),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(hostile_parameters),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(threads_and_files_make_the_same_bytes),
        cmocka_unit_test(every_builder),
        cmocka_unit_test(golden),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
