/* SPDX-License-Identifier: MIT */
#include "storage/dump_header.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "core/diag.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "kind/blocked/line.h"
#include "kind/classic/classic.h"
#include "plan/plan.h"
#include "umbel.h"
#include "value/server_memory.h"
#include "value/value_unboxed.h"
#include "value/value_window.h"

enum { NAME_BYTES = 32, VALUE_BYTES = 40 };

/* Counts at most this large add up without overflow, whatever a head says. */
static const uint64_t count_max = UINT64_C(1) << 56;

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
static bool parse_property(const char *name, const char *text, bf_head *head) {
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
static umbel_err read_properties(bf_head *head, uint32_t i, umbel_diag *diag) {
    umbeli_native_meta m = umbeli_native_meta_begin(head->bytes + head->at[i], &head->layers[i]);
    while (umbeli_native_meta_next(&m)) {
        char name[NAME_BYTES], text[VALUE_BYTES];
        uint64_t at = head->at[i] + m.at;
        if (!is_property(m.name, m.name_len)) continue;
        if (i > 0) {
            return umbeli_bad(diag, at, "metadata: a later layer has properties of the chain");
        }
        if (m.name_len >= sizeof name || m.value_len >= sizeof text) {
            return umbeli_fail_at(diag, UMBEL_EVERSION, at, "metadata: unknown property");
        }
        memcpy(name, m.name, m.name_len);
        memcpy(text, m.value, m.value_len);
        name[m.name_len] = text[m.value_len] = 0;
        if (memchr(text, 0, m.value_len) || !parse_property(name, text, head)) {
            return umbeli_bad(diag, at, "metadata: invalid property");
        }
    }
    return m.failed ? umbeli_bad(diag, head->at[i] + m.at, "metadata: an entry is cut short")
                    : UMBEL_OK;
}

/* ---- Reading ---- */

/* Blocked and line filters are layers of a chain, even if there is only one. */
static bool is_layer(const umbeli_native_header *h) {
    return umbeli_native_probes(h->shape.kind) != NULL;
}

/* Checks that a layer can be part of a chain, and that sums of counts do not overflow. */
static const char *layer_wrong(const bf_head *head, uint32_t i) {
    const umbeli_native_header *h = &head->layers[i], *first = &head->layers[0];
    if (h->shape.capacity > count_max || h->keys_added > count_max) {
        return "counts: larger than possible";
    }
    if (i > 0 && h->exceptions) return "exceptions: only the first layer has them";
    if (head->count == 1 && !bf_grows(&head->params)) return NULL;
    if (!is_layer(h)) return "kind: chains have blocked and line layers only";
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
    e = read_properties(head, i, diag);
    if (e) return e;
    const char *wrong = layer_wrong(head, i);
    if (wrong) return umbeli_bad(diag, head->at[i], wrong);
    head->len += h->len;
    return UMBEL_OK;
}

static umbel_err read_native(const uint8_t *bytes, size_t len, bf_head *head, umbel_diag *diag) {
    head->count = 1;
    for (uint32_t i = 0; i < head->count; i++) {
        umbel_err e = read_layer(bytes, len, head, i, diag);
        if (e) return e;
    }
    head->params.keyed = head->layers[0].fingerprint != 0;
    return UMBEL_OK;
}

/* ---- Reading compact heads ---- */

enum { PACKED_MIN = 24, PACKED_MAX = 16 << 20, PACKED_MIN_BITS = 8, PACKED_MAX_BITS = 48 };

static const uint8_t magic[4] = {'U', 'M', 'B', 'F'};

/* The byte after it is never 0, so that the first eight bytes cannot be a number of keys, with
 * which RedisBloom's header begins. */
enum {
    KEYED = 1,
    AUTO = 2,
    DECIMAL = 4,
    TIGHTENING = 8,
    SEALED = 16,
    ALWAYS = 128,
    FLAGS = KEYED | AUTO | DECIMAL | TIGHTENING | SEALED | ALWAYS,
    SEAL_BYTES = 4
};

static uint32_t seal_of(const uint8_t *head, size_t len) {
    return (uint32_t)umbeli_xxh3_64(head, len, 0);
}

/* Kinds of layers, and a flag: the capacity is that of the filter. */
enum { BLOCKED = 1, NARROW = 3, LINE = 5, PACKED = 6, SAME_CAPACITY = 0x80 };

static const struct {
    uint8_t number;
    const umbeli_probes *probes;
} kinds[] = {
    {BLOCKED, &umbeli_probes_blocked},
    {NARROW, &umbeli_probes_narrow},
    {LINE, &umbeli_probes_line},
    {PACKED, &umbeli_probes_packed},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Seven bits per byte, the lowest first; all bytes except the last have bit 7 set. */
static uint64_t read_number(umbeli_reader *r) {
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        uint8_t b = umbeli_take_u8(r);
        n |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) return n;
    }
    r->failed = true;
    return 0;
}

static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
enum { POWERS = sizeof powers / sizeof *powers };

/* A rate as a person writes it: a byte divided by a power of ten. */
static double read_decimal(umbeli_reader *r) {
    uint8_t digits = umbeli_take_u8(r), power = umbeli_take_u8(r);
    return power < POWERS ? digits / powers[power] : 0;
}

static void read_compact_layer(umbeli_reader *r, uint64_t capacity, umbeli_layer *l) {
    uint8_t kind = umbeli_take_u8(r);
    *l = (umbeli_layer){0};
    for (size_t i = 0; i < KINDS; i++) {
        if ((kind & ~SAME_CAPACITY) == kinds[i].number) l->probes = kinds[i].probes;
    }
    uint64_t words = read_number(r), hashes = read_number(r);
    l->bytes = words <= count_max ? 8 * words : 0;
    l->nbits = 8 * l->bytes;
    l->hashes = hashes <= UMBELI_CLASSIC_MAX_HASHES ? (uint32_t)hashes : 0;
    l->capacity = kind & SAME_CAPACITY ? capacity : read_number(r);
    l->keys = read_number(r);
    if (l->probes == &umbeli_probes_narrow && l->nbits && l->hashes) {
        l->rate = umbeli_classic_rate(l->nbits, l->hashes, l->capacity);
    } else if (l->probes && umbeli_is_packed(l)) {
        l->rate = umbeli_packed_rate(l->capacity, l->hashes);
    } else {
        l->rate = umbeli_take_f64le(r);
    }
}

/* Layers of hashes must not be larger than the module makes them. */
static bool may_keep_hashes(const bf_head *head, uint32_t i) {
    const umbeli_layer *l = &head->described[i];
    if (head->params.expansion != BF_EXPANSION_AUTO) return false;
    return l->bytes >= PACKED_MIN && l->bytes <= PACKED_MAX && l->hashes >= PACKED_MIN_BITS &&
           l->hashes <= PACKED_MAX_BITS && l->capacity <= l->nbits;
}

static const char *compact_layer_wrong(const bf_head *head, uint32_t i) {
    const umbeli_layer *l = &head->described[i];
    if (!l->probes) return "kind: unknown";
    if (l->bytes == 0 || l->hashes == 0) return "bytes, hashes: out of range";
    if (l->capacity == 0 || l->capacity > count_max || l->keys > count_max) {
        return "counts: out of range";
    }
    if (l->probes == &umbeli_probes_blocked &&
        (l->bytes % UMBELI_BLOCK_BYTES || l->bytes / UMBELI_BLOCK_BYTES > UINT32_MAX ||
         l->hashes != UMBELI_BLOCK_LANES)) {
        return "bytes, hashes: not of a blocked layer";
    }
    if (l->probes == &umbeli_probes_line &&
        (l->bytes % UMBELI_LINE_BYTES || l->bytes / UMBELI_LINE_BYTES > UINT32_MAX ||
         (l->hashes != 4 && l->hashes != 8 && l->hashes != 16))) {
        return "bytes, hashes: not of a line layer";
    }
    if (!(l->rate >= 0 && l->rate <= 1)) return "rate: out of range";
    return umbeli_is_packed(l) && !may_keep_hashes(head, i) ? "hashes that cannot be there" : NULL;
}

static umbel_err read_compact(const uint8_t *bytes, size_t len, bf_head *head, umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    bf_params *p = &head->params;
    (void)umbeli_take(&r, sizeof magic);
    uint8_t flags = umbeli_take_u8(&r);
    *p = (bf_params){.layout = BF_BLOCKED, .keyed = (flags & KEYED) != 0};
    p->error = flags & DECIMAL ? read_decimal(&r) : umbeli_take_f64le(&r);
    p->tightening = flags & TIGHTENING ? umbeli_take_f64le(&r) : 0;
    uint64_t expansion = flags & AUTO ? BF_EXPANSION_AUTO : read_number(&r);
    p->capacity = read_number(&r);
    uint64_t count = read_number(&r);
    if (r.failed) return umbeli_bad(diag, r.pos, "the head is cut short");
    if (flags & ~FLAGS) return umbeli_fail_at(diag, UMBEL_EVERSION, 4, "flags: unknown");
    if (!(p->error > 0 && p->error < 1) || !(p->tightening >= 0 && p->tightening < 1) ||
        (expansion > BF_EXPANSION_MAX && !(flags & AUTO)) || p->capacity > count_max ||
        p->capacity == 0 || count == 0 || count > BF_LAYERS_MAX) {
        return umbeli_bad(diag, r.pos, "a property is out of range");
    }
    p->expansion = (uint32_t)expansion;
    head->sealed = (flags & SEALED) != 0;
    head->count = (uint32_t)count;
    for (uint32_t i = 0; i < head->count; i++) {
        read_compact_layer(&r, p->capacity, &head->described[i]);
        if (r.failed) return umbeli_bad(diag, r.pos, "the head is cut short");
        const char *wrong = compact_layer_wrong(head, i);
        if (wrong) return umbeli_bad(diag, r.pos, wrong);
    }
    head->len = r.pos;
    return UMBEL_OK;
}

static bool begins_compact(const uint8_t *bytes, size_t len) {
    return len > sizeof magic && memcmp(bytes, magic, sizeof magic) == 0 &&
           bytes[sizeof magic] & ALWAYS;
}

bool bf_head_begins(const uint8_t *bytes, size_t len) {
    return begins_compact(bytes, len) || umbeli_native_begins(bytes, len);
}

uint64_t bf_head_bytes(const bf_head *head, uint32_t i) {
    return head->compact ? head->described[i].bytes : head->layers[i].payload_len;
}

umbel_err bf_head_read(const uint8_t *bytes, size_t len, bf_head *head, umbel_diag *diag) {
    head->bytes = bytes;
    head->len = 0;
    head->compact = begins_compact(bytes, len);
    head->sealed = !head->compact;
    umbel_err e = (head->compact ? read_compact : read_native)(bytes, len, head, diag);
    if (!e && head->params.keyed) {
        if (len - head->len < BF_KEY_BYTES) return umbeli_bad(diag, len, "the secret is missing");
        memcpy(head->params.key, bytes + head->len, BF_KEY_BYTES);
        head->len += BF_KEY_BYTES;
    }
    if (!e && head->compact && head->sealed) {
        if (len - head->len < SEAL_BYTES) return umbeli_bad(diag, len, "the checksum is missing");
        if (umbeli_load_le32(bytes + head->len) != seal_of(bytes, head->len)) {
            return umbeli_bad(diag, head->len, "the checksum is wrong");
        }
        head->len += SEAL_BYTES;
    }
    return e;
}

/* ---- Making ---- */

static umbel_err describe_layer(const bf_head *head, uint32_t i, umbeli_layer *out,
                                umbel_diag *diag) {
    if (head->compact) {
        *out = head->described[i];
        return UMBEL_OK;
    }
    const umbeli_native_header *h = &head->layers[i];
    umbel_err e = h->shape.kind == UMBEL_KIND_BLOCKED
                      ? umbeli_blocked_check(&h->shape, h->payload_len, diag)
                      : umbeli_line_check(&h->shape, h->payload_len, diag);
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

static umbel_err make_compact(const bf_head *head, uint64_t max_bytes, umbel_filter **out,
                              umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(max_bytes, NULL);
    umbeli_shape hashing = bf_hashing(bf_params_key(&head->params));
    return bf_layers_new(&head->params, &hashing, &head->described[0], &settings, out, diag);
}

/* Makes the filter with its first layer, or all of one that is not a chain. */
static umbel_err make_first(const bf_head *head, uint64_t max_bytes, umbel_filter **out,
                            umbel_diag *diag) {
    if (head->compact) return make_compact(head, max_bytes, out, diag);
    umbeli_settings settings = bf_memory_settings(max_bytes, bf_params_key(&head->params));
    umbeli_native_header h = head->layers[0];
    umbeli_layer layer;
    umbel_filter *f = NULL;
    umbel_err e = umbeli_native_use_secret(&h, &settings, diag);
    if (e) return e;
    if (!is_layer(&h)) return umbeli_native_make(head->bytes, &h, NULL, &settings, out, diag);
    e = describe_layer(head, 0, &layer, diag);
    if (!e) e = bf_layers_new(&head->params, &h.shape, &layer, &settings, &f, diag);
    if (e) return e;
    e = umbeli_native_read_meta(f, head->bytes, &h, diag);
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
    umbel_err e = describe_layer(head, i, &layer, diag);
    if (e) return e;
    e = umbeli_chain_append((umbeli_chain *)f, &layer, max_bytes);
    if (e) return umbeli_fail(diag, e, "out of memory for a layer");
    umbeli_count_added(f, layer.keys);
    return UMBEL_OK;
}

/* The bits of layer i, which end at byte `end` of the payload.  Hashes that have not come yet do
 * not count: saved as they are, there must be as many as the layer says. */
static umbel_err fill(const bf_head *head, uint32_t i, umbel_filter *f, uint64_t end,
                      const uint8_t *bits, umbel_diag *diag) {
    uint64_t len = bf_head_bytes(head, i);
    umbeli_chain *c = (umbeli_chain *)f;
    if (!bits && head->compact) umbeli_chain_recount(c, &c->layers[i]);
    if (!bits || len == 0) return UMBEL_OK;
    if (!umbeli_redisbloom_load_chunk(f, (int64_t)end + 1, bits, (size_t)len, NULL)) {
        return UMBEL_OK;
    }
    return umbeli_fail(diag, UMBEL_ECORRUPT, "the bits of a layer are not valid");
}

static umbel_err make_all(const bf_head *head, bf_bits_source source, void *ctx, uint64_t max_bytes,
                          umbel_filter **f, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    uint64_t end = 0;
    for (uint32_t i = 0; i < head->count && !e; i++) {
        uint64_t len = bf_head_bytes(head, i);
        const uint8_t *bits = NULL;
        e = source(ctx, len, &bits, diag);
        if (!e) {
            e = i == 0 ? make_first(head, max_bytes, f, diag)
                       : append_layer(head, i, max_bytes, *f, diag);
        }
        end += len;
        if (!e) e = fill(head, i, *f, end, bits, diag);
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
    params.window = (uint16_t)umbeli_window_generations(f);
    e = bf_value_of(&params, f, out, diag);
    if (!e) (*out)->by_time = bf_value_clock(*out).step != 0;
    return e;
}

/* ---- Writing compact heads ---- */

static void put_number(umbeli_writer *w, uint64_t n) {
    for (; n > 0x7f; n >>= 7) umbeli_put_u8(w, (uint8_t)(n | 0x80));
    umbeli_put_u8(w, (uint8_t)n);
}

/* The least power of ten that makes the rate a whole byte; 0: it has too many digits. */
static uint8_t decimal_power(double rate, uint8_t *digits) {
    for (unsigned power = 1; power < POWERS; power++) {
        double n = nearbyint(rate * powers[power]);
        if (n > UINT8_MAX) return 0;
        *digits = (uint8_t)n;
        if (n / powers[power] == rate) return (uint8_t)power;
    }
    return 0;
}

static void put_layer(umbeli_writer *w, const umbeli_layer *l, uint64_t capacity) {
    uint8_t kind = l->capacity == capacity ? SAME_CAPACITY : 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i].probes == l->probes) kind |= kinds[i].number;
    }
    umbeli_put_u8(w, kind);
    put_number(w, l->bytes / 8);
    put_number(w, l->hashes);
    if (l->capacity != capacity) put_number(w, l->capacity);
    put_number(w, l->keys);
    if (l->probes != &umbeli_probes_narrow && !umbeli_is_packed(l)) {
        umbeli_put_f64le(w, l->rate);
    }
}

static void put_compact(const bf_value *v, bool sealed, umbeli_writer *w) {
    bf_params params = bf_value_params(v), *p = &params;
    bf_room room;
    const umbeli_chain *c = bf_value_chain(v, &room);
    bool automatic = p->expansion == BF_EXPANSION_AUTO;
    uint8_t digits = 0, power = decimal_power(p->error, &digits);
    umbeli_put(w, magic, sizeof magic);
    umbeli_put_u8(w, (uint8_t)(ALWAYS | (p->keyed ? KEYED : 0) | (automatic ? AUTO : 0) |
                               (power ? DECIMAL : 0) | (p->tightening > 0 ? TIGHTENING : 0) |
                               (sealed ? SEALED : 0)));
    if (power) {
        umbeli_put_u8(w, digits);
        umbeli_put_u8(w, power);
    } else {
        umbeli_put_f64le(w, p->error);
    }
    if (p->tightening > 0) umbeli_put_f64le(w, p->tightening);
    if (!automatic) put_number(w, bf_grows(p) ? p->expansion : 0);
    put_number(w, p->capacity);
    put_number(w, c->count);
    for (uint32_t i = 0; i < c->count; i++) put_layer(w, &c->layers[i], p->capacity);
}

/* Native files have neither narrow layers nor those that keep hashes. */
static bool needs_compact(const bf_value *v) {
    bool layered = v->form == BF_HANDLE && bf_value_layered(v);
    const umbeli_chain *c = layered ? umbeli_chain_of(v->filter) : NULL;
    for (uint32_t i = 0; c && i < c->count; i++) {
        if (c->layers[i].probes->scheme == 0) return true;
    }
    return v->form != BF_HANDLE;
}

/* Only native headers have a seed, metadata, exceptions or a recipe. */
static bool fits_compact(const bf_value *v) {
    const umbel_filter *f = v->filter;
    const umbeli_chain *c = umbeli_chain_of(f);
    if (!bf_value_layered(v) || f->shape.seed || f->meta_count || f->exceptions) return false;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->layers[i].capacity == 0) return false;
    }
    return v->capacity > 0 && v->error > 0;
}

/* ---- Writing native headers ---- */

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
    bf_params params = bf_value_params(v);
    uint32_t layers = bf_value_layers(v);
    p->count = 0;
    if (layers == 1 && !bf_grows(&params) && !(params.tightening > 0) &&
        params.error == first->shape.fpr && params.capacity == first->shape.capacity) {
        return;
    }
    put_count(p, "bf.layers", layers);
    put_rate(p, "bf.error", params.error);
    if (params.capacity) put_count(p, "bf.capacity", params.capacity);
    put_count(p, "bf.expansion", bf_grows(&params) ? bf_expansion(&params) : 0);
    put_rate(p, "bf.tightening", params.tightening);
}

static umbeli_native_source source_at(const bf_value *v, uint32_t i, properties *p) {
    umbeli_native_source from = bf_value_layered(v) ? umbeli_native_source_of_layer(v->filter, i)
                                                    : umbeli_native_source_of(v->filter);
    if (i > 0) return from;
    describe_chain(v, &from, p);
    from.extra = p->entries;
    from.extra_count = p->count;
    from.meta_count = umbeli_meta_fitting(v->filter, p->entries, p->count);
    return from;
}

/* Only the module's own chains need properties; a filter from elsewhere keeps its headers. */
static bool is_native(const bf_value *v) {
    properties p;
    if (needs_compact(v)) return false;
    if (!fits_compact(v)) return true;
    (void)source_at(v, 0, &p);
    return p.count == 0;
}

static void put_native(const bf_value *v, umbeli_writer *w) {
    properties p;
    for (uint32_t i = 0; i < bf_value_layers(v); i++) {
        umbeli_native_source from = source_at(v, i, &p);
        umbeli_native_put_header(&from, w);
    }
}

static bool count_only(void *ctx, const void *bytes, size_t len) {
    (void)ctx, (void)bytes, (void)len;
    return true;
}

static void put_head(const bf_value *v, bool sealed, umbeli_writer *w) {
    if (is_native(v)) {
        put_native(v, w);
    } else {
        put_compact(v, sealed, w);
    }
    if (v->keyed) umbeli_put(w, v->key, BF_KEY_BYTES);
}

uint8_t *bf_head_write(const bf_value *v, bool sealed, size_t *len) {
    umbeli_writer size = {.sink = count_only};
    put_head(v, sealed, &size);
    umbeli_span span = {.cap = (size_t)size.written + SEAL_BYTES};
    span.bytes = RedisModule_Alloc(span.cap);
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    put_head(v, sealed, &w);
    if (sealed && begins_compact(span.bytes, span.used)) {
        umbeli_put_u32le(&w, seal_of(span.bytes, span.used));
    }
    *len = span.used;
    return span.bytes;
}
