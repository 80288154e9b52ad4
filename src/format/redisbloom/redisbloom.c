/* SPDX-License-Identifier: MIT
 *
 * redisbloom.c - RedisBloom's scaling filter in a file
 *
 *   offset  size  field
 *   0       8     "UMBRBLM1"
 *   8       8     length of the header, little-endian
 *   16            the header as from SCANDUMP, redisbloom_dump.c
 *   then          the bits of all links
 *
 * RedisBloom itself has no file format: these files hold its dumps.  Page:
 * docs/formats/redisbloom.md.
 */
#include <string.h>

#include "core/diag.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/redisbloom/redisbloom_dump.h"

enum { FRAME = 16, DEFAULT_GROWTH = 2 };

static const uint8_t magic[8] = "UMBRBLM1";

/* ---- Create ---- */

typedef struct first {
    umbeli_layer link;
    uint32_t options, growth;
} first;

static umbel_err first_of(const umbel_foreign *p, first *out, umbel_diag *diag) {
    umbel_err e = umbeli_params_need_capacity_and_fpr(p, diag);
    if (e) return e;
    if (p->nonscaling && p->expansion) {
        return umbeli_invalid(diag, "expansion: excludes nonscaling");
    }
    if (p->expansion > UMBELI_REDISBLOOM_EXPANSION_MAX) {
        return umbeli_invalid(diag, "expansion: must be at most 32768");
    }
    out->options = UMBELI_REDISBLOOM_NOROUND | UMBELI_REDISBLOOM_FORCE64;
    if (p->nonscaling) out->options |= UMBELI_REDISBLOOM_NO_SCALING;
    out->growth = p->expansion ? p->expansion : DEFAULT_GROWTH; /* also if it does not grow */
    double error = p->nonscaling ? p->fpr : p->fpr * 0.5;
    e = umbeli_redisbloom_size_link(p->capacity, error, &out->link, diag);
    return e ? UMBEL_EINVAL : UMBEL_OK;
}

static umbel_err create(const umbel_foreign *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    first f;
    umbel_err e = first_of(params, &f, diag);
    if (e) return e;
    return umbeli_redisbloom_new(&f.link, 1, f.options, f.growth, NULL, settings, out, diag);
}

static umbel_err plan(const umbel_foreign *params, umbel_plan *solved, umbel_diag *diag) {
    first f;
    umbel_err e = first_of(params, &f, diag);
    if (e) return e;
    umbeli_shape shape = {
        .bits = f.link.nbits,
        .hashes = f.link.hashes,
        .capacity = params->capacity,
        .fpr = params->fpr,
    };
    double rate = umbeli_redisbloom_rate(&f.link, 1);
    umbeli_params_plan(&shape, rate, "RedisBloom's rounding misses the rate", solved);
    return UMBEL_OK;
}

/* ---- File ---- */

static bool recognise(const uint8_t *bytes, size_t len) {
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    if (!recognise(bytes, len)) return umbeli_bad(diag, 0, "magic: not umbel's RedisBloom file");
    if (len < FRAME) return umbeli_bad(diag, len, "cut off before the header");
    uint64_t header_len = umbeli_load_le64(bytes + 8);
    if (header_len > len - FRAME) {
        return umbeli_bad(diag, 8, "header length: beyond the end of the file");
    }
    const uint8_t *header = bytes + FRAME, *bits = header + header_len;
    umbeli_redisbloom_head h;
    umbel_err e = umbeli_redisbloom_read_header(header, (size_t)header_len, &h, diag);
    if (e) {
        umbeli_diag_shift(diag, FRAME);
        return e;
    }
    uint64_t left = len - FRAME - header_len;
    if (left != h.bytes) {
        return umbeli_bad(diag, left < h.bytes ? len : FRAME + header_len + h.bytes,
                          "length: disagrees with the links");
    }
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    e = umbeli_redisbloom_from_header(header, (size_t)header_len, &h,
                                      how == UMBELI_BORROW ? bits : NULL, settings, out, diag);
    if (e) return e;
    ((umbeli_chain *)*out)->from_file = true;
    if (how == UMBELI_COPY) memcpy((*out)->data, bits, (size_t)left);
    return UMBEL_OK;
}

static uint64_t size(const umbel_filter *f) {
    if (!umbeli_is_redisbloom(f)) return 0;
    return FRAME + umbeli_redisbloom_header_size(umbeli_chain_of(f)->count) +
           umbeli_filter_bytes(f);
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_put(w, magic, sizeof magic);
    umbeli_put_u64le(w, umbeli_redisbloom_header_size(umbeli_chain_of(f)->count));
    umbeli_redisbloom_put_header(f, w);
    const uint8_t *bytes;
    uint64_t len = 0;
    for (size_t i = 0; (bytes = umbeli_filter_segment(f, i, &len)) != NULL; i++) {
        umbeli_put(w, bytes, (size_t)len);
    }
}

const umbeli_codec umbeli_codec_redisbloom = {
    .id = UMBEL_FMT_REDISBLOOM,
    .name = "redisbloom",
    .system = "RedisBloom's own bloom and scaling code",
    .takes =
        UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_EXPANSION | UMBEL_FIELD_NONSCALING,
    .counts = true,
    .recognise = recognise,
    .create = create,
    .decode = decode,
    .plan = plan,
    .bits_at = umbeli_bits_at_end,
    .size = size,
    .encode = encode,
};
