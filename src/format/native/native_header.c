/* SPDX-License-Identifier: MIT
 *
 * native_header.c - fields of a native file's header, each checked
 *
 *   offset  size  field                             offset  size  field
 *   0       8     magic "UMBEL" 1a 0d 0a            72      8     keys added
 *   8       2     version, 1; 2 with exceptions     80      4     key rule: trim, lower, upper ...
 *   10      2     0                                 84      4     key rule: field, 0: whole line
 *   12      4     header length H, checksum incl.   88      1     key rule: delimiter, 0: blanks
 *   16      4     kind                              89      1     exceptions are outdated, 1
 *   20      4     scheme                            90      2     0
 *   24      4     hash                              92      4     exceptions, their number
 *   28      4     hashes                            96      8     payload offset
 *   32      8     seed                              104     8     payload length
 *   40      8     secret fingerprint, 0: none       112     4     payload piece length, 1 MiB
 *   48      8     bits                              116     4     kind's own parameters, length
 *   56      8     capacity                          120     4     metadata, length
 *   64      8     requested rate, f64               124     4     error of keys added, 0: none
 *                                                   128     ...   kind's own parameters
 *                                                   ...     ...   metadata, zeros up to 8
 *                                                   ...     ...   exceptions, 8 bytes each
 *                                                   H - 8   8     XXH3-64 of everything before
 *
 * All numbers are little-endian.  Spec: docs/formats/native.md.
 */
#include "format/native/native_header.h"

#include <math.h>
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "format/native/native_recipe.h"
#include "hash/native_hash.h"
#include "kind/chain/chain.h"
#include "kind/checked_pieces.h"
#include "kind/exceptions.h"
#include "kind/kind.h"

static const uint8_t magic[8] = {'U', 'M', 'B', 'E', 'L', 0x1a, '\r', '\n'};

/* Offsets of the fields, in the order of the table above. */
enum {
    AT_VERSION = 8,
    AT_ZERO_10 = 10,
    AT_LEN = 12,
    AT_KIND = 16,
    AT_SCHEME = 20,
    AT_HASH = 24,
    AT_HASHES = 28,
    AT_SEED = 32,
    AT_FINGERPRINT = 40,
    AT_BITS = 48,
    AT_CAPACITY = 56,
    AT_RATE = 64,
    AT_KEYS_ADDED = 72,
    AT_KEY_RULE = 80,
    AT_FIELD = 84,
    AT_DELIMITER = 88,
    AT_OUTDATED = 89,
    AT_ZERO_90 = 90,
    AT_EXCEPTIONS = 92,
    AT_PAYLOAD_AT = 96,
    AT_PAYLOAD_LEN = 104,
    AT_PIECE = 112,
    AT_KIND_PARAMS_LEN = 116,
    AT_META_LEN = 120,
    AT_COUNT_ERROR = 124,
    FIXED = 128,
    CHECKSUM = 8, /* bytes at the end */
};

/* A file has the lowest version that can hold its contents: 2 has exceptions. */
enum { VERSION = 1, WITH_EXCEPTIONS = 2 };
enum { PAGE = 4096, EXCEPTION = 8, HEADER_MAX = 1024 * 1024 };
enum { TRIM = 1, LOWER = 2, UPPER = 4, RECIPE = 8 };

/* Metadata entries: u16 name length, u32 value length, name, value. */
enum { META_ENTRY = 6 };

static uint64_t whole_len(uint64_t kind_params_len, uint64_t meta_len, uint64_t exceptions) {
    return (FIXED + kind_params_len + meta_len + 7) / 8 * 8 + EXCEPTION * exceptions + CHECKSUM;
}

/* The header was checked when the filter was decoded. */
uint64_t umbeli_native_bits_at(const umbel_filter *f, const uint8_t *bytes, uint64_t len) {
    (void)f, (void)len;
    return umbeli_load_le64(bytes + AT_PAYLOAD_AT);
}

uint64_t umbeli_native_payload_at(uint64_t header_len) {
    return (header_len + PAGE - 1) / PAGE * PAGE;
}

/* ---- reading ------------------------------------------------------------------------------ */

bool umbeli_native_begins(const uint8_t *bytes, size_t len) {
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* Checks that this is a complete, undamaged header of this version. */
static umbel_err check_envelope(const uint8_t *bytes, size_t len, umbeli_native_header *h,
                                umbel_diag *diag) {
    if (!umbeli_native_begins(bytes, len)) return umbeli_bad(diag, 0, "magic: not an umbel file");
    if (len < FIXED + CHECKSUM) return umbeli_bad(diag, len, "the header is cut off");
    uint16_t version = umbeli_load_le16(bytes + AT_VERSION);
    if (version == VERSION << 8) return umbeli_unknown(diag, AT_VERSION, "version: big-endian");
    if (version != VERSION && version != WITH_EXCEPTIONS)
        return umbeli_unknown(diag, AT_VERSION, "version: unknown");
    h->len = umbeli_load_le32(bytes + AT_LEN);
    if (h->len < FIXED + CHECKSUM || h->len > HEADER_MAX || h->len % 8) {
        return umbeli_bad(diag, AT_LEN, "header length: out of range");
    }
    if (h->len > len) return umbeli_bad(diag, len, "the header is cut off");
    h->checksum = umbeli_load_le64(bytes + h->len - CHECKSUM);
    if (umbeli_xxh3_64(bytes, h->len - CHECKSUM, 0) != h->checksum) {
        return umbeli_bad(diag, h->len - CHECKSUM, "header checksum: the header is damaged");
    }
    return UMBEL_OK;
}

static umbel_err check_key_rule(const uint8_t *bytes, umbeli_native_header *h, umbel_diag *diag) {
    uint32_t flags = umbeli_load_le32(bytes + AT_KEY_RULE);
    umbeli_key_rule *t = &h->key_rule;
    *t = (umbeli_key_rule){
        .trim = flags & TRIM,
        .lower = flags & LOWER,
        .upper = flags & UPPER,
        .field = umbeli_load_le32(bytes + AT_FIELD),
        .delimiter = bytes[AT_DELIMITER],
    };
    h->recipe_only = flags & RECIPE;
    if (flags & ~(uint32_t)(TRIM | LOWER | UPPER | RECIPE)) {
        return umbeli_unknown(diag, AT_KEY_RULE, "key rule: unknown flag");
    }
    if (h->recipe_only && (flags != RECIPE || t->field || t->delimiter)) {
        return umbeli_bad(diag, AT_KEY_RULE, "key rule: must be 0 where only the recipe says it");
    }
    const char *wrong = umbeli_key_rule_wrong(t);
    return wrong ? umbeli_bad(diag, AT_KEY_RULE, wrong) : UMBEL_OK;
}

/* Where the exceptions begin. */
static uint32_t exceptions_at(const umbeli_native_header *h) {
    return h->len - CHECKSUM - EXCEPTION * h->exceptions;
}

static umbel_err check_exceptions(const uint8_t *bytes, umbeli_native_header *h, umbel_diag *diag) {
    h->exceptions = umbeli_load_le32(bytes + AT_EXCEPTIONS);
    h->outdated = bytes[AT_OUTDATED] == 1;
    if (bytes[AT_OUTDATED] > (h->exceptions != 0) || umbeli_load_le16(bytes + AT_ZERO_90)) {
        return umbeli_bad(diag, AT_OUTDATED, "bytes 89 to 91: must be 0");
    }
    if ((umbeli_load_le16(bytes + AT_VERSION) == WITH_EXCEPTIONS) != (h->exceptions != 0)) {
        return umbeli_bad(diag, AT_EXCEPTIONS, "exceptions: disagree with the version");
    }
    if (h->exceptions > UMBELI_EXCEPTIONS_MAX) {
        return umbeli_bad(diag, AT_EXCEPTIONS, "exceptions: more than 64000");
    }
    return UMBEL_OK;
}

/* Checks the fields that do not depend on the kind, and all lengths against each other. */
static umbel_err check_fields(const uint8_t *bytes, umbeli_native_header *h, umbel_diag *diag) {
    h->shape = (umbeli_shape){
        .kind = (umbel_kind)umbeli_load_le32(bytes + AT_KIND),
        .format = UMBEL_FMT_NATIVE,
        .scheme = umbeli_load_le32(bytes + AT_SCHEME),
        .hash = umbeli_load_le32(bytes + AT_HASH),
        .hashes = umbeli_load_le32(bytes + AT_HASHES),
        .seed = umbeli_load_le64(bytes + AT_SEED),
        .bits = umbeli_load_le64(bytes + AT_BITS),
        .capacity = umbeli_load_le64(bytes + AT_CAPACITY),
        .fpr = umbeli_load_f64(bytes + AT_RATE),
    };
    h->fingerprint = umbeli_load_le64(bytes + AT_FINGERPRINT);
    h->keys_added = umbeli_load_le64(bytes + AT_KEYS_ADDED);
    h->payload_at = umbeli_load_le64(bytes + AT_PAYLOAD_AT);
    h->payload_len = umbeli_load_le64(bytes + AT_PAYLOAD_LEN);
    h->kind_params_len = umbeli_load_le32(bytes + AT_KIND_PARAMS_LEN);
    h->meta_len = umbeli_load_le32(bytes + AT_META_LEN);
    h->count_error = umbeli_load_le32(bytes + AT_COUNT_ERROR);

    if (umbeli_load_le16(bytes + AT_ZERO_10)) {
        return umbeli_bad(diag, AT_ZERO_10, "byte 10: must be 0");
    }
    if (umbeli_is_keyed(&h->shape) != (h->fingerprint != 0)) {
        return umbeli_bad(diag, AT_FINGERPRINT,
                          "secret fingerprint: must be set for keyed hashes and 0 for others");
    }
    if (!(h->shape.fpr >= 0 && h->shape.fpr < 1) || signbit(h->shape.fpr)) {
        return umbeli_bad(diag, AT_RATE, "rate: must be in [0, 1)");
    }
    umbel_err e = check_exceptions(bytes, h, diag);
    if (e) return e;
    if (umbeli_load_le32(bytes + AT_PIECE) != UMBELI_PIECE) {
        return umbeli_unknown(diag, AT_PIECE, "piece length: must be 1 MiB");
    }
    uint32_t room = h->len - FIXED - CHECKSUM;
    if (EXCEPTION * h->exceptions > room) {
        return umbeli_bad(diag, AT_EXCEPTIONS, "exceptions: beyond the header");
    }
    room -= EXCEPTION * h->exceptions;
    if (h->kind_params_len > room) {
        return umbeli_bad(diag, AT_KIND_PARAMS_LEN, "parameters: beyond the header");
    }
    if (h->meta_len > room - h->kind_params_len) {
        return umbeli_bad(diag, AT_META_LEN, "metadata: beyond the header");
    }
    uint32_t used = FIXED + h->kind_params_len + h->meta_len;
    if (h->len != whole_len(h->kind_params_len, h->meta_len, h->exceptions)) {
        return umbeli_bad(diag, AT_LEN, "header length: disagrees with the metadata");
    }
    if (!umbeli_bits_none(bytes + used, exceptions_at(h) - used)) {
        return umbeli_bad(diag, used, "padding: must be 0");
    }
    if (h->payload_at != umbeli_native_payload_at(h->len)) {
        return umbeli_bad(diag, AT_PAYLOAD_AT, "payload offset: wrong");
    }
    return check_key_rule(bytes, h, diag);
}

umbel_err umbeli_native_read(const uint8_t *bytes, size_t len, umbeli_native_header *h,
                             umbel_diag *diag) {
    *h = (umbeli_native_header){0};
    umbel_err e = check_envelope(bytes, len, h, diag);
    return e ? e : check_fields(bytes, h, diag);
}

umbel_err umbeli_native_check_file(const uint8_t *bytes, size_t len, uint64_t trailer_len,
                                   const umbeli_native_header *h, umbel_diag *diag) {
    uint64_t around = h->payload_at + trailer_len, need = around + h->payload_len;
    if (need < around) return umbeli_bad(diag, AT_PAYLOAD_LEN, "payload length: out of range");
    if (len < need) return umbeli_cut_off(diag, len, need);
    if (len > need) return umbeli_bad(diag, need, "bytes after the filter");
    if (!umbeli_bits_none(bytes + h->len, h->payload_at - h->len)) {
        return umbeli_bad(diag, h->len, "padding: must be 0");
    }
    return UMBEL_OK;
}

umbel_err umbeli_native_use_secret(umbeli_native_header *h, const umbeli_settings *settings,
                                   umbel_diag *diag) {
    const char *what = NULL;
    if (!settings->keyed && h->fingerprint) what = "the filter has a secret, but none was given";
    if (settings->keyed && !h->fingerprint) what = "a secret was given, but the filter has none";
    if (settings->keyed && h->fingerprint &&
        umbeli_fingerprint(settings->secret) != h->fingerprint) {
        what = "not the secret that the filter was made with";
    }
    if (what) return umbeli_fail_at(diag, UMBEL_ESECRET, AT_FINGERPRINT, what);
    h->shape.secret = settings->secret;
    return UMBEL_OK;
}

/* ---- metadata ----------------------------------------------------------------------------- */

umbeli_native_meta umbeli_native_meta_begin(const uint8_t *bytes, const umbeli_native_header *h) {
    uint32_t base = FIXED + h->kind_params_len;
    return (umbeli_native_meta){.r = umbeli_reader_over(bytes + base, h->meta_len), .base = base};
}

bool umbeli_native_meta_next(umbeli_native_meta *m) {
    if (umbeli_left(&m->r) == 0) return false;
    m->at = m->base + m->r.pos;
    m->name_len = umbeli_take_u16le(&m->r);
    m->value_len = umbeli_take_u32le(&m->r);
    m->name = (const char *)umbeli_take(&m->r, m->name_len);
    m->value = (const char *)umbeli_take(&m->r, m->value_len);
    m->failed = m->r.failed;
    return !m->failed;
}

static umbel_err read_exceptions(umbel_filter *f, const uint8_t *bytes,
                                 const umbeli_native_header *h, umbel_diag *diag) {
    if (!h->exceptions) return UMBEL_OK;
    const uint32_t at = exceptions_at(h);
    uint64_t *hashes = umbeli_new(&f->settings, h->exceptions * sizeof *hashes);
    if (!hashes) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for exceptions");
    umbel_err e = UMBEL_OK;
    for (uint32_t i = 0; i < h->exceptions && !e; i++) {
        hashes[i] = umbeli_load_le64(bytes + at + EXCEPTION * i);
        if (i > 0 && hashes[i] <= hashes[i - 1]) {
            e = umbeli_bad(diag, at + EXCEPTION * i, "exceptions: not in ascending order");
        }
    }
    if (!e) e = umbeli_except(f, hashes, h->exceptions, h->outdated, diag);
    umbeli_delete(&f->settings, hashes);
    return e;
}

umbel_err umbeli_native_read_meta(umbel_filter *f, const uint8_t *bytes,
                                  const umbeli_native_header *h, umbel_diag *diag) {
    umbeli_native_meta m = umbeli_native_meta_begin(bytes, h);
    while (umbeli_native_meta_next(&m)) {
        size_t before = f->meta_count;
        umbel_err e = umbeli_meta_set(f, m.name, m.name_len, m.value, m.value_len, diag);
        if (e == UMBEL_EINVAL) return umbeli_bad(diag, m.at, "metadata: invalid name or text");
        if (e) return e;
        if (f->meta_count == before) return umbeli_bad(diag, m.at, "metadata: duplicate name");
    }
    if (m.failed) return umbeli_bad(diag, m.at, "metadata: an entry is cut off");
    umbel_err e = umbeli_native_read_recipe(f, &h->key_rule, h->recipe_only, diag);
    if (e == UMBEL_ECORRUPT && diag) diag->offset = AT_KEY_RULE;
    return e ? e : read_exceptions(f, bytes, h, diag);
}

/* ---- making ------------------------------------------------------------------------------- */

/* Sets what is not in the shape: the kind's own parameters, counts, key rule and metadata. */
static umbel_err complete(umbel_filter *f, const uint8_t *bytes, const umbeli_native_header *h,
                          umbel_diag *diag) {
    const umbeli_kind *kind = f->ops->kind;
    umbeli_set_keys_added(f, h->keys_added);
    f->count_error = h->count_error;
    umbeli_reader params = umbeli_reader_over(bytes + FIXED, h->kind_params_len);
    umbel_err e = kind->take_kind_params ? kind->take_kind_params(f, &params, diag) : UMBEL_OK;
    if (e && diag) diag->offset = FIXED;
    return e ? e : umbeli_native_read_meta(f, bytes, h, diag);
}

umbel_err umbeli_native_make(const uint8_t *bytes, const umbeli_native_header *h,
                             const uint8_t *borrow, const umbeli_settings *settings,
                             umbel_filter **out, umbel_diag *diag) {
    const umbeli_kind *kind = umbeli_kind_by_id(h->shape.kind);
    if (!kind) return umbeli_unknown(diag, AT_KIND, "kind: unknown");
    if (h->kind_params_len && !kind->take_kind_params) {
        return umbeli_unknown(diag, AT_KIND_PARAMS_LEN, "parameters: this kind has none");
    }
    umbel_filter *f = NULL;
    umbel_err e = kind->restore(&h->shape, h->payload_len, borrow, settings, &f, diag);
    if (e) {
        if (diag && e != UMBEL_EINVAL)
            diag->offset = AT_KIND; /* options have no place in the file */
        return e;
    }
    e = complete(f, bytes, h, diag);
    return umbeli_filter_finish(f, e, out);
}

/* ---- writing ------------------------------------------------------------------------------ */

umbeli_native_source umbeli_native_source_of(const umbel_filter *f) {
    return (umbeli_native_source){
        .shape = f->shape,
        .keys_added = umbeli_keys_added(f),
        .count_error = (uint32_t)fmin(ceil(f->count_error), UINT32_MAX),
        .payload_len = umbeli_filter_bytes(f),
        .params = f,
        .exceptions = f->exceptions,
        .meta = f->meta,
        .meta_count = f->meta_count,
    };
}

umbeli_native_source umbeli_native_source_of_layer(const umbel_filter *chain, uint32_t i) {
    const umbeli_layer *l = &umbeli_chain_of(chain)->layers[i];
    umbeli_native_source from = {
        .shape = chain->shape,
        .keys_added = l->keys,
        .payload_len = l->bytes,
    };
    from.shape.kind = l->probes->kind;
    from.shape.scheme = l->probes->scheme;
    from.shape.hashes = l->hashes;
    from.shape.bits = l->nbits;
    from.shape.capacity = l->capacity;
    from.shape.fpr = l->rate;
    if (i > 0) return from;
    from.exceptions = chain->exceptions;
    from.meta = chain->meta;
    from.meta_count = chain->meta_count;
    return from;
}

static uint64_t kind_params_len(const umbeli_native_source *from) {
    const umbel_filter *f = from->params;
    return f && f->ops->kind->kind_params_len ? f->ops->kind->kind_params_len(f) : 0;
}

static uint64_t entries_len(const umbeli_meta_entry *entries, size_t count) {
    uint64_t sum = META_ENTRY * (uint64_t)count;
    for (size_t i = 0; i < count; i++) sum += strlen(entries[i].name) + strlen(entries[i].value);
    return sum;
}

static uint64_t meta_len(const umbeli_native_source *from) {
    return entries_len(from->extra, from->extra_count) + entries_len(from->meta, from->meta_count);
}

static uint32_t exceptions_of(const umbeli_native_source *from) {
    return from->exceptions ? from->exceptions->count : 0;
}

uint64_t umbeli_native_header_len(const umbeli_native_source *from) {
    return whole_len(kind_params_len(from), meta_len(from), exceptions_of(from));
}

static const char *recipe_of(const umbeli_native_source *from) {
    for (size_t i = 0; i < from->meta_count; i++) {
        if (strcmp(from->meta[i].name, UMBELI_META_RECIPE) == 0) return from->meta[i].value;
    }
    return "line";
}

static void fill_fixed(const umbeli_native_source *from, uint8_t *to) {
    const umbeli_shape *shape = &from->shape;
    umbeli_key_rule rule = {0}, *t = &rule;
    bool recipe_only = !umbeli_native_rule_of(recipe_of(from), t);
    uint64_t len = umbeli_native_header_len(from);
    memset(to, 0, FIXED);
    memcpy(to, magic, sizeof magic);
    uint32_t exceptions = exceptions_of(from);
    umbeli_store_le16(to + AT_VERSION, exceptions ? WITH_EXCEPTIONS : VERSION);
    umbeli_store_le32(to + AT_LEN, (uint32_t)len);
    umbeli_store_le32(to + AT_KIND, (uint32_t)shape->kind);
    umbeli_store_le32(to + AT_SCHEME, shape->scheme);
    umbeli_store_le32(to + AT_HASH, shape->hash);
    umbeli_store_le32(to + AT_HASHES, shape->hashes);
    umbeli_store_le64(to + AT_SEED, shape->seed);
    umbeli_store_le64(to + AT_FINGERPRINT,
                      umbeli_is_keyed(shape) ? umbeli_fingerprint(shape->secret) : 0);
    umbeli_store_le64(to + AT_BITS, shape->bits);
    umbeli_store_le64(to + AT_CAPACITY, shape->capacity);
    umbeli_store_f64(to + AT_RATE, shape->fpr);
    umbeli_store_le64(to + AT_KEYS_ADDED, from->keys_added);
    umbeli_store_le32(to + AT_KEY_RULE, (t->trim ? TRIM : 0u) | (t->lower ? LOWER : 0u) |
                                            (t->upper ? UPPER : 0u) | (recipe_only ? RECIPE : 0u));
    umbeli_store_le32(to + AT_FIELD, t->field);
    to[AT_DELIMITER] = t->delimiter;
    to[AT_OUTDATED] = exceptions && from->exceptions->outdated;
    umbeli_store_le32(to + AT_EXCEPTIONS, exceptions);
    umbeli_store_le64(to + AT_PAYLOAD_AT, umbeli_native_payload_at(len));
    umbeli_store_le64(to + AT_PAYLOAD_LEN, from->payload_len);
    umbeli_store_le32(to + AT_PIECE, UMBELI_PIECE);
    umbeli_store_le32(to + AT_KIND_PARAMS_LEN, (uint32_t)kind_params_len(from));
    umbeli_store_le32(to + AT_META_LEN, (uint32_t)meta_len(from));
    umbeli_store_le32(to + AT_COUNT_ERROR, from->count_error);
}

static void put_entries(const umbeli_meta_entry *entries, size_t count, umbeli_writer *w) {
    for (size_t i = 0; i < count; i++) {
        const umbeli_meta_entry *entry = &entries[i];
        umbeli_put_u16le(w, (uint16_t)strlen(entry->name));
        umbeli_put_u32le(w, (uint32_t)strlen(entry->value));
        umbeli_put(w, entry->name, strlen(entry->name));
        umbeli_put(w, entry->value, strlen(entry->value));
    }
}

/* The whole header except its checksum. */
static void put_fields(const umbeli_native_source *from, umbeli_writer *w) {
    uint8_t fixed[FIXED];
    uint32_t exceptions = exceptions_of(from);
    uint64_t end = w->written + umbeli_native_header_len(from) - EXCEPTION * exceptions - CHECKSUM;
    fill_fixed(from, fixed);
    umbeli_put(w, fixed, sizeof fixed);
    const umbel_filter *f = from->params;
    if (f && f->ops->kind->put_kind_params) f->ops->kind->put_kind_params(f, w);
    put_entries(from->extra, from->extra_count, w);
    put_entries(from->meta, from->meta_count, w);
    umbeli_put_zeros(w, end - w->written);
    for (uint32_t i = 0; i < exceptions; i++) umbeli_put_u64le(w, from->exceptions->hashes[i]);
}

uint64_t umbeli_native_put_header(const umbeli_native_source *from, umbeli_writer *w) {
    umbeli_xxh3_stream sum;
    umbeli_writer summing = {.sink = umbeli_xxh3_sink, .ctx = &sum};
    umbeli_xxh3_begin(&sum, 0);
    put_fields(from, &summing);
    uint64_t checksum = umbeli_xxh3_end(&sum);
    put_fields(from, w);
    umbeli_put_u64le(w, checksum);
    return checksum;
}
