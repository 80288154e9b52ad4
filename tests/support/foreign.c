/* SPDX-License-Identifier: MIT */
#include "foreign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "random_keys.h"
#include "umbel_foreign.h"

/* ---- Memory ---- */

enum { BEFORE = 16 }; /* holds the block's size, and keeps its alignment */

static void *counted_alloc(void *ctx, size_t size) {
    foreign_memory *m = ctx;
    m->calls++;
    if (m->calls == m->failing || (m->max && m->now + size > m->max)) return NULL;
    uint8_t *block = malloc(BEFORE + size);
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    m->now += size;
    m->blocks++;
    if (m->now > m->peak) m->peak = m->now;
    return block + BEFORE;
}

static void counted_free(void *ctx, void *ptr) {
    foreign_memory *m = ctx;
    uint8_t *block = (uint8_t *)ptr - BEFORE;
    size_t size;
    memcpy(&size, block, sizeof size);
    m->now -= size;
    m->blocks--;
    free(block);
}

void foreign_memory_start(foreign_memory *m, size_t max, size_t failing) {
    *m = (foreign_memory){.max = max, .failing = failing};
    m->hook = (umbel_alloc){.alloc = counted_alloc, .free = counted_free, .ctx = m};
    m->opts.alloc = &m->hook;
}

/* ---- Filters ---- */

umbel_foreign foreign_as(umbel_format format, umbel_foreign params) {
    params.format = format;
    return params;
}

umbel_filter *foreign_create(umbel_foreign params) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_create_foreign(&params, NULL, &f, &diag);
    if (e) fail_msg("umbel_create_foreign: %s: %s", umbel_err_name(e), sentence(&diag));
    return f;
}

void foreign_add(umbel_filter *f, const char *text) {
    assert_int_equal(umbel_add(f, text, strlen(text), NULL, NULL), UMBEL_OK);
}

bool foreign_contains(const umbel_filter *f, const char *text) {
    return umbel_contains(f, text, strlen(text));
}

uint8_t *foreign_bytes(const umbel_filter *f, size_t *len) {
    umbel_format format = described(f).format;
    *len = (size_t)umbel_encoded_size(f, format);
    uint8_t *bytes = malloc(*len + 1);
    assert_non_null(bytes);
    assert_int_equal(umbel_encode(f, format, bytes, *len, NULL), UMBEL_OK);
    if (*len) assert_int_equal(umbel_encode(f, format, bytes, *len - 1, NULL), UMBEL_ESPACE);
    return bytes;
}

/* A copy that ends where its memory ends. */
static uint8_t *exact(const uint8_t *bytes, size_t len) {
    uint8_t *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    if (len) memcpy(copy, bytes, len);
    return copy;
}

umbel_filter *foreign_decode(const umbel_foreign *like, const uint8_t *bytes, size_t len) {
    uint8_t *copy = exact(bytes, len);
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_decode(copy, len, UMBEL_LOAD, like, NULL, &f, &diag);
    if (e) fail_msg("decode: %s at %d: %s", umbel_err_name(e), (int)diag.offset, sentence(&diag));
    free(copy);
    return f;
}

static void writes(const umbel_filter *f, const uint8_t *bytes, size_t len) {
    size_t got_len;
    uint8_t *got = foreign_bytes(f, &got_len);
    assert_int_equal(got_len, len);
    assert_memory_equal(got, bytes, len);
    free(got);
}

static void survives_failing_memory(const umbel_foreign *like, const uint8_t *bytes, size_t len) {
    umbel_err e = UMBEL_ENOMEM;
    for (size_t failing = 1; e; failing++) {
        foreign_memory m;
        foreign_memory_start(&m, 0, failing);
        umbel_filter *f = NULL;
        e = umbel_decode(bytes, len, UMBEL_LOAD, like, &m.opts, &f, NULL);
        if (e) {
            assert_int_equal(e, UMBEL_ENOMEM);
            assert_null(f);
        } else {
            assert_true(m.calls < failing);
        }
        umbel_free(f);
        assert_int_equal(m.blocks, 0);
    }
}

void foreign_same_again(const umbel_foreign *like, const uint8_t *bytes, size_t len) {
    uint8_t *input = exact(bytes, len);
    umbel_filter *f = foreign_decode(like, bytes, len), *copy = NULL, *view = NULL;
    writes(f, bytes, len);
    assert_int_equal(umbel_copy(f, &copy, NULL), UMBEL_OK);
    writes(copy, bytes, len);
    assert_true(umbel_equal(f, copy));
    umbel_err e = umbel_decode(input, len, UMBEL_MAP, like, NULL, &view, NULL);
    if (e != UMBEL_ENOTSUP) {
        assert_int_equal(e, UMBEL_OK);
        assert_true(umbel_equal(f, view));
        assert_int_equal(umbel_add(view, "x", 1, NULL, NULL), UMBEL_EFROZEN);
        writes(view, bytes, len);
        umbel_free(copy);
        assert_int_equal(umbel_copy(view, &copy, NULL), UMBEL_OK);
        writes(copy, bytes, len);
    }
    umbel_free(f);
    umbel_free(copy);
    umbel_free(view);
    survives_failing_memory(like, input, len);
    free(input);
}

void foreign_is(const umbel_foreign *like, const umbel_filter *f, const uint8_t *bytes,
                size_t len) {
    umbel_filter *again = foreign_decode(like, bytes, len);
    writes(f, bytes, len);
    assert_true(umbel_equal(f, again));
    umbel_free(again);
    foreign_same_again(like, bytes, len);
}

/* ---- Refusals ---- */

static void says(const umbel_diag *diag, const char *what) {
    const char *said = sentence(diag);
    if (!strstr(said, what)) fail_msg("\"%s\" does not say \"%s\"", said, what);
}

void foreign_refused(const umbel_foreign *like, const uint8_t *bytes, size_t len, umbel_err want,
                     uint64_t offset) {
    foreign_refused_saying(like, bytes, len, want, offset, "");
}

void foreign_refused_saying(const umbel_foreign *like, const uint8_t *bytes, size_t len,
                            umbel_err want, uint64_t offset, const char *what) {
    uint8_t *input = exact(bytes, len);
    foreign_memory m;
    foreign_memory_start(&m, 2 * len + 4096, 0);
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_decode(input, len, UMBEL_LOAD, like, &m.opts, &f, &diag);
    if (e != want || diag.offset != offset) {
        fail_msg("decode of %d bytes: %d at %d (%s), not %d at %d", (int)len, (int)e,
                 (int)diag.offset, sentence(&diag), (int)want, (int)offset);
    }
    assert_null(f);
    assert_non_null(diag.what);
    says(&diag, what);
    assert_int_equal(m.blocks, 0);
    assert_int_equal(umbel_decode(input, len, UMBEL_VERIFY, like, NULL, NULL, NULL), want);
    free(input);
}

void foreign_refused_with(const umbel_foreign *like, const uint8_t *bytes, size_t len, size_t at,
                          size_t width, uint64_t value, umbel_err want, uint64_t offset) {
    uint8_t *changed = exact(bytes, len);
    for (size_t i = 0; i < width; i++) changed[at + i] = (uint8_t)(value >> 8 * i);
    foreign_refused(like, changed, len, want, offset);
    free(changed);
}

void foreign_not_made(umbel_foreign params, const char *what) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_create_foreign(&params, NULL, &f, &diag), UMBEL_EINVAL);
    assert_null(f);
    says(&diag, what);
}

void foreign_needs_every_byte(const umbel_foreign *like, const uint8_t *bytes, size_t len) {
    uint8_t *longer = calloc(1, len + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, len);
    for (size_t cut = 0; cut <= len + 1; cut++) {
        if (cut == len) continue;
        uint8_t *input = exact(longer, cut);
        umbel_filter *f = NULL;
        umbel_diag diag = {.offset = UINT64_MAX};
        umbel_err e = umbel_decode(input, cut, UMBEL_LOAD, like, NULL, &f, &diag);
        if (e != UMBEL_ECORRUPT) fail_msg("%zu of %zu bytes gave error %d", cut, len, (int)e);
        assert_null(f);
        assert_true(diag.offset <= cut);
        assert_non_null(diag.what);
        assert_int_equal(umbel_decode(input, cut, UMBEL_VERIFY, like, NULL, NULL, NULL), e);
        free(input);
    }
    free(longer);
}

/* ---- Batches ---- */

void foreign_batches_agree(umbel_foreign params, const umbel_key *keys, size_t n) {
    umbel_filter *one = foreign_create(params), *many = foreign_create(params);
    uint8_t *fresh = malloc(2 * n + 1), *hit = fresh + n;
    assert_non_null(fresh);
    assert_int_equal(umbel_add_many(many, keys, n, fresh, NULL, NULL), UMBEL_OK);
    for (size_t i = 0; i < n; i++) {
        bool was_new;
        assert_int_equal(umbel_add(one, keys[i].data, keys[i].len, &was_new, NULL), UMBEL_OK);
        assert_int_equal(was_new, fresh[i]);
    }
    size_t len;
    uint8_t *bytes = foreign_bytes(one, &len);
    writes(many, bytes, len);
    free(bytes);
    assert_int_equal(keys_added(one), keys_added(many));
    umbel_contains_many(many, keys, n, hit);
    for (size_t i = 0; i < n; i++) assert_int_equal(hit[i], 1);

    umbel_filter *half = foreign_create(params); /* some keys absent */
    assert_int_equal(umbel_add_many(half, keys, n / 2, NULL, NULL, NULL), UMBEL_OK);
    umbel_contains_many(half, keys, n, hit);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hit[i], umbel_contains(half, keys[i].data, keys[i].len));
    }
    free(fresh);
    umbel_free(one);
    umbel_free(many);
    umbel_free(half);
}

void foreign_number_batches_agree(umbel_foreign params) {
    enum { N = 3000 };
    static char text[N][16];
    static umbel_key keys[N];
    for (int i = 0; i < N; i++) {
        int len = snprintf(text[i], sizeof text[i], "%d", i * 7919 % 2500);
        keys[i] = (umbel_key){text[i], (size_t)len};
    }
    foreign_batches_agree(params, keys, N);
}

uint64_t foreign_random(uint64_t *state) {
    return random_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}
