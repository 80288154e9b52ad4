/* SPDX-License-Identifier: MIT
 *
 * native.c - umbel's own file: every natively hashed filter, mapped as it lies
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
 * Then zeros up to the payload offset (a multiple of 4096), the payload, the XXH3-64 of each of its
 * pieces (seed: the piece's number), and the XXH3-64 of those sums (seed: the header's checksum).
 * All numbers are little-endian.  Spec: docs/formats/native.md.
 */
#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "core/bits.h"
#include "core/diag.h"
#include "core/size.h"
#include "hash/xxh.h"
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

typedef struct header {
    umbeli_shape shape;
    uint64_t keys_added;
    umbel_treatment treatment;
    uint32_t header_len, own_len, meta_len;
    uint64_t payload_at, payload_len, checksum;
} header;

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

static uint64_t header_len(const umbel_filter *f) {
    return (FIXED + own_len(f) + meta_len(f) + 7) / 8 * 8 + 8;
}

static uint64_t payload_at(uint64_t header_length) {
    return (header_length + PAGE - 1) / PAGE * PAGE;
}

static uint64_t pieces_of(uint64_t payload_len) {
    return umbeli_ceil_div(payload_len, PIECE);
}

/* What the sums of the pieces and their own sum take. */
static uint64_t trailer_len(uint64_t payload_len) {
    return 8 * (pieces_of(payload_len) + 1);
}

static uint64_t piece_sum(const uint8_t *payload, uint64_t len, uint64_t i) {
    uint64_t from = i * PIECE, n = len - from < PIECE ? len - from : PIECE;
    return umbeli_xxh3_64(payload + from, (size_t)n, i);
}

/* ---- decode ------------------------------------------------------------------------------- */

static umbel_err bad(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset, what);
}

static umbel_err unknown(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_EVERSION, offset, what);
}

static bool recognise(const uint8_t *bytes, size_t len) {
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* Everything before the fields: is it a header of this version, whole and undamaged? */
static umbel_err check_envelope(const uint8_t *bytes, size_t len, header *h, umbel_diag *diag) {
    if (!recognise(bytes, len)) return bad(diag, 0, "magic: not an umbel file");
    if (len < FIXED + 8) return bad(diag, len, "the header is cut off");
    uint16_t version = umbeli_load_le16(bytes + 8);
    if (version == VERSION << 8) return unknown(diag, 8, "version: written big-endian");
    if (version != VERSION) return unknown(diag, 8, "version: not known here");
    h->header_len = umbeli_load_le32(bytes + 12);
    if (h->header_len < FIXED + 8 || h->header_len > HEADER_MAX || h->header_len % 8) {
        return bad(diag, 12, "header length: out of range");
    }
    if (h->header_len > len) return bad(diag, len, "the header is cut off");
    h->checksum = umbeli_load_le64(bytes + h->header_len - 8);
    if (umbeli_xxh3_64(bytes, h->header_len - 8, 0) != h->checksum) {
        return bad(diag, h->header_len - 8, "header checksum: the header is damaged");
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
static umbel_err check_fields(const uint8_t *bytes, size_t len, header *h, umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    umbeli_take(&r, 16);
    h->shape.kind = (umbel_kind)umbeli_take_u32le(&r);
    h->shape.format = UMBEL_FMT_NATIVE;
    h->shape.scheme = umbeli_take_u32le(&r);
    h->shape.hash = umbeli_take_u32le(&r);
    h->shape.hashes = umbeli_take_u32le(&r);
    h->shape.seed = umbeli_take_u64le(&r);
    uint64_t fingerprint = umbeli_take_u64le(&r);
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
    if (fingerprint) return unknown(diag, 40, "key fingerprint: keyed filters are not known here");
    if (!(h->shape.fpr >= 0 && h->shape.fpr < 1) || signbit(h->shape.fpr)) {
        return bad(diag, 64, "rate: not in [0, 1)");
    }
    if (!umbeli_bits_none(bytes + 89, 7)) return bad(diag, 89, "bytes 89 to 95: not 0");
    if (piece != PIECE) return unknown(diag, 112, "piece length: not 1 MiB");
    if (umbeli_load_le32(bytes + 124)) return bad(diag, 124, "bytes 124 to 127: not 0");
    uint32_t room = h->header_len - FIXED - 8;
    if (h->own_len > room) return bad(diag, 116, "parameters: beyond the header");
    if (h->meta_len > room - h->own_len) return bad(diag, 120, "metadata: beyond the header");
    uint32_t used = FIXED + h->own_len + h->meta_len;
    if (h->header_len != (used + 7) / 8 * 8 + 8) {
        return bad(diag, 12, "header length: disagrees with the metadata");
    }
    if (!umbeli_bits_none(bytes + used, h->header_len - 8 - used)) {
        return bad(diag, used, "padding: not 0");
    }
    if (h->payload_at != payload_at(h->header_len)) return bad(diag, 96, "payload offset: wrong");
    if (h->payload_len > len || len - h->payload_len < h->payload_at ||
        len - h->payload_len - h->payload_at != trailer_len(h->payload_len)) {
        return bad(diag, 104, "payload length: disagrees with the file's");
    }
    if (!umbeli_bits_none(bytes + h->header_len, h->payload_at - h->header_len)) {
        return bad(diag, h->header_len, "padding: not 0");
    }
    return check_treatment(bytes, &h->treatment, diag);
}

static umbel_err check_payload(const uint8_t *bytes, const header *h, umbel_diag *diag) {
    const uint8_t *payload = bytes + h->payload_at, *sums = payload + h->payload_len;
    uint64_t n = pieces_of(h->payload_len);
    if (umbeli_xxh3_64(sums, (size_t)(8 * n), h->checksum) != umbeli_load_le64(sums + 8 * n)) {
        return bad(diag, (uint64_t)(sums - bytes), "trailer checksum: the trailer is damaged");
    }
    for (uint64_t i = 0; i < n; i++) {
        if (piece_sum(payload, h->payload_len, i) != umbeli_load_le64(sums + 8 * i)) {
            return bad(diag, h->payload_at + i * PIECE, "payload checksum: the bits are damaged");
        }
    }
    unsigned used = h->shape.bits % 8; /* of the last byte */
    if (used && h->payload_len > 0 && payload[h->payload_len - 1] >> used) {
        return bad(diag, h->payload_at + h->payload_len - 1, "bits are set behind the last one");
    }
    return UMBEL_OK;
}

static umbel_err take_meta(umbel_filter *f, const uint8_t *bytes, const header *h,
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

/* The filter that the header describes, without its metadata and, if it is to be a copy, bits. */
static umbel_err make(const uint8_t *bytes, const header *h, umbeli_decoding how,
                      const umbeli_memory *memory, umbel_filter **out, umbel_diag *diag) {
    const umbeli_kind *kind = umbeli_kind_by_id(h->shape.kind);
    if (!kind) return unknown(diag, 16, "kind: not known here");
    if (h->own_len && !kind->take_own) {
        return unknown(diag, 116, "parameters: this kind has none");
    }
    const uint8_t *borrow = how == UMBELI_COPY ? NULL : bytes + h->payload_at;
    umbel_filter *f = NULL;
    umbel_err e = kind->restore(&h->shape, h->payload_len, borrow, memory, &f, diag);
    if (e) {
        if (diag) diag->offset = 16;
        return e;
    }
    f->treatment = h->treatment;
    atomic_store_explicit(&f->keys_added, h->keys_added, memory_order_relaxed);
    umbeli_reader own = umbeli_reader_over(bytes + FIXED, h->own_len);
    if (kind->take_own) e = kind->take_own(f, &own, diag);
    if (e) {
        if (diag) diag->offset = FIXED;
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_memory *memory, umbel_filter **out, umbel_diag *diag) {
    header h = {0};
    umbel_err e = check_envelope(bytes, len, &h, diag);
    if (!e) e = check_fields(bytes, len, &h, diag);
    if (!e && how != UMBELI_BORROW) e = check_payload(bytes, &h, diag);
    if (e) return e;

    const uint8_t *payload = bytes + h.payload_at;
    umbel_filter *f = NULL;
    e = make(bytes, &h, how, memory, &f, diag);
    if (e) return e;
    e = take_meta(f, bytes, &h, diag);
    if (e || how == UMBELI_VERIFY) {
        umbeli_filter_free(f);
        return e;
    }
    if (how == UMBELI_COPY) memcpy(f->data, payload, (size_t)h.payload_len);
    *out = f;
    return UMBEL_OK;
}

/* ---- size and encode ---------------------------------------------------------------------- */

static uint64_t size(const umbel_filter *f) {
    if (f->shape.format != UMBEL_FMT_NATIVE) return 0;
    return payload_at(header_len(f)) + f->data_len + trailer_len(f->data_len);
}

/* All of the header but its checksum. */
static void put_header(const umbel_filter *f, umbeli_writer *w) {
    const umbel_treatment *t = &f->treatment;
    umbeli_put(w, magic, sizeof magic);
    umbeli_put_u16le(w, VERSION);
    umbeli_put_u16le(w, 0);
    umbeli_put_u32le(w, (uint32_t)header_len(f));
    umbeli_put_u32le(w, (uint32_t)f->shape.kind);
    umbeli_put_u32le(w, f->shape.scheme);
    umbeli_put_u32le(w, f->shape.hash);
    umbeli_put_u32le(w, f->shape.hashes);
    umbeli_put_u64le(w, f->shape.seed);
    umbeli_put_u64le(w, 0); /* not keyed */
    umbeli_put_u64le(w, f->shape.bits);
    umbeli_put_u64le(w, f->shape.capacity);
    umbeli_put_f64le(w, f->shape.fpr);
    umbeli_put_u64le(w, umbeli_keys_added(f));
    umbeli_put_u32le(w, (t->trim ? TRIM : 0u) | (t->lower ? LOWER : 0u) | (t->upper ? UPPER : 0u));
    umbeli_put_u32le(w, t->field);
    umbeli_put_u8(w, t->delimiter);
    umbeli_put_zeros(w, 7);
    umbeli_put_u64le(w, payload_at(header_len(f)));
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
    umbeli_put_zeros(w, header_len(f) - 8 - w->written);
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_xxh3_stream sum;
    umbeli_writer summing = {.sink = umbeli_xxh3_sink, .ctx = &sum};
    umbeli_xxh3_begin(&sum, 0);
    put_header(f, &summing);
    uint64_t header_sum = umbeli_xxh3_end(&sum);

    put_header(f, w);
    umbeli_put_u64le(w, header_sum);
    umbeli_put_zeros(w, payload_at(header_len(f)) - header_len(f));
    for (uint64_t at = 0; at < f->data_len; at += PIECE) {
        umbeli_put(w, f->data + at, (size_t)(f->data_len - at < PIECE ? f->data_len - at : PIECE));
    }
    umbeli_xxh3_begin(&sum, header_sum);
    for (uint64_t i = 0; i < pieces_of(f->data_len); i++) {
        uint8_t bytes[8];
        umbeli_store_le64(bytes, piece_sum(f->data, f->data_len, i));
        umbeli_xxh3_sink(&sum, bytes, sizeof bytes);
        umbeli_put(w, bytes, sizeof bytes);
    }
    umbeli_put_u64le(w, umbeli_xxh3_end(&sum));
}

const umbeli_codec umbeli_codec_native = {
    .id = UMBEL_FMT_NATIVE,
    .name = "native",
    .system = "umbel",
    .recognise = recognise,
    .decode = decode,
    .size = size,
    .encode = encode,
};
