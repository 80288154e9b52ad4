/* SPDX-License-Identifier: MIT
 *
 * api_redis.c - a filter as the chunks that BF.LOADCHUNK accepts
 */
#include "umbel_redis.h"

#include <string.h>

#include "core/diag.h"
#include "format/native/native_header.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "hash/native_hash.h"

static void put_head(const umbel_filter *f, umbeli_writer *w) {
    if (f->shape.format == UMBEL_FMT_REDISBLOOM) {
        umbeli_redisbloom_put_header(f, w);
        return;
    }
    umbeli_native_source from = umbeli_native_source_of(f);
    umbeli_native_put_header(&from, w);
    if (umbeli_is_keyed(&f->shape)) {
        umbeli_put_u64le(w, f->shape.secret.word[0]);
        umbeli_put_u64le(w, f->shape.secret.word[1]);
    }
}

static bool discard(void *ctx, const void *bytes, size_t len) {
    (void)ctx, (void)bytes, (void)len;
    return true;
}

umbel_err umbel_redis_head(const umbel_filter *filter, void *bytes, size_t cap, size_t *len,
                           umbel_diag *diag) {
    umbel_format format = filter->shape.format;
    if (format != UMBEL_FMT_NATIVE && format != UMBEL_FMT_REDISBLOOM) {
        return umbeli_fail(diag, UMBEL_ENOTSUP,
                           "neither a native filter nor one of format redisbloom");
    }
    umbeli_writer measuring = {.sink = discard};
    put_head(filter, &measuring);
    *len = (size_t)measuring.written;
    if (cap < *len) return umbeli_fail(diag, UMBEL_ESPACE, "the output buffer is too small");
    umbeli_span span = {.bytes = bytes, .cap = cap};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    put_head(filter, &w);
    return UMBEL_OK;
}

size_t umbel_redis_chunk(const umbel_filter *filter, uint64_t offset, size_t max,
                         const void **bytes) {
    const uint8_t *piece = NULL;
    int64_t next = 0;
    size_t len = 0;
    if (offset < INT64_MAX) {
        umbeli_redisbloom_chunk(filter, (int64_t)offset + 1, &next, &piece, &len);
    }
    *bytes = piece;
    return len < max ? len : max;
}
