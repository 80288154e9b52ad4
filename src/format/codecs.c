/* SPDX-License-Identifier: MIT */
#include "format/codec.h"

#include <math.h>

#include "core/diag.h"
#include "format/codec_params.h"
#include "umbel_foreign.h"

/* In the order of the format numbers. */
#define CODECS(C) \
    C(native)     \
    C(leveldb)    \
    C(corekv)     \
    C(badger)     \
    C(clickhouse) \
    C(gocrc32)    \
    C(guava)      \
    C(parquet)    \
    C(redisbloom) \
    C(dcso)       \
    C(rocksdb)    \
    C(spark)      \
    C(datasketches)

#define DECLARE(name) extern const umbeli_codec umbeli_codec_##name;
CODECS(DECLARE)

#define POINT_TO(name) &umbeli_codec_##name,
const umbeli_codec *const umbeli_codecs[] = {CODECS(POINT_TO) NULL};

uint32_t umbeli_codec_variants(const umbeli_codec *codec) {
    uint32_t all = 0;
    for (size_t i = 0; i < UMBELI_VARIANTS; i++) all |= codec->variants[i].bit;
    return all;
}

const umbeli_codec *umbeli_codec_by_id(umbel_format id) {
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        if ((*codec)->id == id) return *codec;
    }
    return NULL;
}

/* The codec of a format given by number. */
static umbel_err named(umbel_format format, const umbeli_codec **out, umbel_diag *diag) {
    *out = umbeli_codec_by_id(format);
    return *out ? UMBEL_OK : umbeli_invalid(diag, "format: no such format");
}

/* The codec that makes such a filter, and the draft unless it makes it without one. */
static umbel_err draft_of(const umbel_foreign *foreign, const umbeli_codec **out, umbeli_draft *d,
                          umbel_diag *diag) {
    umbel_err e = named(foreign->format, out, diag);
    if (!e && *out != &umbeli_codec_native) {
        e = umbeli_params_check(foreign, (*out)->takes, umbeli_codec_variants(*out), diag);
    }
    if (e) return e;
    if ((*out)->draft) return (*out)->draft(foreign, d, diag);
    if ((*out)->create) return UMBEL_OK;
    return umbeli_invalid(diag, "format: native is not another system's");
}

umbel_err umbeli_codec_create(const umbel_foreign *foreign, const umbeli_settings *settings,
                              umbel_filter **out, umbel_diag *diag) {
    const umbeli_codec *codec = NULL;
    umbeli_draft d = {0};
    umbel_err e = draft_of(foreign, &codec, &d, diag);
    if (e) return e;
    if (settings->keyed) return umbeli_invalid(diag, "secret: this format has none");
    if (codec->create) return codec->create(foreign, settings, out, diag);
    if (codec->weakens && d.shape.fpr > 0) d.shape.fpr = fmax(d.shape.fpr, codec->rate(&d));
    return umbeli_classic_new(d.scheme, d.shape, NULL, settings, out, diag);
}

umbel_err umbeli_codec_plan(const umbel_foreign *foreign, umbel_plan *plan, umbel_diag *diag) {
    const umbeli_codec *codec = NULL;
    umbeli_draft d = {0};
    umbel_err e = draft_of(foreign, &codec, &d, diag);
    if (e) return e;
    if (codec->plan) return codec->plan(foreign, plan, diag);
    umbeli_params_plan(&d.shape, codec->rate(&d), d.beyond, plan);
    plan->rate_alike = d.rate_alike;
    plan->caution = d.caution;
    return UMBEL_OK;
}

umbel_err umbeli_codec_reading(const umbel_foreign *as, const void *bytes, size_t len,
                               const umbeli_codec **out, umbel_diag *diag) {
    if (as && !umbeli_reserved_zero(as->reserved, sizeof as->reserved)) {
        return umbeli_invalid(diag, "foreign.reserved: must be 0");
    }
    if (as && as->format != UMBEL_FMT_ANY) {
        umbel_err e = named(as->format, out, diag);
        if (e || !(*out)->needs) return e;
        return umbeli_params_check(as, (*out)->takes, umbeli_codec_variants(*out), diag);
    }
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        *out = *codec;
        if ((*codec)->recognise && (*codec)->recognise(bytes, len)) return UMBEL_OK;
    }
    return umbeli_fail(diag, UMBEL_EUNKNOWN, "format: not recognised");
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
