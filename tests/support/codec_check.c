/* SPDX-License-Identifier: MIT */
#include "codec_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "any_filter.h"
#include "umbel_foreign.h"

static const umbeli_settings memory = {.threads = 1};

static umbel_err create(const umbeli_codec *codec, const umbel_foreign *params, umbel_filter **out,
                        umbel_diag *diag) {
    umbel_foreign p = *params;
    p.format = codec->id;
    return umbel_create_foreign(&p, NULL, out, diag);
}

umbel_filter *codec_create(const umbeli_codec *codec, const umbel_foreign *params) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    if (create(codec, params, &f, &diag)) fail_msg("create: %s", sentence(&diag));
    assert_non_null(f);
    return f;
}

void codec_create_fails(const umbeli_codec *codec, const umbel_foreign *params, umbel_err err,
                        const char *what) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_int_equal(create(codec, params, &f, &diag), err);
    assert_null(f);
    const char *said = sentence(&diag);
    if (!strstr(said, what)) fail_msg("'%s' lacks '%s'", said, what);
}

static umbel_err decode(const umbeli_codec *codec, const umbel_foreign *like, const uint8_t *bytes,
                        size_t len, umbeli_decoding how, umbel_filter **out, umbel_diag *diag) {
    umbel_foreign alone = {.format = codec->id};
    if (!codec->decode_as) return codec->decode(bytes, len, how, &memory, out, diag);
    return codec->decode_as(like ? like : &alone, bytes, len, how, &memory, out, diag);
}

umbel_err codec_try(const umbeli_codec *codec, const umbel_foreign *like, const uint8_t *bytes,
                    size_t len, umbel_filter **out, umbel_diag *diag) {
    uint8_t *exact = malloc(len ? len : 1);
    assert_non_null(exact);
    if (len) memcpy(exact, bytes, len);
    umbel_err verified = decode(codec, like, exact, len, UMBELI_VERIFY, out, diag);
    umbel_err e = decode(codec, like, exact, len, UMBELI_COPY, out, diag);
    assert_int_equal(verified, e);
    free(exact);
    return e;
}

umbel_filter *codec_decode(const umbeli_codec *codec, const umbel_foreign *like,
                           const uint8_t *bytes, size_t len) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    if (codec_try(codec, like, bytes, len, &f, &diag)) {
        fail_msg("decode at %llu: %s", (unsigned long long)diag.offset, sentence(&diag));
    }
    assert_non_null(f);
    return f;
}

void codec_decode_fails(const umbeli_codec *codec, const umbel_foreign *like, const uint8_t *bytes,
                        size_t len, umbel_err err, uint64_t offset, const char *what) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_int_equal(codec_try(codec, like, bytes, len, &f, &diag), err);
    assert_null(f);
    assert_int_equal(diag.offset, offset);
    const char *said = sentence(&diag);
    if (!strstr(said, what)) fail_msg("'%s' lacks '%s'", said, what);
}

uint8_t *codec_encode(const umbeli_codec *codec, const umbel_filter *f, size_t *len) {
    uint64_t size = codec->size(f);
    assert_true(size > 0);
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    umbeli_span span = {.bytes = bytes, .cap = size};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    codec->encode(f, &w);
    assert_false(w.failed);
    assert_int_equal(w.written, size);
    *len = size;
    return bytes;
}

void codec_is(const umbeli_codec *codec, const umbel_foreign *like, const umbel_filter *f,
              const uint8_t *bytes, size_t len) {
    size_t got_len;
    uint8_t *got = codec_encode(codec, f, &got_len);
    assert_int_equal(got_len, len);
    assert_memory_equal(got, bytes, len);
    free(got);

    umbel_filter *again = codec_decode(codec, like, bytes, len);
    assert_null(umbeli_shape_mismatch(&f->shape, &again->shape));
    assert_int_equal(f->data_len, again->data_len);
    assert_memory_equal(f->data, again->data, f->data_len);
    got = codec_encode(codec, again, &got_len);
    assert_int_equal(got_len, len);
    assert_memory_equal(got, bytes, len);
    free(got);
    umbel_free(again);
}

void codec_needs_every_byte(const umbeli_codec *codec, const umbel_foreign *like,
                            const uint8_t *bytes, size_t len) {
    uint8_t *longer = calloc(1, len + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, len);
    for (size_t cut = 0; cut <= len + 1; cut++) {
        if (cut == len) continue;
        umbel_filter *f = NULL;
        umbel_diag diag = {.offset = UINT64_MAX};
        umbel_err e = codec_try(codec, like, longer, cut, &f, &diag);
        if (e != UMBEL_ECORRUPT) fail_msg("%zu of %zu bytes gave error %d", cut, len, (int)e);
        assert_null(f);
        assert_true(diag.offset <= cut);
        assert_non_null(diag.what);
    }
    free(longer);
}

void filter_add(umbel_filter *f, const void *key, size_t len) {
    assert_int_equal(f->ops->add(f, key, len, NULL), UMBEL_OK);
}

bool filter_contains(const umbel_filter *f, const void *key, size_t len) {
    return f->ops->contains(f, key, len);
}
