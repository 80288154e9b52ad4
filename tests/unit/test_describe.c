/* SPDX-License-Identifier: MIT
 *
 * test_describe.c - what a filter was made as is known without its bits; what they say is measured;
 * and UMBEL_FMT_ANY writes a filter in its own format
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, mkdtemp */
#include "cases.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "any_filter.h"
#include "every_format.h"
#include "native_file.h"

static const any_params natives[] = {
    {.native = {.kind = UMBEL_KIND_BLOCKED, .capacity = 20000, .fpr = 0.01, .seed = 5}},
    {.native = {.kind = UMBEL_KIND_CLASSIC, .capacity = 20000, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_TIGHT, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_EXACT, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_LINE, .capacity = 20000, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_COUNTING, .capacity = 20000, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_SCALABLE, .capacity = 1000, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_WINDOW, .capacity = 20000, .fpr = 0.01, .window = {5, 1}}},
};

enum {
    NATIVES = sizeof natives / sizeof *natives,
    KEYS = 10000,
    PAGE = 65536 /* the largest there are */
};

/* And one of each foreign form. */
static any_params all[NATIVES + EVERY_FORMAT];
static size_t count_all;

static int collect(void **state) {
    (void)state;
    format_form forms[EVERY_FORMAT];
    size_t foreign = every_format(forms, 20000, 0.01);
    memcpy(all, natives, sizeof natives);
    for (size_t i = 0; i < foreign; i++) all[NATIVES + i].foreign = forms[i].made;
    count_all = NATIVES + foreign;
    return 0;
}

static umbel_filter *filled(const any_params *params) {
    static uint32_t numbers[KEYS];
    static umbel_key keys[KEYS];
    umbel_filter *f = NULL;
    for (uint32_t i = 0; i < KEYS; i++) {
        numbers[i] = i;
        keys[i] = (umbel_key){&numbers[i], sizeof numbers[i]};
    }
    umbel_traits traits;
    umbel_kind_traits(params->native.kind, &traits);
    if (traits.built_once) {
        assert_ok(build_from(&params->native, NULL, keys, KEYS, &f, NULL));
        return f;
    }
    assert_ok(any_create(params, NULL, &f, NULL));
    assert_ok(umbel_add_many(f, keys, KEYS, NULL, NULL, NULL));
    return f;
}

static uint8_t *bytes_in(const umbel_filter *f, umbel_format format, size_t *len) {
    *len = (size_t)umbel_encoded_size(f, format);
    assert_true(*len > 0);
    uint8_t *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_ok(umbel_encode(f, format, bytes, *len, NULL));
    return bytes;
}

/* qemu refuses a length of 0. */
static void protect(uint8_t *pages, size_t len, int prot) {
    if (len > 0) assert_int_equal(mprotect(pages, len, prot), 0);
}

/* A view whose bits nobody may read: from `bits` on, where a page starts. */
static void described_blindly(const umbel_filter *f, const any_params *params, const uint8_t *bytes,
                              size_t len, size_t bits, size_t end) {
    size_t before = (bits + PAGE - 1) / PAGE * PAGE, room = before + (len - bits) + 2 * PAGE;
    size_t closed = (end - bits) / PAGE * PAGE; /* the whole pages among them */
    assert_true(closed > 0 || end - bits < PAGE);
    uint8_t *pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    uint8_t *copy = pages + before - bits;
    memcpy(copy, bytes, len);
    size_t hidden = end == len ? room - before : closed;
    protect(pages + before, hidden, PROT_NONE);
    umbel_filter *view = NULL;
    assert_ok(umbel_decode(copy, len, UMBEL_MAP, any_as(params), &(umbel_opts){.unchecked = true},
                           &view, NULL));
    umbel_info seen, info;
    memset(&seen, 0x55, sizeof seen);
    umbel_describe(view, &seen);
    protect(pages + before, hidden, PROT_READ);
    umbel_describe(f, &info);
    assert_true(seen.frozen);
    assert_int_equal(seen.kind, info.kind);
    assert_int_equal(seen.format, info.format);
    assert_int_equal(seen.seed, info.seed);
    assert_int_equal(seen.bits, info.bits);
    assert_int_equal(seen.bytes, info.bytes);
    assert_int_equal(seen.hashes, info.hashes);
    assert_string_equal(seen.layout, info.layout);
    assert_true(seen.layers == info.layers && seen.generations == info.generations);
    assert_true(seen.manual == info.manual && seen.concurrent == info.concurrent);
    if (info.format == UMBEL_FMT_NATIVE) {
        assert_true(seen.capacity == info.capacity && seen.fpr == info.fpr);
        assert_true(seen.keys_added == info.keys_added && seen.grows == info.grows);
    }
    assert_true(measured(view).bits_set == measured(f).bits_set);
    umbel_free(view);
    munmap(pages, room);
}

/* Where the bits start and end: native files say so, Parquet's are what comes after the header. */
static void test_describe_leaves_the_bits_alone(void **state) {
    (void)state;
    size_t tried = 0;
    for (size_t i = 0; i < count_all; i++) {
        umbel_format format = all[i].foreign.format;
        if (format != UMBEL_FMT_ANY && format != UMBEL_FMT_PARQUET) continue;
        umbel_filter *f = filled(&all[i]);
        umbel_info info = described(f);
        size_t len;
        uint8_t *bytes = bytes_in(f, UMBEL_FMT_ANY, &len);
        bool native = format == UMBEL_FMT_ANY;
        size_t from = native ? (size_t)native_get(bytes, 96, 8) : len - (size_t)info.bytes;
        size_t end = native ? from + (size_t)native_get(bytes, 104, 8) : len;
        described_blindly(f, &all[i], bytes, len, from, end);
        free(bytes);
        umbel_free(f);
        tried++;
    }
    assert_int_equal(tried, 10);
}

/* All that is handed out is filled in, to the last word. */
static void test_reserved_words_are_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < count_all; i++) {
        umbel_filter *f = filled(&all[i]);
        umbel_info info;
        umbel_measurement now;
        memset(&info, 0x55, sizeof info);
        memset(&now, 0x55, sizeof now);
        umbel_describe(f, &info);
        umbel_measure(f, &now);
        for (size_t k = 0; k < 2; k++) assert_true(info.reserved[k] == 0);
        assert_true(info.exceptions == 0 && !info.outdated && info.universe == 0);
        assert_true(now.reserved[0] == 0);
        assert_true(now.bits_set <= info.bits);
        assert_true(now.rate > 0);
        assert_true(now.rate < 1);
        assert_true(isfinite(now.keys) && now.keys > 0);
        /* Adds that changed the filter: not those that looked as if they were in already. */
        assert_true(info.keys_added <= KEYS && info.keys_added > KEYS * 95 / 100);
        assert_true(info.layers >= 1);
        assert_true(info.layout);
        assert_true(info.kernel);
        umbel_free(f);
    }
}

static void test_own_format(void **state) {
    (void)state;
    char folder[] = "/tmp/umbel-own-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f", folder);
    for (size_t i = 0; i < count_all; i++) {
        umbel_filter *f = filled(&all[i]), *again = NULL;
        umbel_format own = all[i].foreign.format ? all[i].foreign.format : UMBEL_FMT_NATIVE;
        size_t len, any_len, file_len;
        uint8_t *bytes = bytes_in(f, own, &len), *any = bytes_in(f, UMBEL_FMT_ANY, &any_len);
        assert_int_equal(any_len, len);
        assert_memory_equal(any, bytes, len);
        assert_int_equal(umbel_encode(f, UMBEL_FMT_ANY, any, len - 1, NULL), UMBEL_ESPACE);
        assert_ok(umbel_file_save(f, UMBEL_FMT_ANY, path, NULL));
        uint8_t *file = file_bytes(path, &file_len);
        assert_int_equal(file_len, len);
        assert_memory_equal(file, bytes, len);
        free(file);
        int fd = open(path, O_WRONLY | O_TRUNC);
        assert_true(fd >= 0);
        assert_ok(umbel_fd_write(f, UMBEL_FMT_ANY, fd, NULL));
        close(fd);
        file = file_bytes(path, &file_len);
        assert_int_equal(file_len, len);
        assert_memory_equal(file, bytes, len);
        free(file);
        assert_ok(umbel_file_open(path, UMBEL_LOAD, any_as(&all[i]), NULL, &again, NULL));
        assert_true(umbel_equal(f, again));
        assert_ok(umbel_file_open(path, UMBEL_VERIFY, any_as(&all[i]), NULL, NULL, NULL));
        umbel_free(again);
        umbel_free(f);
        free(bytes);
        free(any);
    }
    unlink(path);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe_leaves_the_bits_alone),
        cmocka_unit_test(test_reserved_words_are_zero),
        cmocka_unit_test(test_own_format),
    };
    return cmocka_run_group_tests(tests, collect, NULL);
}
