/* SPDX-License-Identifier: MIT */
#include "storage/dump.h"

#include <string.h>

#include "api.h"
#include "core/diag.h"
#include "storage/dump_header.h"
#include "value/server_memory.h"
#include "value/value_unboxed.h"

/* ---- Dumping ---- */

uint8_t *bf_dump_head(const bf_value *v, size_t *len) {
    if (v->layout == BF_BLOCKED) return bf_head_write(v, true, len);
    bf_room room;
    const umbeli_chain *c = bf_value_chain(v, &room);
    uint64_t size = umbeli_redisbloom_header_size(c->count);
    umbeli_span span = {.bytes = RedisModule_Alloc((size_t)size), .cap = (size_t)size};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    umbeli_redisbloom_put_header(&c->base, &w);
    *len = span.used;
    return span.bytes;
}

void bf_dump_chunk(const bf_value *v, int64_t iterator, int64_t *next, const uint8_t **bytes,
                   size_t *len) {
    bf_room room;
    umbeli_redisbloom_chunk(bf_value_filter(v, &room), iterator, next, bytes, len);
}

/* Copies the whole payload, however it is segmented. */
static void gather(const bf_value *v, uint8_t *to) {
    bf_room room;
    const umbel_filter *f = bf_value_filter(v, &room);
    const uint8_t *bytes;
    uint64_t len = 0;
    for (size_t i = 0; (bytes = umbeli_filter_segment(f, i, &len)) != NULL; i++) {
        memcpy(to, bytes, (size_t)len);
        to += len;
    }
}

uint8_t *bf_dump_whole(const bf_value *v, size_t *len) {
    size_t head_len;
    uint8_t *head = bf_dump_head(v, &head_len);
    *len = head_len + (size_t)bf_value_bytes(v);
    uint8_t *whole = RedisModule_Alloc(*len);
    memcpy(whole, head, head_len);
    RedisModule_Free(head);
    gather(v, whole + head_len);
    return whole;
}

const uint8_t *bf_dump_layer(const bf_value *v, uint32_t i, size_t *len, uint8_t **scratch) {
    *scratch = NULL;
    bf_room room;
    const umbeli_chain *c = bf_value_chain(v, &room);
    if (c) {
        *len = (size_t)c->layers[i].bytes;
        return c->layers[i].bits;
    }
    *len = (size_t)umbeli_filter_bytes(v->filter);
    if (*len == v->filter->data_len) return v->filter->data;
    *scratch = RedisModule_Alloc(*len);
    gather(v, *scratch);
    return *scratch;
}

/* ---- Loading ---- */

/* The bits, if any, one layer after the other. */
typedef struct source {
    const uint8_t *bits;
    uint64_t len;
} source;

static umbel_err next_bits(void *ctx, uint64_t len, const uint8_t **bits, umbel_diag *diag) {
    source *from = ctx;
    *bits = from->bits;
    if (!from->bits) return UMBEL_OK;
    if (len > from->len) return umbeli_fail(diag, UMBEL_ECORRUPT, "the bits are cut short");
    from->bits += len;
    from->len -= len;
    return UMBEL_OK;
}

/* What clients send has no other checksum. */
static umbel_err read_sealed(const uint8_t *bytes, size_t len, bf_head *head, umbel_diag *diag) {
    umbel_err e = bf_head_read(bytes, len, head, diag);
    if (!e && !head->sealed) e = umbeli_fail(diag, UMBEL_ECORRUPT, "the checksum is missing");
    return e;
}

/* There must be exactly as many bits as the head says; checked before anything is allocated. */
static umbel_err check_bits(const bf_head *head, source from, umbel_diag *diag) {
    const uint8_t *bits;
    umbel_err e = UMBEL_OK;
    for (uint32_t i = 0; i < head->count && !e; i++) {
        e = next_bits(&from, bf_head_bytes(head, i), &bits, diag);
    }
    if (!e && from.len) e = umbeli_fail(diag, UMBEL_ECORRUPT, "bytes after the bits");
    return e;
}

static umbel_err load_redisbloom(const uint8_t *bytes, size_t len, source from, uint64_t max_bytes,
                                 bf_value **out, umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(max_bytes, NULL);
    settings.plain = true;
    umbeli_redisbloom_head h;
    umbel_filter *f = NULL;
    umbel_err e = umbeli_redisbloom_read_header(bytes, len, &h, diag);
    if (!e && from.bits && from.len != h.bytes) {
        e = umbeli_fail(diag, UMBEL_ECORRUPT, "the bits do not match the header");
    }
    if (!e) e = umbeli_redisbloom_from_header(bytes, len, &h, NULL, &settings, &f, diag);
    if (e) return e;
    for (uint32_t i = 0; i < h.count && from.bits; i++) {
        const umbeli_layer *link = &umbeli_chain_of(f)->layers[i];
        memcpy(link->bits, from.bits, (size_t)link->bytes);
        from.bits += link->bytes;
    }
    return bf_redisbloom_value(f, out, diag);
}

umbel_err bf_redisbloom_value(umbel_filter *f, bf_value **out, umbel_diag *diag) {
    const umbeli_redisbloom *r = umbeli_redisbloom_of(f);
    bool grows = !(r->options & UMBELI_REDISBLOOM_NO_SCALING);
    bf_params params = {
        .layout = BF_REDISBLOOM,
        .error = f->shape.fpr,
        .capacity = r->chain.layers[0].capacity,
        .expansion = r->growth | (grows ? 0 : BF_EXPANSION_FIXED),
    };
    return bf_value_of(&params, f, out, diag);
}

umbel_err bf_load_head(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                       umbel_diag *diag) {
    bf_head head;
    source none = {0};
    if (!bf_head_begins(bytes, len)) {
        return load_redisbloom(bytes, len, none, max_bytes, out, diag);
    }
    umbel_err e = read_sealed(bytes, len, &head, diag);
    if (!e && head.len != len) {
        e = umbeli_bad(diag, head.len, "bytes after the head");
    }
    return e ? e : bf_head_load(&head, next_bits, &none, max_bytes, out, diag);
}

umbel_err bf_load_whole(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                        umbel_diag *diag) {
    bf_head head;
    if (!bf_head_begins(bytes, len)) {
        size_t head_len = umbeli_redisbloom_header_len(bytes, len);
        source from = {bytes + head_len, len - head_len};
        return load_redisbloom(bytes, head_len, from, max_bytes, out, diag);
    }
    umbel_err e = read_sealed(bytes, len, &head, diag);
    if (e) return e;
    source from = {bytes + head.len, len - head.len};
    e = check_bits(&head, from, diag);
    return e ? e : bf_head_load(&head, next_bits, &from, max_bytes, out, diag);
}
