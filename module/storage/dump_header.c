/* SPDX-License-Identifier: MIT */
#include "storage/dump_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "core/diag.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "kind/blocked/line.h"
#include "kind/classic/classic.h"
#include "value/server_memory.h"

enum { NAME_BYTES = 32, VALUE_BYTES = 40 };

/* Counts at most this large add up without overflow, whatever a head says. */
static const uint64_t count_max = UINT64_C(1) << 56;

static umbel_err bad(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset, what);
}

/* ---- Properties in metadata ---- */

/* Defaults for a filter that does not state its properties. */
static bf_params bare_params(const umbeli_shape *shape) {
    return (bf_params){
        .layout = BF_BLOCKED,
        .error = shape->fpr,
        .capacity = shape->capacity,
        .counting = shape->kind == UMBEL_KIND_COUNTING,
    };
}

static bool read_count(const char *text, uint64_t min, uint64_t max, uint64_t *out) {
    char *end = NULL;
    if (*text < '0' || *text > '9') return false;
    unsigned long long n = strtoull(text, &end, 10);
    if (*end || n < min || n > max) return false;
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

/* Parses one metadata entry of the first header; false if it is not valid. */
static bool take_property(const char *name, const char *text, bf_head *head) {
    uint64_t n = 0;
    bf_params *p = &head->params;
    if (strcmp(name, "bf.error") == 0) return read_rate(text, &p->error);
    if (strcmp(name, "bf.tightening") == 0) return read_rate(text, &p->tightening);
    if (strcmp(name, "bf.capacity") == 0) return read_count(text, 1, count_max, &p->capacity);
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

static bool is_property(const char *name, uint16_t len) {
    return len >= 3 && memcmp(name, "bf.", 3) == 0;
}

/* Reads the properties among the metadata of layer i; the library checks everything else in it. */
static umbel_err take_properties(bf_head *head, uint32_t i, umbel_diag *diag) {
    umbeli_native_meta m = umbeli_native_meta_begin(head->bytes + head->at[i], &head->layers[i]);
    while (umbeli_native_meta_next(&m)) {
        char name[NAME_BYTES], text[VALUE_BYTES];
        uint64_t at = head->at[i] + m.at;
        if (!is_property(m.name, m.name_len)) continue;
        if (i > 0) return bad(diag, at, "metadata: a later layer has properties of the chain");
        if (m.name_len >= sizeof name || m.value_len >= sizeof text) {
            return umbeli_fail_at(diag, UMBEL_EVERSION, at, "metadata: unknown property");
        }
        memcpy(name, m.name, m.name_len);
        memcpy(text, m.value, m.value_len);
        name[m.name_len] = text[m.value_len] = 0;
        if (memchr(text, 0, m.value_len) || !take_property(name, text, head)) {
            return bad(diag, at, "metadata: invalid property");
        }
    }
    return m.failed ? bad(diag, head->at[i] + m.at, "metadata: an entry is cut short") : UMBEL_OK;
}

/* ---- Reading ---- */

/* Blocked, line and classic filters are layers of a chain, even if there is only one. */
static bool is_layer(const umbeli_native_header *h) {
    return umbeli_native_probes(h->shape.kind) != NULL;
}

/* What a layer must satisfy to be part of a chain, and to keep sums of counts from overflowing. */
static const char *layer_wrong(const bf_head *head, uint32_t i) {
    const umbeli_native_header *h = &head->layers[i], *first = &head->layers[0];
    if (h->shape.capacity > count_max || h->keys_added > count_max) {
        return "counts: larger than possible";
    }
    if (head->count == 1 && head->params.expansion == 0) return NULL;
    if (!is_layer(h)) return "kind: chains have blocked, line and classic layers only";
    if (h->shape.capacity == 0) return "capacity: missing in a chain that grows";
    if (h->shape.seed != first->shape.seed || h->fingerprint != first->fingerprint) {
        return "seed, secret: not those of the first layer";
    }
    return NULL;
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
    if (i == 0) head->params = bare_params(&h->shape);
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
        if (len - head->len < BF_KEY_BYTES) return bad(diag, len, "the secret is missing");
        memcpy(head->params.key, bytes + head->len, BF_KEY_BYTES);
        head->params.keyed = true;
        head->len += BF_KEY_BYTES;
    }
    return UMBEL_OK;
}

/* ---- Making ---- */

static umbel_err describe_layer(const umbeli_native_header *h, umbeli_layer *out,
                                umbel_diag *diag) {
    umbel_err e =
        h->shape.kind == UMBEL_KIND_BLOCKED ? umbeli_blocked_check(&h->shape, h->payload_len, diag)
        : h->shape.kind == UMBEL_KIND_LINE  ? umbeli_line_check(&h->shape, h->payload_len, diag)
                                            : umbeli_classic_check(&h->shape, h->payload_len, diag);
    if (e) return e;
    if (h->kind_params_len) {
        return umbeli_fail(diag, UMBEL_EVERSION, "parameters: this kind has none");
    }
    *out = (umbeli_layer){
        .probes = umbeli_native_probes(h->shape.kind),
        .bytes = h->payload_len,
        .nbits = h->shape.bits,
        .hashes = h->shape.hashes,
        .capacity = h->shape.capacity,
        .keys = h->keys_added,
        .rate = h->shape.fpr,
    };
    return UMBEL_OK;
}

/* Makes the filter with its first layer, or all of one that is not a chain. */
static umbel_err make_first(const bf_head *head, uint64_t max_bytes, umbel_filter **out,
                            umbel_diag *diag) {
    umbeli_settings settings =
        bf_memory_settings(max_bytes, head->params.keyed ? head->params.key : NULL);
    umbeli_native_header h = head->layers[0];
    umbeli_layer layer;
    umbel_filter *f = NULL;
    umbel_err e = umbeli_native_take_secret(&h, &settings, diag);
    if (e) return e;
    if (!is_layer(&h)) return umbeli_native_make(head->bytes, &h, NULL, &settings, out, diag);
    e = describe_layer(&h, &layer, diag);
    if (!e) e = bf_layers_new(&head->params, &h.shape, &layer, &settings, &f, diag);
    if (e) return e;
    e = umbeli_native_take_meta(f, head->bytes, &h, diag);
    if (e) {
        umbel_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

static umbel_err append_layer(const bf_head *head, uint32_t i, uint64_t max_bytes, umbel_filter *f,
                              umbel_diag *diag) {
    umbeli_layer layer;
    umbel_err e = describe_layer(&head->layers[i], &layer, diag);
    if (e) return e;
    e = umbeli_chain_append((umbeli_chain *)f, &layer, max_bytes);
    if (e) return umbeli_fail(diag, e, "out of memory for a layer");
    umbeli_count_added(f, layer.keys);
    return UMBEL_OK;
}

/* Bits that end at byte `end` of the payload. */
static umbel_err fill(umbel_filter *f, uint64_t end, const uint8_t *bits, uint64_t len,
                      umbel_diag *diag) {
    if (!bits || len == 0) return UMBEL_OK;
    if (!umbeli_redisbloom_load_chunk(f, (int64_t)end + 1, bits, (size_t)len, NULL)) {
        return UMBEL_OK;
    }
    return umbeli_fail(diag, UMBEL_ECORRUPT, "bits are set after the last one");
}

static umbel_err make_all(const bf_head *head, bf_bits_source source, void *ctx, uint64_t max_bytes,
                          umbel_filter **f, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    uint64_t end = 0;
    for (uint32_t i = 0; i < head->count && !e; i++) {
        uint64_t len = head->layers[i].payload_len;
        const uint8_t *bits = NULL;
        e = source(ctx, len, &bits, diag);
        if (!e) {
            e = i == 0 ? make_first(head, max_bytes, f, diag)
                       : append_layer(head, i, max_bytes, *f, diag);
        }
        end += len;
        if (!e) e = fill(*f, end, bits, len, diag);
    }
    return e;
}

umbel_err bf_head_load(const bf_head *head, bf_bits_source source, void *ctx, uint64_t max_bytes,
                       bf_value **out, umbel_diag *diag) {
    static const char *const names[] = {"bf.error", "bf.tightening", "bf.capacity", "bf.expansion",
                                        "bf.layers"};
    umbel_filter *f = NULL;
    umbel_err e = make_all(head, source, ctx, max_bytes, &f, diag);
    if (e) {
        umbel_free(f);
        return e;
    }
    /* The value has them in a more compact form. */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) umbeli_meta_remove(f, names[i]);
    bf_params params = head->params;
    params.window = umbeli_window_generations(f);
    return bf_value_of(&params, f, out, diag);
}

/* ---- Writing ---- */

/* Writes the properties of a chain as metadata of its first header. */
typedef struct properties {
    size_t count;
    umbeli_meta_entry entries[5];
    char texts[5][VALUE_BYTES];
} properties;

static char *put(properties *p, const char *name) {
    char *text = p->texts[p->count];
    p->entries[p->count++] = (umbeli_meta_entry){.name = (char *)(uintptr_t)name, .value = text};
    return text;
}

static void put_count(properties *p, const char *name, uint64_t n) {
    snprintf(put(p, name), VALUE_BYTES, "%" PRIu64, n);
}

static void put_rate(properties *p, const char *name, double x) {
    if (x > 0) snprintf(put(p, name), VALUE_BYTES, "%.17g", x);
}

/* Not needed for a filter whose header says everything. */
static void describe_chain(const bf_value *v, const umbeli_native_source *first, properties *p) {
    const bf_params *params = &v->params;
    uint32_t layers = bf_value_layers(v);
    p->count = 0;
    if (layers == 1 && params->expansion == 0 && !(params->tightening > 0) &&
        params->error == first->shape.fpr && params->capacity == first->shape.capacity) {
        return;
    }
    put_count(p, "bf.layers", layers);
    put_rate(p, "bf.error", params->error);
    if (params->capacity) put_count(p, "bf.capacity", params->capacity);
    put_count(p, "bf.expansion", params->expansion);
    put_rate(p, "bf.tightening", params->tightening);
}

static umbeli_native_source source_at(const bf_value *v, uint32_t i, properties *p) {
    umbeli_native_source from = bf_value_chain(v) ? umbeli_native_source_of_layer(v->filter, i)
                                                  : umbeli_native_source_of(v->filter);
    if (i > 0) return from;
    describe_chain(v, &from, p);
    from.extra = p->entries;
    from.extra_count = p->count;
    from.meta_count = umbeli_meta_fitting(v->filter, p->entries, p->count);
    return from;
}

uint8_t *bf_head_write(const bf_value *v, size_t *len) {
    properties p;
    uint64_t size = v->params.keyed ? BF_KEY_BYTES : 0;
    for (uint32_t i = 0; i < bf_value_layers(v); i++) {
        umbeli_native_source from = source_at(v, i, &p);
        size += umbeli_native_header_len(&from);
    }
    umbeli_span span = {.bytes = RedisModule_Alloc((size_t)size), .cap = (size_t)size};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    for (uint32_t i = 0; i < bf_value_layers(v); i++) {
        umbeli_native_source from = source_at(v, i, &p);
        umbeli_native_put_header(&from, &w);
    }
    if (v->params.keyed) umbeli_put(&w, v->params.key, BF_KEY_BYTES);
    *len = span.used;
    return span.bytes;
}
