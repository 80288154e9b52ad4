/* SPDX-License-Identifier: MIT */
#include "format/codecs.h"

#include "core/diag.h"

const umbeli_codec *const umbeli_codecs[] = {
    &umbeli_codec_native,
    &umbeli_codec_leveldb,
    &umbeli_codec_corekv,
    &umbeli_codec_badger,
    &umbeli_codec_clickhouse,
    &umbeli_codec_gocrc32,
    &umbeli_codec_guava,
    &umbeli_codec_parquet,
    &umbeli_codec_redisbloom,
    &umbeli_codec_dcso,
    NULL,
};

const umbeli_codec *umbeli_codec_by_id(umbel_format id) {
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        if ((*codec)->id == id) return *codec;
    }
    return NULL;
}

static const umbeli_codec *codec_for(umbel_format format, const void *bytes, size_t len,
                                     umbel_diag *diag) {
    if (format != UMBEL_FMT_ANY) {
        const umbeli_codec *codec = umbeli_codec_by_id(format);
        if (!codec) umbeli_fail(diag, UMBEL_EINVAL, "format: no such format");
        return codec;
    }
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        if ((*codec)->recognise && (*codec)->recognise(bytes, len)) return *codec;
    }
    umbeli_fail(diag, UMBEL_EINVAL, "format: not recognised, so it must be named");
    return NULL;
}

umbel_err umbeli_codec_open(umbel_format format, const void *bytes, size_t len,
                            const umbel_opts *opts, const umbeli_codec **codec,
                            umbeli_settings *memory, umbel_diag *diag) {
    umbel_err e = umbeli_settings_from(opts, memory, diag);
    if (e) return e;
    *codec = codec_for(format, bytes, len, diag);
    if (!*codec) return UMBEL_EINVAL;
    if (memory->keyed && (*codec)->id != UMBEL_FMT_NATIVE) {
        return umbeli_fail(diag, UMBEL_EKEY, "a key was given, and this format has none");
    }
    return UMBEL_OK;
}

umbel_err umbeli_codec_holding(const umbel_filter *f, umbel_format format, const umbeli_codec **out,
                               umbel_diag *diag) {
    const umbeli_codec *codec = umbeli_codec_by_id(format);
    if (!codec) return umbeli_fail(diag, UMBEL_EINVAL, "format: no such format");
    if (codec->size(f) == 0) {
        return umbeli_fail(diag, UMBEL_EMISMATCH,
                           "the format hashes keys otherwise: build it anew from the keys");
    }
    *out = codec;
    return UMBEL_OK;
}
