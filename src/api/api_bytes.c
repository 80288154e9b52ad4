/* SPDX-License-Identifier: MIT
 *
 * api_bytes.c - filters from and to bytes
 */
#include "core/diag.h"
#include "format/codec.h"
#include "kind/checked_pieces.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"

static const umbeli_decoding decodings[] = {
    [UMBEL_LOAD] = UMBELI_COPY,
    [UMBEL_MAP] = UMBELI_BORROW,
    [UMBEL_EDIT] = UMBELI_COPY, /* only a file has pages to keep */
    [UMBEL_VERIFY] = UMBELI_VERIFY,
};

umbel_err umbel_decode(const void *bytes, size_t len, umbel_how how, const umbel_foreign *as,
                       const umbel_opts *opts, umbel_filter **out, umbel_diag *diag) {
    umbeli_settings settings;
    const umbeli_codec *codec = NULL;
    if ((unsigned)how >= sizeof decodings / sizeof *decodings) {
        return umbeli_fail(diag, UMBEL_EINVAL, "how: is not one that is known");
    }
    umbel_err e = umbeli_settings_from(how == UMBEL_VERIFY ? NULL : opts, &settings, diag);
    if (!e) e = umbeli_codec_reading(as, bytes, len, &codec, diag);
    if (e) return e;
    if (settings.keyed && codec->id != UMBEL_FMT_NATIVE) {
        return umbeli_fail(diag, UMBEL_ESECRET, "a secret was given, but this format has none");
    }
    e = codec->decode_as ? codec->decode_as(as, bytes, len, decodings[how], &settings, out, diag)
                         : codec->decode(bytes, len, decodings[how], &settings, out, diag);
    if (!e && how != UMBEL_VERIFY) (*out)->uncounted = !codec->counts;
    return e;
}

umbel_err umbel_damage(const umbel_filter *filter, umbel_diag *diag) {
    return umbeli_damage(filter, diag);
}

uint64_t umbel_encoded_size(const umbel_filter *filter, umbel_format format) {
    const umbeli_codec *codec = NULL;
    return umbeli_codec_writing(filter, format, &codec, NULL) ? 0 : codec->size(filter);
}

umbel_err umbel_encode(const umbel_filter *filter, umbel_format format, void *bytes, size_t cap,
                       umbel_diag *diag) {
    const umbeli_codec *codec = NULL;
    umbel_err e = umbeli_codec_writing(filter, format, &codec, diag);
    if (!e) e = umbeli_check_now(filter, diag);
    if (e) return e;
    if (cap < codec->size(filter)) {
        return umbeli_fail(diag, UMBEL_ESPACE, "the output buffer is too small");
    }
    umbeli_span span = {.bytes = bytes, .cap = cap};
    umbeli_writer writer = {.sink = umbeli_span_sink, .ctx = &span};
    codec->encode(filter, &writer);
    if (writer.failed) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the checksums");
    return UMBEL_OK;
}

/* ---- what only other systems' filters need --------------------------------------------------- */

umbel_err umbel_text(const umbel_filter *filter, char *text, size_t cap, umbel_diag *diag) {
    const umbeli_codec *codec = umbeli_codec_by_id(filter->shape.format);
    if (!codec || !codec->text) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "this system prints no text for its filters");
    }
    char whole[128];
    int len = codec->text(filter, whole, sizeof whole);
    if (len < 0 || (size_t)len >= cap) {
        return umbeli_fail(diag, UMBEL_ESPACE, "the output buffer is too small");
    }
    for (int i = 0; i <= len; i++) text[i] = whole[i];
    return UMBEL_OK;
}

umbel_err umbel_set_data(umbel_filter *filter, const void *data, size_t len, umbel_diag *diag) {
    if (len && filter->shape.format != UMBEL_FMT_DCSO) {
        return umbeli_fail(diag, UMBEL_ENOTSUP,
                           "data: only dcso files have bytes after the filter");
    }
    return umbeli_extra_set(filter, data, len, diag);
}

const void *umbel_get_data(const umbel_filter *filter, size_t *len) {
    if (len) *len = filter->extra_len;
    return filter->extra;
}
