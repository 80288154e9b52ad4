/* SPDX-License-Identifier: MIT */
#include "format/codec.h"

#include "core/diag.h"
#include "umbel_foreign.h"

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
    &umbeli_codec_rocksdb,
    &umbeli_codec_spark,
    NULL,
};

const umbeli_codec *umbeli_codec_by_id(umbel_format id) {
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        if ((*codec)->id == id) return *codec;
    }
    return NULL;
}

/* The codec of a format given by number. */
static umbel_err named(umbel_format format, const umbeli_codec **out, umbel_diag *diag) {
    *out = umbeli_codec_by_id(format);
    return *out ? UMBEL_OK : umbeli_fail(diag, UMBEL_EINVAL, "format: no such format");
}

umbel_err umbeli_codec_making(const umbel_foreign *foreign, const umbeli_codec **out,
                              umbel_diag *diag) {
    umbel_err e = named(foreign->format, out, diag);
    if (!e && !(*out)->create) {
        e = umbeli_fail(diag, UMBEL_EINVAL, "format: native filters are made with umbel_create");
    }
    return e;
}

umbel_err umbeli_codec_reading(const umbel_foreign *as, const void *bytes, size_t len,
                               const umbeli_codec **out, umbel_diag *diag) {
    if (as && !umbeli_reserved_zero(as->reserved, sizeof as->reserved)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "foreign.reserved: must be 0");
    }
    if (as && as->format != UMBEL_FMT_ANY) return named(as->format, out, diag);
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        *out = *codec;
        if ((*codec)->recognise && (*codec)->recognise(bytes, len)) return UMBEL_OK;
    }
    return umbeli_fail(diag, UMBEL_EUNKNOWN, "format: not recognised, so it must be given");
}

umbel_err umbeli_codec_writing(const umbel_filter *f, umbel_format format, const umbeli_codec **out,
                               umbel_diag *diag) {
    umbel_err e = named(format == UMBEL_FMT_ANY ? f->shape.format : format, out, diag);
    if (!e && (*out)->size(f) == 0) {
        e = umbeli_fail(diag, UMBEL_EMISMATCH,
                        "the format uses a different hash; build the filter again from its keys");
    }
    return e;
}
