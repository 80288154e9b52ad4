/* SPDX-License-Identifier: MIT
 *
 * native.c - umbel's own file: every natively hashed filter, ready to be mapped
 *
 * A header (native_header.c), zeros up to the payload offset (a multiple of 4096), the payload, the
 * XXH3-64 of each of its pieces (seed: the piece's number), and the XXH3-64 of those sums (seed:
 * the header's checksum).  All numbers are little-endian.  Spec: docs/formats/native.md.
 */
#include "format/native/native_header.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "core/size.h"
#include "format/codec.h"
#include "hash/xxh.h"
#include "kind/chain/chain.h"
#include "kind/checked_pieces.h"
#include "kind/kind.h"

enum { PIECE = UMBELI_PIECE, HOLE = 64 * 1024 /* zeros at a time: files leave them out */ };

/* Bytes of the pieces' checksums and of their own checksum. */
static uint64_t trailer_len(uint64_t payload_len) {
    return 8 * (umbeli_pieces_of(payload_len) + 1);
}

/* ---- decode ------------------------------------------------------------------------------- */

static umbeli_summed summed_of(const uint8_t *bytes, const umbeli_native_header *h) {
    const uint8_t *payload = bytes + h->payload_at;
    return (umbeli_summed){payload, payload + h->payload_len, h->payload_len, h->payload_at};
}

/* The sums of the pieces; also of a filter whose pieces are not read yet. */
static umbel_err check_trailer(const uint8_t *bytes, const umbeli_native_header *h,
                               umbel_diag *diag) {
    const umbeli_summed s = summed_of(bytes, h);
    uint64_t n = umbeli_pieces_of(s.len);
    if (umbeli_xxh3_64(s.sums, (size_t)(8 * n), h->checksum) != umbeli_load_le64(s.sums + 8 * n)) {
        return umbeli_bad(diag, (uint64_t)(s.sums - bytes),
                          "trailer checksum: the trailer is damaged");
    }
    return UMBEL_OK;
}

static umbel_err check_pieces(const uint8_t *bytes, const umbeli_native_header *h,
                              umbel_diag *diag) {
    const umbeli_summed s = summed_of(bytes, h);
    umbel_err e = UMBEL_OK;
    for (uint64_t i = 0; i < umbeli_pieces_of(s.len) && !e; i++)
        e = umbeli_piece_check(&s, i, diag);
    return e;
}

static umbel_err check_last_byte(const uint8_t *bytes, const umbeli_native_header *h,
                                 umbel_diag *diag) {
    const uint8_t *payload = bytes + h->payload_at;
    unsigned used = h->shape.bits % 8; /* of the last byte */
    if (used && h->payload_len > 0 && payload[h->payload_len - 1] >> used) {
        return umbeli_bad(diag, h->payload_at + h->payload_len - 1,
                          "bits are set after the last one");
    }
    return UMBEL_OK;
}

/* A view of one piece is as good as read when its first key is looked up, so it is read now; larger
 * ones are read as they are used. */
static bool read_now(umbeli_decoding how, const umbeli_native_header *h,
                     const umbeli_settings *settings) {
    return how != UMBELI_BORROW || (h->payload_len <= PIECE && !settings->unchecked);
}

/* What may be changed is checked but for pieces of zeros, as soon as there is a filter. */
static bool zeros_later(umbeli_decoding how, const umbeli_native_header *h) {
    return how == UMBELI_ADOPT && h->payload_len > PIECE && !h->exceptions;
}

static umbel_err check_payload(const uint8_t *bytes, umbeli_decoding how,
                               const umbeli_native_header *h, const umbeli_settings *settings,
                               umbel_diag *diag) {
    if (how == UMBELI_BORROW && settings->unchecked) return UMBEL_OK;
    umbel_err e = check_trailer(bytes, h, diag);
    if (!e && read_now(how, h, settings) && !zeros_later(how, h)) {
        e = check_pieces(bytes, h, diag);
    }
    if (!e && how != UMBELI_BORROW) e = check_last_byte(bytes, h, diag);
    return e;
}

/* Adopted bits have the limit of copied ones: pages that are written to take as much memory. */
static umbel_err check_limit(const umbeli_native_header *h, const umbeli_settings *settings,
                             umbel_diag *diag) {
    if (!settings->max_bytes || h->payload_len <= settings->max_bytes) return UMBEL_OK;
    return umbeli_fail_limit(diag, h->payload_len);
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbeli_native_header h;
    umbel_err e = umbeli_native_read(bytes, len, &h, diag);
    if (!e) e = umbeli_native_check_file(bytes, len, trailer_len(h.payload_len), &h, diag);
    if (!e && how != UMBELI_VERIFY) e = umbeli_native_use_secret(&h, settings, diag);
    if (!e && how == UMBELI_ADOPT) e = check_limit(&h, settings, diag);
    if (!e) e = check_payload(bytes, how, &h, settings, diag);
    if (e) return e;

    const uint8_t *payload = bytes + h.payload_at;
    umbel_filter *f = NULL;
    e = umbeli_native_make(bytes, &h, how == UMBELI_COPY ? NULL : payload, settings, &f, diag);
    if (e) return e;
    const umbeli_summed summed = summed_of(bytes, &h);
    if (how == UMBELI_COPY) memcpy(f->data, payload, (size_t)h.payload_len);
    if (zeros_later(how, &h)) e = umbeli_check_but_zeros(f, &summed, diag);
    bool moves = umbeli_is_chain(f) && umbeli_chain_has_hashes(umbeli_chain_of(f));
    if (!e && moves && zeros_later(how, &h)) e = umbeli_check_now(f, diag);
    if (!e && how != UMBELI_BORROW && f->ops->kind->check_bits)
        e = f->ops->kind->check_bits(f, diag);
    if (!e && !read_now(how, &h, settings) && !settings->unchecked) {
        e = umbeli_check_later(f, &summed, diag);
    }
    if (e || how == UMBELI_VERIFY) {
        umbeli_filter_free(f);
        return e;
    }
    if (how == UMBELI_ADOPT) f->frozen = !f->ops->add;
    f->file_sums[0] = h.checksum;
    f->file_sums[1] = umbeli_load_le64(bytes + len - 8);
    *out = f;
    return UMBEL_OK;
}

/* ---- size and encode ---------------------------------------------------------------------- */

static uint64_t size(const umbel_filter *f) {
    if (f->shape.format != UMBEL_FMT_NATIVE || !f->ops->kind) return 0;
    umbeli_native_source from = umbeli_native_source_of(f);
    uint64_t len = from.payload_len;
    return umbeli_native_payload_at(umbeli_native_header_len(&from)) + len + trailer_len(len);
}

/* Writes piece i, which may reach over several segments, and returns its sum.  Each byte is read
 * once: others may be adding to a concurrent filter, and the sum must be that of what is
 * written. */
static uint64_t put_piece(const umbel_filter *f, uint64_t payload_len, uint64_t i,
                          const uint8_t zeros[HOLE], umbeli_writer *w) {
    uint64_t at = i * PIECE, end = payload_len - at < PIECE ? payload_len : at + PIECE, len = 0;
    uint8_t room[UMBELI_PEEK];
    umbeli_xxh3_stream sum;
    uint64_t of_zeros;
    if (umbeli_untouched_zeros(f, at, end, &of_zeros)) {
        for (; at < end; at += HOLE) {
            umbeli_put(w, zeros, end - at < HOLE ? (size_t)(end - at) : HOLE);
        }
        return of_zeros;
    }
    umbeli_xxh3_begin(&sum, i);
    while (at < end) {
        const uint8_t *bytes =
            f->concurrent ? umbeli_filter_peek(f, at, room, &len) : umbeli_filter_run(f, at, &len);
        if (len > end - at) len = end - at;
        bool stray = at + len == payload_len && umbeli_has_stray_bits(f);
        umbeli_xxh3_sink(&sum, bytes, (size_t)len - stray);
        umbeli_put(w, bytes, (size_t)len - stray);
        at += len;
        if (!stray) continue;
        uint8_t last = umbeli_last_byte(f);
        umbeli_xxh3_sink(&sum, &last, 1);
        umbeli_put(w, &last, 1);
    }
    return umbeli_xxh3_end(&sum);
}

/* `sums` has room for those of the pieces, and zeros after them if any piece may be untouched. */
static void put_payload(const umbel_filter *f, uint64_t payload_len, uint64_t header_sum,
                        uint8_t *sums, umbeli_writer *w) {
    uint64_t n = umbeli_pieces_of(payload_len);
    for (uint64_t i = 0; i < n; i++) {
        umbeli_store_le64(sums + 8 * i, put_piece(f, payload_len, i, sums + 8 * n, w));
    }
    umbeli_put(w, sums, (size_t)(8 * n));
    umbeli_put_u64le(w, umbeli_xxh3_64(sums, (size_t)(8 * n), header_sum));
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_native_source from = umbeli_native_source_of(f);
    uint8_t few[8 * 64], *sums = few; /* of 64 MiB; a byte in 131072 otherwise */
    uint64_t room = 8 * umbeli_pieces_of(from.payload_len) + (f->pieces ? HOLE : 0);
    if (room > sizeof few) sums = umbeli_new(&f->settings, (size_t)room);
    if (!sums) {
        w->failed = true;
        return;
    }
    uint64_t header_sum = umbeli_native_put_header(&from, w);
    uint64_t header_len = umbeli_native_header_len(&from);
    umbeli_put_zeros(w, umbeli_native_payload_at(header_len) - header_len);
    put_payload(f, from.payload_len, header_sum, sums, w);
    if (sums != few) umbeli_delete(&f->settings, sums);
}

const umbeli_codec umbeli_codec_native = {
    .id = UMBEL_FMT_NATIVE,
    .name = "native",
    .system = "umbel",
    .has_checksum = true,
    .counts = true,
    .recognise = umbeli_native_begins,
    .decode = decode,
    .bits_at = umbeli_native_bits_at,
    .size = size,
    .encode = encode,
};
