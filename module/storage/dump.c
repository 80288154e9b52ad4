/* SPDX-License-Identifier: MIT */
#include "storage/dump.h"

#include <string.h>

#include "api.h"
#include "core/diag.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "storage/dump_header.h"
#include "storage/type_redisbloom.h"
#include "value/server_memory.h"
#include "value/value_internal.h"

enum { CHUNK_MOST = 16 * 1024 * 1024 };

/* ---- Out ---- */

uint8_t *bf_dump_head(const bf_value *v, size_t *len) {
    if (v->params.layout == BF_BLOCKED) return bf_head_write(v, len);
    uint64_t size = umbeli_redisbloom_header_size(v->newest);
    umbeli_span span = {.bytes = RedisModule_Alloc((size_t)size), .cap = (size_t)size};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    umbeli_redisbloom_put_header(v->newest, &w);
    *len = span.used;
    return span.bytes;
}

/* The layer that byte *offset of all bits lies in; *offset is then that in the layer. */
static umbel_filter *layer_at(const bf_value *v, uint64_t *offset) {
    for (uint32_t i = 0; i < bf_chain_count(v); i++) {
        umbel_filter *f = bf_chain_at(v, i);
        if (*offset < f->data_len) return f;
        *offset -= f->data_len;
    }
    return NULL;
}

void bf_dump_chunk(const bf_value *v, int64_t iterator, int64_t *next, const uint8_t **bytes,
                   size_t *len) {
    if (v->params.layout == BF_REDISBLOOM) {
        umbeli_redisbloom_chunk(v->newest, iterator, next, bytes, len);
        return;
    }
    uint64_t offset = (uint64_t)iterator - 1;
    const umbel_filter *f = iterator > 0 ? layer_at(v, &offset) : NULL;
    *next = 0;
    *bytes = NULL;
    *len = 0;
    if (!f) return;
    uint64_t left = f->data_len - offset;
    *len = left < CHUNK_MOST ? (size_t)left : CHUNK_MOST;
    *bytes = f->data + offset;
    *next = iterator + (int64_t)*len;
}

uint8_t *bf_dump_whole(const bf_value *v, size_t *len) {
    size_t head_len, used;
    uint8_t *head = bf_dump_head(v, &head_len);
    uint64_t size = head_len;
    for (uint32_t i = 0; i < bf_chain_count(v); i++) size += bf_chain_at(v, i)->data_len;
    uint8_t *whole = RedisModule_Alloc((size_t)size);
    memcpy(whole, head, head_len);
    RedisModule_Free(head);
    used = head_len;
    for (uint32_t i = 0; i < bf_chain_count(v); i++) {
        const umbel_filter *f = bf_chain_at(v, i);
        memcpy(whole + used, f->data, (size_t)f->data_len);
        used += (size_t)f->data_len;
    }
    *len = used;
    return whole;
}

/* ---- In ---- */

/* Bits, if there are any, lie one after the other and are just as many as the head says. */
typedef struct source {
    const uint8_t *bits;
    uint64_t len;
} source;

static umbel_err fill(umbel_filter *f, source *from, umbel_diag *diag) {
    if (!from->bits) return UMBEL_OK;
    memcpy(f->data, from->bits, (size_t)f->data_len);
    from->bits += f->data_len;
    from->len -= f->data_len;
    if (bf_bits_end_clean(f)) return UMBEL_OK;
    return umbeli_fail(diag, UMBEL_ECORRUPT, "bits are set behind the last one");
}

static umbel_err check_bits(const bf_head *head, const source *from, umbel_diag *diag) {
    uint64_t left = from->len;
    for (uint32_t i = 0; from->bits && i < head->count; i++) {
        if (left < head->layers[i].payload_len) {
            return umbeli_fail(diag, UMBEL_ECORRUPT, "the bits are cut off");
        }
        left -= head->layers[i].payload_len;
    }
    if (from->bits && left) return umbeli_fail(diag, UMBEL_ECORRUPT, "more than the bits is there");
    return UMBEL_OK;
}

static umbel_err load_blocked(const bf_head *head, source from, uint64_t max_bytes, bf_value **out,
                              umbel_diag *diag) {
    umbel_filter *layers[BF_LAYERS_MAX] = {NULL};
    uint32_t made = 0;
    uint64_t bytes = 0;
    umbel_err e = check_bits(head, &from, diag);
    while (!e && made < head->count) {
        uint64_t left = max_bytes > bytes ? max_bytes - bytes : 1;
        e = bf_head_layer(head, made, max_bytes ? left : 0, &layers[made], diag);
        if (e) break;
        bytes += layers[made]->data_len;
        e = fill(layers[made++], &from, diag);
    }
    bf_value *v = e ? NULL : bf_head_value(head, layers);
    if (v) {
        *out = v;
        return UMBEL_OK;
    }
    while (made > 0) umbel_free(layers[--made]);
    return e ? e : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
}

static umbel_err load_classic(const uint8_t *bytes, size_t len, source from, uint64_t max_bytes,
                              bf_value **out, umbel_diag *diag) {
    umbel_opts opts = {.alloc = &bf_memory, .max_bytes = max_bytes};
    umbeli_redisbloom_head h;
    umbeli_settings memory;
    umbel_filter *f = NULL;
    umbel_err e = umbeli_redisbloom_read_header(bytes, len, &h, diag);
    if (!e && from.bits && from.len != h.bytes) {
        e = umbeli_fail(diag, UMBEL_ECORRUPT, "the bits are not those of the header");
    }
    if (!e) e = umbeli_settings_from(&opts, &memory, diag);
    if (!e) e = umbeli_redisbloom_from_header(bytes, len, &h, NULL, &memory, &f, diag);
    if (e) return e;
    (void)fill(f, &from, NULL);
    return bf_redisbloom_value(f, out, diag);
}

umbel_err bf_load_head(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                       umbel_diag *diag) {
    bf_head head;
    source none = {0};
    if (!umbeli_native_begins(bytes, len)) {
        return load_classic(bytes, len, none, max_bytes, out, diag);
    }
    umbel_err e = bf_head_read(bytes, len, &head, diag);
    if (!e && head.len != len) {
        e = umbeli_fail_at(diag, UMBEL_ECORRUPT, head.len, "more than the head is there");
    }
    return e ? e : load_blocked(&head, none, max_bytes, out, diag);
}

umbel_err bf_load_whole(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                        umbel_diag *diag) {
    bf_head head;
    if (!umbeli_native_begins(bytes, len)) {
        size_t head_len = bf_redisbloom_head_len(bytes, len);
        source from = {bytes + head_len, len - head_len};
        return load_classic(bytes, head_len, from, max_bytes, out, diag);
    }
    umbel_err e = bf_head_read(bytes, len, &head, diag);
    if (e) return e;
    source from = {bytes + head.len, len - head.len};
    return load_blocked(&head, from, max_bytes, out, diag);
}

umbel_err bf_load_chunk(bf_value *v, int64_t iterator, const uint8_t *bytes, size_t len,
                        umbel_diag *diag) {
    if (v->params.layout == BF_REDISBLOOM) {
        return umbeli_redisbloom_load_chunk(v->newest, iterator, bytes, len, diag);
    }
    bool fits = iterator > 0 && (uint64_t)iterator - 1 >= len;
    uint64_t offset = fits ? (uint64_t)iterator - 1 - len : 0;
    umbel_filter *f = fits ? layer_at(v, &offset) : NULL;
    if (!f) return umbeli_fail(diag, UMBEL_EINVAL, "invalid offset - no link found");
    if (len > f->data_len - offset) {
        return umbeli_fail(diag, UMBEL_EINVAL, "invalid chunk - Too big for current filter");
    }
    bool last = len && offset + len == f->data_len;
    unsigned used = f->shape.kind == UMBEL_CLASSIC ? f->shape.bits % 8 : 0;
    if (last && used && bytes[len - 1] >> used) {
        return umbeli_fail(diag, UMBEL_EINVAL, "received bad data");
    }
    if (len) memcpy(f->data + offset, bytes, len);
    return UMBEL_OK;
}
