/* SPDX-License-Identifier: MIT */
#include "storage/dump_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "core/diag.h"
#include "kind/chain/window.h"
#include "value/server_memory.h"
#include "value/value_internal.h"

enum { FIXED = 128, VALUE_BYTES = 40 };

/* Counts that add up without overflow whatever a head says. */
static const uint64_t most = UINT64_C(1) << 56;

static umbel_err bad(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset, what);
}

/* ---- Properties in metadata ---- */

/* What the properties are of a filter that says nothing about them. */
static bf_params bare_params(const umbeli_shape *shape, uint32_t generations) {
    return (bf_params){
        .layout = BF_BLOCKED,
        .error = shape->fpr,
        .capacity = shape->capacity,
        .counting = shape->kind == UMBEL_COUNTING,
        .window = generations,
    };
}

static bool read_count(const char *text, uint64_t least, uint64_t high, uint64_t *out) {
    char *end = NULL;
    if (*text < '0' || *text > '9') return false;
    unsigned long long n = strtoull(text, &end, 10);
    if (*end || n < least || n > high) return false;
    *out = n;
    return true;
}

static bool read_rate(const char *text, double *out) {
    char *end = NULL;
    double x = strtod(text, &end);
    if (end == text || *end || !(x > 0 && x < 1)) return false;
    *out = x;
    return true;
}

/* One entry of the first header; false: not one that can be. */
static bool take_property(const char *name, const char *text, bf_head *head) {
    uint64_t n = 0;
    bf_params *p = &head->params;
    if (strcmp(name, "bf.error") == 0) return read_rate(text, &p->error);
    if (strcmp(name, "bf.tightening") == 0) return read_rate(text, &p->tightening);
    if (strcmp(name, "bf.capacity") == 0) return read_count(text, 1, most, &p->capacity);
    if (strcmp(name, "bf.expansion") == 0) {
        bool fine = read_count(text, 0, BF_EXPANSION_MAX, &n);
        p->expansion = (uint32_t)n;
        return fine;
    }
    if (strcmp(name, "bf.layers") == 0) {
        bool fine = read_count(text, 1, BF_LAYERS_MAX, &n);
        head->count = (uint32_t)n;
        return fine;
    }
    return false;
}

static bool is_property(const uint8_t *name, uint16_t len) {
    return len >= 3 && memcmp(name, "bf.", 3) == 0;
}

/* The metadata of layer i, entry by entry; the codec checks all else about it. */
static umbel_err take_properties(bf_head *head, uint32_t i, umbel_diag *diag) {
    const umbeli_native_header *h = &head->layers[i];
    const uint8_t *meta = head->bytes + head->at[i] + FIXED + h->own_len;
    umbeli_reader r = umbeli_reader_over(meta, h->meta_len);
    while (umbeli_left(&r) > 0) {
        char name[32], text[VALUE_BYTES];
        uint64_t at = (uint64_t)(meta - head->bytes) + r.pos;
        uint16_t name_len = umbeli_take_u16le(&r);
        uint32_t text_len = umbeli_take_u32le(&r);
        const uint8_t *n = umbeli_take(&r, name_len), *t = umbeli_take(&r, text_len);
        if (r.failed) return bad(diag, at, "metadata: an entry is cut off");
        if (!is_property(n, name_len)) continue;
        if (i > 0) return bad(diag, at, "metadata: a later layer has properties of the chain");
        if (name_len >= sizeof name || text_len >= sizeof text) {
            return umbeli_fail_at(diag, UMBEL_EVERSION, at, "metadata: not a property known here");
        }
        memcpy(name, n, name_len);
        memcpy(text, t, text_len);
        name[name_len] = text[text_len] = 0;
        if (memchr(text, 0, text_len) || !take_property(name, text, head)) {
            return bad(diag, at, "metadata: not a property of a filter");
        }
    }
    return UMBEL_OK;
}

/* ---- Reading ---- */

/* What a layer must be to be in a chain, and what keeps sums of counts from overflowing. */
static const char *layer_wrong(const bf_head *head, uint32_t i) {
    const umbeli_native_header *h = &head->layers[i], *first = &head->layers[0];
    if (h->shape.capacity > most || h->keys_added > most) return "counts: more than there can be";
    if (head->count == 1 && head->params.expansion == 0) return NULL;
    if (h->shape.kind != UMBEL_BLOCKED && h->shape.kind != UMBEL_CLASSIC) {
        return "kind: not one that chains are made of";
    }
    if (h->shape.capacity == 0) return "capacity: none, in a chain that grows";
    if (h->shape.seed != first->shape.seed || h->fingerprint != first->fingerprint) {
        return "seed, key: not those of the first layer";
    }
    return NULL;
}

/* Generations of a window, from the parameters of its kind; checked when it is made. */
static uint32_t generations_of(const uint8_t *bytes, const umbeli_native_header *h) {
    if (h->shape.kind != UMBEL_WINDOW || h->own_len < 4) return 0;
    umbeli_reader own = umbeli_reader_over(bytes + FIXED, h->own_len);
    return umbeli_take_u32le(&own) - 1;
}

static umbel_err read_layer(const uint8_t *bytes, size_t len, bf_head *head, uint32_t i,
                            umbel_diag *diag) {
    umbeli_native_header *h = &head->layers[i];
    head->at[i] = head->len;
    umbel_err e = umbeli_native_read(bytes + head->len, len - head->len, h, diag);
    if (e) {
        if (diag) diag->offset += head->len;
        return e;
    }
    if (i == 0) head->params = bare_params(&h->shape, generations_of(bytes, h));
    e = take_properties(head, i, diag);
    if (e) return e;
    const char *wrong = layer_wrong(head, i);
    if (wrong) return bad(diag, head->at[i], wrong);
    head->len += h->len;
    return UMBEL_OK;
}

umbel_err bf_head_read(const uint8_t *bytes, size_t len, bf_head *head, umbel_diag *diag) {
    head->bytes = bytes;
    head->len = 0;
    head->count = 1;
    for (uint32_t i = 0; i < head->count; i++) {
        umbel_err e = read_layer(bytes, len, head, i, diag);
        if (e) return e;
    }
    if (head->layers[0].fingerprint) {
        if (len - head->len < BF_KEY_BYTES) return bad(diag, len, "the key is missing");
        memcpy(head->params.key, bytes + head->len, BF_KEY_BYTES);
        head->params.keyed = true;
        head->len += BF_KEY_BYTES;
    }
    return UMBEL_OK;
}

umbel_err bf_head_layer(const bf_head *head, uint32_t i, uint64_t max_bytes, umbel_filter **out,
                        umbel_diag *diag) {
    umbel_opts opts = {
        .alloc = &bf_memory,
        .max_bytes = max_bytes,
        .key = head->params.keyed ? head->params.key : NULL,
    };
    umbeli_native_header h = head->layers[i];
    umbeli_settings memory;
    umbel_err e = umbeli_settings_from(&opts, &memory, diag);
    if (!e) e = umbeli_native_take_key(&h, &memory, diag);
    if (!e) e = umbeli_native_make(head->bytes + head->at[i], &h, NULL, &memory, out, diag);
    return e;
}

bf_value *bf_head_value(const bf_head *head, umbel_filter *const *layers) {
    static const char *const names[] = {"bf.error", "bf.tightening", "bf.capacity", "bf.expansion",
                                        "bf.layers"};
    /* The value keeps them where they take less room. */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        umbeli_meta_remove(layers[0], names[i]);
    return bf_value_of(&head->params, layers, head->count);
}

bool bf_bits_end_clean(const umbel_filter *f) {
    unsigned used = f->shape.bits % 8;
    return !used || f->data_len == 0 || f->shape.format != UMBEL_FMT_NATIVE ||
           f->shape.kind != UMBEL_CLASSIC || !(f->data[f->data_len - 1] >> used);
}

/* ---- Writing ---- */

/* Scratch memory for a few names: as for everything else of this size, the server ends without. */
static void *must_take(void *ctx, size_t size) {
    (void)ctx;
    return RedisModule_Alloc(size);
}

static void give_back(void *ctx, void *ptr) {
    (void)ctx;
    RedisModule_Free(ptr);
}

static void put_property(umbel_filter *f, const char *name, const char *text) {
    (void)umbeli_meta_set(f, name, strlen(name), text, strlen(text), NULL);
}

static void put_count(umbel_filter *f, const char *name, uint64_t n) {
    char text[VALUE_BYTES];
    snprintf(text, sizeof text, "%" PRIu64, n);
    put_property(f, name, text);
}

static void put_rate(umbel_filter *f, const char *name, double x) {
    char text[VALUE_BYTES];
    snprintf(text, sizeof text, "%.17g", x);
    if (x > 0) put_property(f, name, text);
}

static bool has_properties(const bf_value *v) {
    const umbel_filter *f = v->newest;
    const bf_params *p = &v->params;
    return v->older_count || p->expansion || p->tightening > 0 || p->error != f->shape.fpr ||
           p->capacity != f->shape.capacity;
}

/* A stand-in for the first layer that has the properties of the chain in its metadata. */
static umbel_filter *dress(const bf_value *v) {
    const umbel_filter *first = bf_chain_at(v, 0);
    const bf_params *p = &v->params;
    umbel_filter *f = RedisModule_Alloc(first->ops->size);
    memcpy(f, first, first->ops->size);
    f->memory = (umbeli_settings){.hook = {.alloc = must_take, .free = give_back}};
    f->meta = NULL;
    f->meta_count = f->meta_cap = 0;
    if (has_properties(v)) {
        put_count(f, "bf.layers", bf_chain_count(v));
        put_rate(f, "bf.error", p->error);
        if (p->capacity) put_count(f, "bf.capacity", p->capacity);
        put_count(f, "bf.expansion", p->expansion);
        put_rate(f, "bf.tightening", p->tightening);
    }
    (void)umbeli_meta_copy(f, first); /* what others put there, if it still fits */
    return f;
}

static void undress(umbel_filter *f) {
    for (size_t i = 0; i < f->meta_count; i++) RedisModule_Free(f->meta[i].name);
    RedisModule_Free(f->meta);
    RedisModule_Free(f);
}

uint8_t *bf_head_write(const bf_value *v, size_t *len) {
    umbel_filter *first = dress(v);
    uint64_t size = umbeli_native_header_len(first);
    for (uint32_t i = 1; i < bf_chain_count(v); i++) {
        size += umbeli_native_header_len(bf_chain_at(v, i));
    }
    if (v->params.keyed) size += BF_KEY_BYTES;
    umbeli_span span = {.bytes = RedisModule_Alloc((size_t)size), .cap = (size_t)size};
    for (uint32_t i = 0; i < bf_chain_count(v); i++) {
        umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span}; /* a header begins at 0 */
        umbeli_native_put_header(i ? bf_chain_at(v, i) : first, &w);
    }
    if (v->params.keyed) umbeli_span_sink(&span, v->params.key, BF_KEY_BYTES);
    undress(first);
    *len = span.used;
    return span.bytes;
}
