/* SPDX-License-Identifier: MIT
 *
 * linear_codecs.c - decoding, and what is read on the way: metadata, Thrift, tokens
 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "every_format.h"
#include "steps.h"
#include "umbel_experimental.h"

/* What the functions below make, and what they parse it as. */
static any_params shape;
static umbel_foreign as;

static void append_filter(text *t, umbel_filter *f) {
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_ANY);
    uint8_t *bytes = malloc(len);
    assert_non_null(bytes);
    assert_ok(umbel_encode(f, UMBEL_FMT_ANY, bytes, len, NULL));
    text_put(t, bytes, len);
    free(bytes);
    umbel_free(f);
}

static void make_filter(text *t, size_t keys) {
    any_params params = shape;
    umbel_filter *f = NULL;
    if (shape.foreign.bytes) params.foreign.bytes = keys;
    if (shape.foreign.capacity > 1) params.foreign.capacity = keys;
    if (shape.native.capacity > 1) params.native.capacity = keys;
    assert_ok(any_create(&params, NULL, &f, NULL));
    for (uint32_t i = 0; i < keys / 4; i++) assert_ok(umbel_add(f, &i, 4, NULL, NULL));
    append_filter(t, f);
}

static void parse_filter(const text *t) {
    umbel_filter *f = NULL;
    assert_ok(umbel_decode(t->bytes, t->len, UMBEL_LOAD, &as, NULL, &f, NULL));
    umbel_free(f);
    assert_ok(umbel_decode(t->bytes, t->len, UMBEL_VERIFY, &as, NULL, NULL, NULL));
}

static void formats(void **state) {
    (void)state;
    static const struct {
        const char *name;
        any_params shape;
    } natives[] = {
        {"native, blocked", {.native = {.kind = UMBEL_KIND_BLOCKED, .capacity = 2, .fpr = 0.01}}},
        {"native, classic", {.native = {.kind = UMBEL_KIND_CLASSIC, .capacity = 2, .fpr = 0.01}}},
        {"native, counting", {.native = {.kind = UMBEL_KIND_COUNTING, .capacity = 2, .fpr = 0.01}}},
        {"native, window",
         {.native =
              {.kind = UMBEL_KIND_WINDOW, .capacity = 2, .fpr = 0.01, .window.generations = 200}}},
        {"native, scalable", {.native = {.kind = UMBEL_KIND_SCALABLE, .capacity = 1, .fpr = 0.01}}},
    };
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++) {
        shape = natives[i].shape;
        as = (umbel_foreign){.format = UMBEL_FMT_NATIVE};
        /* Hashes are read one by one, and 10,000 keys are none. */
        size_t size = shape.native.kind == UMBEL_KIND_SCALABLE ? 200000 : 20000;
        assert_linear(&(parser){natives[i].name, size, make_filter, parse_filter});
    }
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, 2, 0.01);
    for (size_t i = 0; i < count; i++) {
        if (forms[i].read.capacity) continue; /* to be told when it is decoded: gocrc32, below */
        shape = (any_params){.foreign = forms[i].made};
        as = forms[i].read;
        assert_linear(&(parser){forms[i].name, 20000, make_filter, parse_filter});
    }
}

/* gocrc32's bytes do not record their number of keys. */
static void make_gocrc32(text *t, size_t keys) {
    as = (umbel_foreign){.format = UMBEL_FMT_GOCRC32, .capacity = keys, .fpr = 0.01};
    shape = (any_params){.foreign = as};
    make_filter(t, keys);
}

static void gocrc32(void **state) {
    (void)state;
    assert_linear(&(parser){"gocrc32", 20000, make_gocrc32, parse_filter});
}

/* A chain that grows by a link per key. */
static void make_chain(text *t, size_t links) {
    as = (umbel_foreign){.format = UMBEL_FMT_REDISBLOOM};
    shape = (any_params){
        .foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 1, .fpr = 0.5, .expansion = 1}};
    umbel_filter *f = NULL;
    umbel_info info = {0};
    assert_ok(any_create(&shape, NULL, &f, NULL));
    for (uint32_t i = 0; i < 100 * links && info.layers < links; i++) {
        if (umbel_add(f, &i, 4, NULL, NULL)) break; /* its rate has no room for more */
        umbel_describe(f, &info);
    }
    append_filter(t, f);
}

static void many_links(void **state) {
    (void)state;
    assert_linear(&(parser){"redisbloom, many links", 5, make_chain, parse_filter});
}

static void make_meta(text *t, size_t bytes) {
    as = (umbel_foreign){.format = UMBEL_FMT_NATIVE};
    shape = (any_params){.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 32}};
    umbel_filter *f = NULL;
    assert_ok(any_create(&shape, NULL, &f, NULL));
    char *value = malloc(bytes / 4);
    assert_non_null(value);
    memset(value, 'x', bytes / 4);
    value[bytes / 4 - 1] = '\0';
    for (const char *name = "abcd"; *name; name++) {
        assert_ok(umbel_set_meta(f, (char[]){*name, 0}, value, NULL));
    }
    free(value);
    append_filter(t, f);
}

static void make_names(text *t, size_t names) {
    as = (umbel_foreign){.format = UMBEL_FMT_NATIVE};
    shape = (any_params){.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 32}};
    umbel_filter *f = NULL;
    assert_ok(any_create(&shape, NULL, &f, NULL));
    for (size_t i = 0; i < names; i++) {
        char name[240], value[240];
        snprintf(name, sizeof name, "%0200zu", i);
        snprintf(value, sizeof value, "%0230zu", i);
        assert_ok(umbel_set_meta(f, name, value, NULL));
    }
    append_filter(t, f);
}

/* Each name is compared with those before it, and all lengths are summed again, so the cost is
 * quadratic in their number.  There are at most 1024: the worst case is bounded, at some 30
 * milliseconds. */
static void metadata(void **state) {
    (void)state;
    assert_linear(&(parser){"metadata, long values", 50000, make_meta, parse_filter});
    text t = {0};
    make_names(&t, 1024);
    uint64_t before = steps_taken();
    umbel_filter *f = NULL;
    assert_ok(umbel_decode(t.bytes, t.len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                           NULL, &f, NULL));
    umbel_free(f);
    uint64_t taken = steps_taken() - before;
    print_message("# metadata, all there may be: %llu steps\n", (unsigned long long)taken);
    assert_true(taken < 40000000);
    free(t.bytes);
}

/* ---- Thrift ------------------------------------------------------------------------------- */

/* Parquet's header with unknown fields, to be skipped. */
static void make_header(text *t, size_t fields) {
    static const uint8_t rest[] = {0x15, 0x40, 0x1c, 0x1c, 0,    0, 0x1c,
                                   0x1c, 0,    0,    0x1c, 0x1c, 0, 0};
    text_put(t, rest, sizeof rest);
    text_byte(t, 0x19); /* a list after them */
    text_byte(t, 0xf0 | 12);
    text_varint(t, fields);
    for (size_t i = 0; i < fields; i++) {
        text_put(t, "\x15\x02\x18\x01x\x00", 6); /* a number, a name */
    }
    text_byte(t, 0);
    uint8_t bits[32] = {0};
    text_put(t, bits, sizeof bits);
}

static void parse_any(const text *t) {
    umbel_filter *f = NULL;
    (void)umbel_decode(t->bytes, t->len, UMBEL_LOAD,
                       &(umbel_foreign){.format = shape.foreign.format}, NULL, &f, NULL);
    umbel_free(f);
}

static void thrift(void **state) {
    (void)state;
    shape = (any_params){.foreign = {.format = UMBEL_FMT_PARQUET}};
    assert_linear(&(parser){"thrift, unknown fields", 3000, make_header, parse_any});
}

/* ---- Tokens ------------------------------------------------------------------------------- */

static void make_words(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, i % 7 ? 'a' : ' ');
}

static void make_one_word(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, 'a');
}

static void make_separators(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, ',');
}

/* Continuation bytes of a character that never began. */
static void make_continuations(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, 0x80);
}

static void cut(const text *t, uint32_t ngram) {
    umbel_key token;
    for (size_t pos = 0; umbel_clickhouse_token(t->bytes, t->len, ngram, &pos, &token);) {
    }
}

static void parse_words(const text *t) {
    cut(t, 0);
}

static void parse_ngrams(const text *t) {
    cut(t, 3);
    cut(t, 8);
}

static void tokens(void **state) {
    (void)state;
    void (*const makes[])(text *, size_t) = {make_words, make_one_word, make_separators,
                                             make_continuations};
    for (size_t i = 0; i < 4; i++) {
        assert_linear(&(parser){"clickhouse tokens", 20000, makes[i], parse_words});
        assert_linear(&(parser){"clickhouse n-grams", 20000, makes[i], parse_ngrams});
    }
}

int linear_codecs(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),  cmocka_unit_test(gocrc32), cmocka_unit_test(many_links),
        cmocka_unit_test(metadata), cmocka_unit_test(thrift),  cmocka_unit_test(tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
