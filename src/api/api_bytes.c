/* SPDX-License-Identifier: MIT
 *
 * api_bytes.c - filters from and to bytes
 */
#include "api/registry.h"
#include "core/diag.h"

static umbel_err decode(umbel_format format, const void *bytes, size_t len, umbeli_decoding how,
                        const umbel_opts *opts, umbel_filter **out, umbel_diag *diag) {
    umbeli_memory memory;
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
