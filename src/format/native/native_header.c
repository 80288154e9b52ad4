/* SPDX-License-Identifier: MIT
 *
 * native_header.c - fields of a native file's header, each checked
 *
 *   offset  size  field                             offset  size  field
 *   0       8     magic "UMBEL" 1a 0d 0a            72      8     keys added
 *   8       2     version, 1                        80      4     treatment: 1 trim 2 lower 4 upper
 *   10      2     0                                 84      4     treatment: field, 0: whole line
 *   12      4     header length H, checksum incl.   88      1     treatment: delimiter, 0: blanks
 *   16      4     kind                              89      7     0
 *   20      4     scheme                            96      8     payload offset
 *   24      4     hash                              104     8     payload length
 *   28      4     hashes                            112     4     payload piece length, 1 MiB
 *   32      8     seed                              116     4     kind's own parameters, length
 *   40      8     key fingerprint, 0: not keyed     120     4     metadata, length
 *   48      8     bits                              124     4     0
 *   56      8     capacity                          128     ...   kind's own parameters
 *   64      8     requested rate, f64               ...     ...   metadata, zeros up to H - 8
 *                                                   H - 8   8     XXH3-64 of all before
 *
 * All numbers are little-endian.  Spec: docs/formats/native.md.
 */
#include "format/native/native_header.h"

#include <math.h>
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/kind.h"

static const uint8_t magic[8] = {'U', 'M', 'B', 'E', 'L', 0x1a, '\r', '\n'};

enum {
    VERSION = 1,
    FIXED = 128,
    PAGE = 4096,
    PIECE = 1024 * 1024,
    HEADER_MAX = 1024 * 1024,
    TRIM = 1,
    LOWER = 2,
    UPPER = 4,
};

/* Metadata entries: u16 name length, u32 value length, name, value. */
enum { META_ENTRY = 6 };

static uint64_t meta_len(const umbel_filter *f) {
    return umbeli_meta_bytes(f) + META_ENTRY * f->meta_count;
}

/* Parameters of the kind's own. */
static uint64_t own_len(const umbel_filter *f) {
    const umbeli_kind *kind = umbeli_kind_by_id(f->shape.kind);
    return kind->own_len ? kind->own_len(f) : 0;
}

uint64_t umbeli_native_header_len(const umbel_filter *f) {
    return (FIXED + own_len(f) + meta_len(f) + 7) / 8 * 8 + 8;
}

uint64_t umbeli_native_payload_at(uint64_t header_len) {
    return (header_len + PAGE - 1) / PAGE * PAGE;
}

/* ---- reading ------------------------------------------------------------------------------ */

static umbel_err bad(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset, what);
}

static umbel_err unknown(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_EVERSION, offset, what);
}

bool umbeli_native_begins(const uint8_t *bytes, size_t len) {
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* Everything before the fields: is it a header of this version, whole and undamaged? */
static umbel_err check_envelope(const uint8_t *bytes, size_t len, umbeli_native_header *h,
                                umbel_diag *diag) {
    if (!umbeli_native_begins(bytes, len)) return bad(diag, 0, "magic: not an umbel file");
    if (len < FIXED + 8) return bad(diag, len, "the header is cut off");
    uint16_t version = umbeli_load_le16(bytes + 8);
    if (version == VERSION << 8) return unknown(diag, 8, "version: written big-endian");
    if (version != VERSION) return unknown(diag, 8, "version: not known here");
    h->len = umbeli_load_le32(bytes + 12);
    if (h->len < FIXED + 8 || h->len > HEADER_MAX || h->len % 8) {
        return bad(diag, 12, "header length: out of range");
    }
    if (h->len > len) return bad(diag, len, "the header is cut off");
    h->checksum = umbeli_load_le64(bytes + h->len - 8);
    if (umbeli_xxh3_64(bytes, h->len - 8, 0) != h->checksum) {
        return bad(diag, h->len - 8, "header checksum: the header is damaged");
    }
    return UMBEL_OK;
}

static umbel_err check_treatment(const uint8_t *bytes, umbel_treatment *t, umbel_diag *diag) {
    uint32_t flags = umbeli_load_le32(bytes + 80);
    *t = (umbel_treatment){
        .trim = flags & TRIM,
        .lower = flags & LOWER,
        .upper = flags & UPPER,
        .field = umbeli_load_le32(bytes + 84),
        .delimiter = bytes[88],
    };
    if (flags & ~(uint32_t)(TRIM | LOWER | UPPER))
        return unknown(diag, 80, "treatment: unknown flag");
    const char *wrong = umbeli_treatment_wrong(t);
    return wrong ? bad(diag, 80, wrong) : UMBEL_OK;
}

/* The fields that lie between envelope and kind; all lengths against each other and len. */
static umbel_err check_fields(const uint8_t *bytes, size_t len, umbeli_native_header *h,
                              umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    umbeli_take(&r, 16);
    h->shape.kind = (umbel_kind)umbeli_take_u32le(&r);
    h->shape.format = UMBEL_FMT_NATIVE;
    h->shape.scheme = umbeli_take_u32le(&r);
    h->shape.hash = umbeli_take_u32le(&r);
    h->shape.hashes = umbeli_take_u32le(&r);
    h->shape.seed = umbeli_take_u64le(&r);
    h->fingerprint = umbeli_take_u64le(&r);
    h->shape.bits = umbeli_take_u64le(&r);
    h->shape.capacity = umbeli_take_u64le(&r);
    h->shape.fpr = umbeli_take_f64le(&r);
    h->keys_added = umbeli_take_u64le(&r);
    umbeli_take(&r, 16);
    h->payload_at = umbeli_take_u64le(&r);
    h->payload_len = umbeli_take_u64le(&r);
    uint32_t piece = umbeli_take_u32le(&r);
    h->own_len = umbeli_take_u32le(&r);
    h->meta_len = umbeli_take_u32le(&r);

    if (umbeli_load_le16(bytes + 10)) return bad(diag, 10, "byte 10: not 0");
    if (umbeli_is_keyed(&h->shape) != (h->fingerprint != 0)) {
        return bad(diag, 40, "key fingerprint: keyed hashes have one, and only they");
    }
    if (!(h->shape.fpr >= 0 && h->shape.fpr < 1) || signbit(h->shape.fpr)) {
        return bad(diag, 64, "rate: not in [0, 1)");
    }
    if (!umbeli_bits_none(bytes + 89, 7)) return bad(diag, 89, "bytes 89 to 95: not 0");
    if (piece != PIECE) return unknown(diag, 112, "piece length: not 1 MiB");
    if (umbeli_load_le32(bytes + 124)) return bad(diag, 124, "bytes 124 to 127: not 0");
    uint32_t room = h->len - FIXED - 8;
    if (h->own_len > room) return bad(diag, 116, "parameters: beyond the header");
    if (h->meta_len > room - h->own_len) return bad(diag, 120, "metadata: beyond the header");
    uint32_t used = FIXED + h->own_len + h->meta_len;
    if (h->len != (used + 7) / 8 * 8 + 8) {
        return bad(diag, 12, "header length: disagrees with the metadata");
    }
    if (!umbeli_bits_none(bytes + used, h->len - 8 - used)) {
        return bad(diag, used, "padding: not 0");
    }
    if (h->payload_at != umbeli_native_payload_at(h->len))
        return bad(diag, 96, "payload offset: wrong");
    return check_treatment(bytes, &h->treatment, diag);
}

umbel_err umbeli_native_read(const uint8_t *bytes, size_t len, umbeli_native_header *h,
                             umbel_diag *diag) {
    *h = (umbeli_native_header){0};
    umbel_err e = check_envelope(bytes, len, h, diag);
    return e ? e : check_fields(bytes, len, h, diag);
}

umbel_err umbeli_native_take_key(umbeli_native_header *h, const umbeli_settings *memory,
                                 umbel_diag *diag) {
    const char *what = NULL;
    if (!memory->keyed && h->fingerprint) what = "the filter is keyed, and no key was given";
    if (memory->keyed && !h->fingerprint) what = "a key was given, and the filter is not keyed";
    if (memory->keyed && h->fingerprint && umbeli_fingerprint(memory->secret) != h->fingerprint) {
        what = "not the key that the filter was made with";
    }
    if (what) return umbeli_fail_at(diag, UMBEL_EKEY, 40, what);
    h->shape.secret = memory->secret;
    return UMBEL_OK;
}

/* ---- making ------------------------------------------------------------------------------- */

static umbel_err take_meta(umbel_filter *f, const uint8_t *bytes, const umbeli_native_header *h,
                           umbel_diag *diag) {
    uint32_t from = FIXED + h->own_len;
    umbeli_reader r = umbeli_reader_over(bytes + from, h->meta_len);
    while (umbeli_left(&r) > 0) {
        uint64_t at = from + r.pos;
        uint16_t name_len = umbeli_take_u16le(&r);
        uint32_t value_len = umbeli_take_u32le(&r);
        const char *name = (const char *)umbeli_take(&r, name_len);
        const char *value = (const char *)umbeli_take(&r, value_len);
        if (r.failed) return bad(diag, at, "metadata: an entry is cut off");
        size_t before = f->meta_count;
        umbel_err e = umbeli_meta_set(f, name, name_len, value, value_len, diag);
        if (e == UMBEL_EINVAL) return bad(diag, at, "metadata: not a name and a text");
        if (e) return e;
        if (f->meta_count == before) return bad(diag, at, "metadata: a name stands twice");
    }
    return UMBEL_OK;
}

/* What the kind leaves to be said: its own parameters, counts, and what travels with a filter. */
static umbel_err complete(umbel_filter *f, const umbeli_kind *kind, const uint8_t *bytes,
                          const umbeli_native_header *h, umbel_diag *diag) {
    f->treatment = h->treatment;
    atomic_store_explicit(&f->keys_added, h->keys_added, memory_order_relaxed);
    umbeli_reader own = umbeli_reader_over(bytes + FIXED, h->own_len);
    umbel_err e = kind->take_own ? kind->take_own(f, &own, diag) : UMBEL_OK;
    if (e && diag) diag->offset = FIXED;
    return e ? e : take_meta(f, bytes, h, diag);
}

umbel_err umbeli_native_make(const uint8_t *bytes, const umbeli_native_header *h,
                             const uint8_t *borrow, const umbeli_settings *memory,
                             umbel_filter **out, umbel_diag *diag) {
    const umbeli_kind *kind = umbeli_kind_by_id(h->shape.kind);
    if (!kind) return unknown(diag, 16, "kind: not known here");
    if (h->own_len && !kind->take_own) {
        return unknown(diag, 116, "parameters: this kind has none");
    }
    umbel_filter *f = NULL;
    umbel_err e = kind->restore(&h->shape, h->payload_len, borrow, memory, &f, diag);
    if (e) {
        if (diag) diag->offset = 16;
        return e;
    }
    e = complete(f, kind, bytes, h, diag);
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* All of the header but its checksum. */
static void put_fields(const umbel_filter *f, umbeli_writer *w) {
    const umbel_treatment *t = &f->treatment;
    umbeli_put(w, magic, sizeof magic);
    umbeli_put_u16le(w, VERSION);
    umbeli_put_u16le(w, 0);
    umbeli_put_u32le(w, (uint32_t)umbeli_native_header_len(f));
    umbeli_put_u32le(w, (uint32_t)f->shape.kind);
    umbeli_put_u32le(w, f->shape.scheme);
    umbeli_put_u32le(w, f->shape.hash);
    umbeli_put_u32le(w, f->shape.hashes);
    umbeli_put_u64le(w, f->shape.seed);
    umbeli_put_u64le(w, umbeli_is_keyed(&f->shape) ? umbeli_fingerprint(f->shape.secret) : 0);
    umbeli_put_u64le(w, f->shape.bits);
    umbeli_put_u64le(w, f->shape.capacity);
    umbeli_put_f64le(w, f->shape.fpr);
    umbeli_put_u64le(w, umbeli_keys_added(f));
    umbeli_put_u32le(w, (t->trim ? TRIM : 0u) | (t->lower ? LOWER : 0u) | (t->upper ? UPPER : 0u));
    umbeli_put_u32le(w, t->field);
    umbeli_put_u8(w, t->delimiter);
    umbeli_put_zeros(w, 7);
    umbeli_put_u64le(w, umbeli_native_payload_at(umbeli_native_header_len(f)));
    umbeli_put_u64le(w, f->data_len);
    umbeli_put_u32le(w, PIECE);
    umbeli_put_u32le(w, (uint32_t)own_len(f));
    umbeli_put_u32le(w, (uint32_t)meta_len(f));
    umbeli_put_u32le(w, 0);
    const umbeli_kind *kind = umbeli_kind_by_id(f->shape.kind);
    if (kind->put_own) kind->put_own(f, w);
    for (size_t i = 0; i < f->meta_count; i++) {
        const umbeli_meta_entry *entry = &f->meta[i];
        umbeli_put_u16le(w, (uint16_t)strlen(entry->name));
        umbeli_put_u32le(w, (uint32_t)strlen(entry->value));
        umbeli_put(w, entry->name, strlen(entry->name));
        umbeli_put(w, entry->value, strlen(entry->value));
    }
    umbeli_put_zeros(w, umbeli_native_header_len(f) - 8 - w->written);
}

uint64_t umbeli_native_put_header(const umbel_filter *f, umbeli_writer *w) {
    umbeli_xxh3_stream sum;
    umbeli_writer summing = {.sink = umbeli_xxh3_sink, .ctx = &sum};
    umbeli_xxh3_begin(&sum, 0);
    put_fields(f, &summing);
    uint64_t checksum = umbeli_xxh3_end(&sum);
    put_fields(f, w);
    umbeli_put_u64le(w, checksum);
    return checksum;
}
