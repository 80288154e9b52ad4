/* SPDX-License-Identifier: MIT */
#include "format/delta/delta_file.h"

#include "core/diag.h"
#include "core/size.h"
#include "format/codec.h"
#include "format/native/native_header.h"
#include "hash/xxh.h"

static const uint8_t magic[8] = {'U', 'M', 'B', 'D', 0x1a, '\r', '\n', 0};

/* Offsets of the fields; docs/formats/delta.md. */
enum {
    AT_VERSION = 8,
    AT_NUMBER = 12,
    AT_LEN = 16,
    AT_BASE_HEADER = 24,
    AT_BASE_TRAILER = 32,
    AT_BEFORE = 40,
    AT_ADDED = 48,
    AT_REMOVED = 56,
    AT_GUARDED = 64,
    AT_KEYS = 72,
    AT_RATE = 80,
    AT_IN = 88,
    AT_OUT = 120,
    AT_DECIDER_LEN = 152,
    FIXED = 160,
    CHECKSUM = 8,
};

/* A set of cells has 32 bytes there: universe, count, length, number of lower bits. */
enum { SET_COUNT = 8, SET_LEN = 16, SET_LOW = 24 };

enum { VERSION = 1 };

/* ---- reading ------------------------------------------------------------------------------ */

bool umbeli_delta_begins(const uint8_t *bytes, size_t len) {
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

umbel_err umbeli_delta_length(const uint8_t *bytes, size_t len, uint64_t *out, umbel_diag *diag) {
    if (!umbeli_delta_begins(bytes, len)) return umbeli_bad(diag, 0, "magic: not a delta");
    if (len < FIXED + CHECKSUM) return umbeli_cut_off(diag, len, FIXED + CHECKSUM);
    if (umbeli_load_le32(bytes + AT_VERSION) != VERSION) {
        return umbeli_unknown(diag, AT_VERSION, "version: unknown");
    }
    *out = umbeli_load_le64(bytes + AT_LEN);
    if (*out < FIXED + CHECKSUM) return umbeli_bad(diag, AT_LEN, "length: too small");
    return *out > len ? umbeli_cut_off(diag, len, *out) : UMBEL_OK;
}

/* Checks that the bytes begin with a complete, undamaged delta of this version. */
static umbel_err check_envelope(const uint8_t *bytes, size_t len, umbeli_delta *d,
                                umbel_diag *diag) {
    umbel_err e = umbeli_delta_length(bytes, len, &d->len, diag);
    if (e) return e;
    d->sum = umbeli_load_le64(bytes + d->len - CHECKSUM);
    if (umbeli_xxh3_64(bytes, (size_t)(d->len - CHECKSUM), 0) != d->sum) {
        return umbeli_bad(diag, d->len - CHECKSUM, "checksum: the delta is damaged");
    }
    return UMBEL_OK;
}

static umbeli_cells take_set(const uint8_t *at) {
    uint64_t low = umbeli_load_le64(at + SET_LOW);
    return (umbeli_cells){.universe = umbeli_load_le64(at),
                          .count = umbeli_load_le64(at + SET_COUNT),
                          .len = umbeli_load_le64(at + SET_LEN),
                          .low = low < UINT32_MAX ? (uint32_t)low : UINT32_MAX};
}

static bool set_is_possible(const umbeli_cells *s) {
    return s->universe <= UINT64_C(1) << UMBELI_CELLS_MAX_BITS && s->count <= s->universe &&
           s->low <= UMBELI_CELLS_MAX_LOW && s->count / 8 <= s->len &&
           s->universe >> UMBELI_CELLS_MAX_SPREAD <= s->count;
}

/* Where the three parts begin, if their lengths and the delta's agree. */
static bool place(const uint8_t *bytes, umbeli_delta *d) {
    uint64_t out_at, decider_at, end;
    bool fit = umbeli_size_add(FIXED, d->in.len, &out_at) &&
               umbeli_size_add(out_at, d->out.len, &decider_at) &&
               umbeli_size_add(decider_at, d->decider_len, &end) && end == d->len - CHECKSUM;
    if (!fit) return false;
    d->in.bytes = bytes + FIXED;
    d->out.bytes = bytes + out_at;
    d->decider = bytes + decider_at;
    return true;
}

static const char *wrong_counts(const umbeli_delta *d) {
    if (d->number == 0 || d->number > UMBELI_DELTA_MAX) return "number: must be 1 to 1024";
    if (!(d->fpr > 0 && d->fpr < 1)) return "rate: must be above 0 and below 1";
    if (d->added > d->keys) return "keys: fewer than were added";
    if (!set_is_possible(&d->in) || d->in.count > d->added || (d->added && !d->in.count)) {
        return "cells of added keys: impossible";
    }
    bool left = d->removed || d->guarded;
    if (!set_is_possible(&d->out) || left != (d->out.count > 0) || left != (d->decider_len > 0)) {
        return "cells of removed keys: impossible";
    }
    if (d->out.count > d->removed && d->out.count - d->removed > d->guarded) {
        return "cells of removed keys: more than keys";
    }
    return NULL;
}

umbel_err umbeli_delta_read(const uint8_t *bytes, size_t len, umbeli_delta *d, umbel_diag *diag) {
    *d = (umbeli_delta){0};
    umbel_err e = check_envelope(bytes, len, d, diag);
    if (e) return e;
    d->number = umbeli_load_le32(bytes + AT_NUMBER);
    d->base.header = umbeli_load_le64(bytes + AT_BASE_HEADER);
    d->base.trailer = umbeli_load_le64(bytes + AT_BASE_TRAILER);
    d->before = umbeli_load_le64(bytes + AT_BEFORE);
    d->added = umbeli_load_le64(bytes + AT_ADDED);
    d->removed = umbeli_load_le64(bytes + AT_REMOVED);
    d->guarded = umbeli_load_le64(bytes + AT_GUARDED);
    d->keys = umbeli_load_le64(bytes + AT_KEYS);
    d->fpr = umbeli_load_f64(bytes + AT_RATE);
    d->in = take_set(bytes + AT_IN);
    d->out = take_set(bytes + AT_OUT);
    d->decider_len = umbeli_load_le64(bytes + AT_DECIDER_LEN);
    const char *wrong = wrong_counts(d);
    if (wrong) return umbeli_bad(diag, AT_NUMBER, wrong);
    if (!place(bytes, d)) return umbeli_bad(diag, AT_IN, "lengths: contradict each other");
    if (!umbeli_cells_check(&d->in)) return umbeli_bad(diag, FIXED, "cells of added keys: wrong");
    if (!umbeli_cells_check(&d->out)) {
        return umbeli_bad(diag, FIXED + d->in.len, "cells of removed keys: wrong");
    }
    return UMBEL_OK;
}

/* ---- the decider -------------------------------------------------------------------------- */

void umbeli_delta_decider_hashes(const uint64_t *hashes, size_t n, uint64_t *keys) {
    for (size_t i = 0; i < n; i++) {
        uint8_t key[8];
        umbeli_store_le64(key, hashes[i]);
        keys[i] = umbeli_xxh3_64(key, sizeof key, 0);
    }
}

static umbel_err decode_decider(const umbeli_delta *d, const uint8_t *file, size_t len,
                                umbel_filter **out, umbel_diag *diag) {
    const umbeli_settings plain = {.threads = 1}; /* no secret, whatever the list has */
    umbel_filter *f = NULL;
    umbel_err e = umbeli_codec_native.decode(file, len, UMBELI_COPY, &plain, &f, diag);
    if (e) return e;
    bool usable = f->shape.kind == UMBEL_KIND_EXACT && f->shape.seed == 0 && !f->exceptions;
    if (!usable || umbeli_keys_added(f) > d->removed + d->guarded) {
        umbeli_filter_free(f);
        return umbeli_bad(diag, 0, "decider: not one for removed keys");
    }
    *out = f;
    return UMBEL_OK;
}

umbel_err umbeli_delta_decider(const umbeli_delta *d, const umbeli_settings *settings,
                               umbel_filter **out, umbel_diag *diag) {
    umbeli_native_header h;
    if (!d->decider_len) return UMBEL_OK;
    umbel_err e = umbeli_native_read(d->decider, (size_t)d->decider_len, &h, diag);
    if (e) return e;
    uint64_t zeros = umbeli_native_payload_at(h.len) - h.len, len = d->decider_len + zeros;
    uint8_t *file = umbeli_new(settings, (size_t)len);
    if (!file) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a delta");
    memcpy(file, d->decider, h.len);
    memcpy(file + h.len + zeros, d->decider + h.len, (size_t)(d->decider_len - h.len));
    e = decode_decider(d, file, (size_t)len, out, diag);
    umbeli_delete(settings, file);
    return e;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Passes on everything but the zeros between a native file's header and its payload. */
typedef struct unpadded {
    umbeli_writer *to;
    uint64_t at, from, until;
} unpadded;

static bool leave_out(void *ctx, const void *bytes, size_t len) {
    unpadded *u = ctx;
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len;) {
        bool inside = u->at >= u->from && u->at < u->until;
        uint64_t end = u->at < u->from ? u->from : u->at < u->until ? u->until : UINT64_MAX;
        size_t some = end - u->at < len - i ? (size_t)(end - u->at) : len - i;
        if (!inside) umbeli_put(u->to, p + i, some);
        u->at += some;
        i += some;
    }
    return !u->to->failed;
}

static uint64_t header_len(const umbel_filter *f) {
    umbeli_native_source from = umbeli_native_source_of(f);
    return umbeli_native_header_len(&from);
}

static void put_decider(const umbel_filter *f, umbeli_writer *w) {
    uint64_t from = header_len(f);
    unpadded u = {w, 0, from, umbeli_native_payload_at(from)};
    umbeli_writer all = {.sink = leave_out, .ctx = &u};
    umbeli_codec_native.encode(f, &all);
    if (all.failed) w->failed = true;
}

static uint64_t decider_size(const umbel_filter *f) {
    uint64_t from = header_len(f);
    return umbeli_codec_native.size(f) - (umbeli_native_payload_at(from) - from);
}

static void put_set(const umbeli_cells *s, umbeli_writer *w) {
    umbeli_put_u64le(w, s->universe);
    umbeli_put_u64le(w, s->count);
    umbeli_put_u64le(w, s->len);
    umbeli_put_u64le(w, s->low);
}

static void put_header(const umbeli_delta *d, umbeli_writer *w) {
    umbeli_put(w, magic, sizeof magic);
    umbeli_put_u32le(w, VERSION);
    umbeli_put_u32le(w, d->number);
    umbeli_put_u64le(w, d->len);
    umbeli_put_u64le(w, d->base.header);
    umbeli_put_u64le(w, d->base.trailer);
    umbeli_put_u64le(w, d->before);
    umbeli_put_u64le(w, d->added);
    umbeli_put_u64le(w, d->removed);
    umbeli_put_u64le(w, d->guarded);
    umbeli_put_u64le(w, d->keys);
    umbeli_put_f64le(w, d->fpr);
    put_set(&d->in, w);
    put_set(&d->out, w);
    umbeli_put_u64le(w, d->decider_len);
}

umbel_err umbeli_delta_write(umbeli_delta *d, const umbel_filter *decider,
                             const umbeli_settings *settings, uint8_t **bytes, umbel_diag *diag) {
    d->decider_len = decider ? decider_size(decider) : 0;
    d->len = FIXED + d->in.len + d->out.len + d->decider_len + CHECKSUM;
    umbeli_span span = {.bytes = umbeli_new(settings, (size_t)d->len), .cap = (size_t)d->len};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    if (!span.bytes) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a delta");
    put_header(d, &w);
    umbeli_put(&w, d->in.bytes, (size_t)d->in.len);
    umbeli_put(&w, d->out.bytes, (size_t)d->out.len);
    if (decider) put_decider(decider, &w);
    d->sum = umbeli_xxh3_64(span.bytes, span.used, 0);
    umbeli_put_u64le(&w, d->sum);
    *bytes = span.bytes;
    if (!w.failed) return UMBEL_OK;
    umbeli_delete(settings, span.bytes);
    return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the checksums");
}
