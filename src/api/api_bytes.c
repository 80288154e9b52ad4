/* SPDX-License-Identifier: MIT
 *
 * api_bytes.c - filters from and to bytes
 */
#include "core/diag.h"
#include "format/codecs.h"

static umbel_err decode(umbel_format format, const void *bytes, size_t len, umbeli_decoding how,
                        const umbel_opts *opts, umbel_filter **out, umbel_diag *diag) {
    umbeli_settings memory;
    const umbeli_codec *codec = NULL;
    umbel_err e = umbeli_codec_open(format, bytes, len, opts, &codec, &memory, diag);
    if (e) return e;
    return codec->decode(bytes, len, how, &memory, out, diag);
}

umbel_err umbel_decode(umbel_format format, const void *bytes, size_t len, const umbel_opts *opts,
                       umbel_filter **out, umbel_diag *diag) {
    return decode(format, bytes, len, UMBELI_COPY, opts, out, diag);
}

umbel_err umbel_view(umbel_format format, const void *bytes, size_t len, const umbel_opts *opts,
                     umbel_filter **out, umbel_diag *diag) {
    return decode(format, bytes, len, UMBELI_BORROW, opts, out, diag);
}

umbel_err umbel_verify(umbel_format format, const void *bytes, size_t len, umbel_diag *diag) {
    return decode(format, bytes, len, UMBELI_VERIFY, NULL, NULL, diag);
}

uint64_t umbel_encoded_size(const umbel_filter *filter, umbel_format format) {
    const umbeli_codec *codec = umbeli_codec_by_id(format);
    return codec ? codec->size(filter) : 0;
}

umbel_err umbel_encode(const umbel_filter *filter, umbel_format format, void *bytes, size_t cap,
                       umbel_diag *diag) {
    const umbeli_codec *codec = NULL;
    umbel_err e = umbeli_codec_holding(filter, format, &codec, diag);
    if (e) return e;
    if (cap < codec->size(filter)) {
        return umbeli_fail(diag, UMBEL_ESPACE, "the output buffer is too small");
    }
    umbeli_span span = {.bytes = bytes, .cap = cap};
    umbeli_writer writer = {.sink = umbeli_span_sink, .ctx = &span};
    codec->encode(filter, &writer);
    return UMBEL_OK;
}

/* ---- what only other systems' filters need --------------------------------------------------- */

static umbel_err decode_as(const umbel_params *like, const void *bytes, size_t len,
                           umbeli_decoding how, const umbel_opts *opts, umbel_filter **out,
                           umbel_diag *diag) {
    umbeli_settings memory;
    const umbeli_codec *codec = NULL;
    umbel_err e = umbeli_codec_open(like->format, bytes, len, opts, &codec, &memory, diag);
    if (e) return e;
    if (!codec->decode_as) return codec->decode(bytes, len, how, &memory, out, diag);
    return codec->decode_as(like, bytes, len, how, &memory, out, diag);
}

umbel_err umbel_decode_as(const umbel_params *like, const void *bytes, size_t len,
                          const umbel_opts *opts, umbel_filter **out, umbel_diag *diag) {
    return decode_as(like, bytes, len, UMBELI_COPY, opts, out, diag);
}

umbel_err umbel_view_as(const umbel_params *like, const void *bytes, size_t len,
                        const umbel_opts *opts, umbel_filter **out, umbel_diag *diag) {
    return decode_as(like, bytes, len, UMBELI_BORROW, opts, out, diag);
}

umbel_err umbel_text(const umbel_filter *filter, char *text, size_t cap, umbel_diag *diag) {
    const umbeli_codec *codec = umbeli_codec_by_id(filter->shape.format);
    if (!codec || !codec->text) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "this system has no text for its filters");
    }
    char whole[128];
    int len = codec->text(filter, whole, sizeof whole);
    if (len < 0 || (size_t)len >= cap) {
        return umbeli_fail(diag, UMBEL_ESPACE, "the output buffer is too small");
    }
    for (int i = 0; i <= len; i++) text[i] = whole[i];
    return UMBEL_OK;
}

umbel_err umbel_plan_format(const umbel_params *params, umbel_plan *plan, umbel_diag *diag) {
    const umbeli_codec *codec = umbeli_codec_by_id(params->format);
    if (!codec) return umbeli_fail(diag, UMBEL_EINVAL, "format: no such format");
    if (!codec->plan) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "format: it has no sizes of its own to plan with");
    }
    return codec->plan(params, plan, diag);
}

umbel_err umbel_set_data(umbel_filter *filter, const void *data, size_t len, umbel_diag *diag) {
    return umbeli_extra_set(filter, data, len, diag);
}

const void *umbel_get_data(const umbel_filter *filter, size_t *len) {
    if (len) *len = filter->extra_len;
    return filter->extra;
}
