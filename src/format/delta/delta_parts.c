/* SPDX-License-Identifier: MIT */
#include "format/delta/delta_parts.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "hash/xxh.h"

static const uint8_t magic[8] = {'U', 'M', 'B', 'S', 0x1a, '\r', '\n', 0};

/* The frame of a signature: magic, length of the text, the text, a checksum. */
enum { AT_LEN = 8, AT_TEXT = 16, CHECKSUM = 8, FRAME = AT_TEXT + CHECKSUM };

static umbel_err read_signature(const uint8_t *bytes, size_t len, umbel_key *out,
                                umbel_diag *diag) {
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) return UMBEL_OK;
    if (len < FRAME) return umbeli_cut_off(diag, len, FRAME);
    uint64_t text = umbeli_load_le64(bytes + AT_LEN);
    if (text == 0 || text > UMBELI_DELTA_SIGNATURE_MAX) {
        return umbeli_bad(diag, AT_LEN, "length: that of no signature");
    }
    if (len - FRAME < text) return umbeli_cut_off(diag, len, FRAME + text);
    size_t end = AT_TEXT + (size_t)text;
    if (umbeli_xxh3_64(bytes, end, 0) != umbeli_load_le64(bytes + end)) {
        return umbeli_bad(diag, end, "checksum: the signature of a delta is damaged");
    }
    *out = (umbel_key){bytes + AT_TEXT, (size_t)text};
    return UMBEL_OK;
}

static size_t length_of(const umbeli_delta_part *p) {
    return p->delta.len + (p->signature.len ? FRAME + p->signature.len : 0);
}

umbel_err umbeli_delta_part_read(const uint8_t *bytes, size_t len, umbeli_delta_part *out,
                                 umbel_diag *diag) {
    uint64_t own;
    *out = (umbeli_delta_part){.len = 0};
    umbel_err e = umbeli_delta_length(bytes, len, &own, diag);
    if (e) return e;
    out->delta = (umbel_key){bytes, (size_t)own};
    e = read_signature(bytes + own, len - (size_t)own, &out->signature, diag);
    if (e) umbeli_diag_shift(diag, own);
    out->len = length_of(out);
    return e;
}

umbel_err umbeli_delta_part_sign(umbeli_delta_part *p, umbel_key signature, umbel_diag *diag) {
    if (signature.len == 0 || signature.len > UMBELI_DELTA_SIGNATURE_MAX) {
        return umbeli_invalid(diag, "signature: must have 1 to 16384 bytes");
    }
    p->signature = signature;
    p->len = length_of(p);
    return UMBEL_OK;
}

uint8_t *umbeli_delta_part_write(const umbeli_delta_part *p, uint8_t *to) {
    const umbel_key *s = &p->signature;
    memcpy(to, p->delta.data, p->delta.len);
    to += p->delta.len;
    if (!s->len) return to;
    memcpy(to, magic, sizeof magic);
    umbeli_store_le64(to + AT_LEN, s->len);
    memcpy(to + AT_TEXT, s->data, s->len);
    umbeli_store_le64(to + AT_TEXT + s->len, umbeli_xxh3_64(to, AT_TEXT + s->len, 0));
    return to + FRAME + s->len;
}
