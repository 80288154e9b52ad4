/* SPDX-License-Identifier: MIT
 *
 * codec.h - the interface of a format
 *
 * A codec file has these parts in this order: byte table, constants, positions or hash where the
 * format brings its own, draft or create, decode, size and encode, the umbeli_codec.  No codec
 * includes another.  The list of codecs is in codecs.c.
 */
#ifndef UMBELI_CODEC_H
#define UMBELI_CODEC_H

#include "core/bytes.h"
#include "core/filter.h"
#include "kind/classic/classic.h"
#include "umbel_foreign.h"

typedef enum umbeli_decoding {
    UMBELI_COPY,   /* check everything, own the bits */
    UMBELI_BORROW, /* check everything except the bits, borrow them */
    UMBELI_VERIFY, /* check everything, make nothing */
    UMBELI_ADOPT   /* native only: check everything, use the writable bytes as the bits */
} umbeli_decoding;

typedef struct umbeli_variant {
    const char *name;
    uint32_t bit; /* umbel_variant; 0: the usual form */
} umbeli_variant;

enum { UMBELI_VARIANTS = 3 };

/* A filter of some system before it exists: what follows from the caller's parameters. */
typedef struct umbeli_draft {
    umbeli_shape shape; /* shape.fpr: the requested rate, or 0 */
    const umbeli_scheme *scheme;
    const char *beyond;  /* why a rate may be missed */
    double rate_alike;   /* umbel_plan.rate_alike */
    const char *caution; /* umbel_plan.caution */
} umbeli_draft;

typedef struct umbeli_codec {
    umbel_format id;
    const char *name;   /* as on the command line */
    const char *system; /* whose format, and the version it was checked against */
    umbeli_variant variants[UMBELI_VARIANTS];

    uint32_t takes, needs; /* umbel_format_info's: UMBEL_FIELD_..., or-ed */
    uint32_t key_len;
    bool has_checksum, has_signed_seed;
    bool counts; /* the bytes say how many adds changed the filter */

    /* True when these bytes can only be this format; NULL for formats without a magic number. */
    bool (*recognise)(const uint8_t *bytes, size_t len);

    /* For systems whose filters are classic: what an empty filter is, and the rate that its model
     * gives with all keys in.  Other systems have create and plan instead, the native format has
     * neither. */
    umbel_err (*draft)(const umbel_foreign *foreign, umbeli_draft *draft, umbel_diag *diag);
    double (*rate)(const umbeli_draft *draft);
    bool weakens; /* never promises more than that rate */

    /* An empty filter that hashes as that system does, and umbel_plan_foreign. */
    umbel_err (*create)(const umbel_foreign *foreign, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag);
    umbel_err (*plan)(const umbel_foreign *foreign, umbel_plan *plan, umbel_diag *diag);

    /* *out is set only by UMBELI_COPY and UMBELI_BORROW. */
    umbel_err (*decode)(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

    /* Instead of decode, for bytes that do not fully describe themselves: `as` holds the format and
     * what else the filter was made with, and is refused, naming the field, if it is incomplete. */
    umbel_err (*decode_as)(const umbel_foreign *as, const uint8_t *bytes, size_t len,
                           umbeli_decoding how, const umbeli_settings *settings, umbel_filter **out,
                           umbel_diag *diag);

    /* umbel_text: the length that snprintf would return; NULL: the system prints nothing. */
    int (*text)(const umbel_filter *f, char *text, size_t cap);

    /* Where the bits begin in the bytes that the filter was decoded from; NULL: at once. */
    uint64_t (*bits_at)(const umbel_filter *f, const uint8_t *bytes, uint64_t len);

    /* 0: this format cannot hold the filter. */
    uint64_t (*size)(const umbel_filter *f);

    /* Called only when size was not 0; only the writer's sink can fail. */
    void (*encode)(const umbel_filter *f, umbeli_writer *w);
} umbeli_codec;

extern const umbeli_codec umbeli_codec_native;

/* ---- The list of codecs: codecs.c ---- */

/* All codecs in the order of the format numbers, NULL at the end. */
extern const umbeli_codec *const umbeli_codecs[];

/* umbel_format_info.variants. */
uint32_t umbeli_codec_variants(const umbeli_codec *codec);

/* NULL: no such format; also for UMBEL_FMT_ANY. */
const umbeli_codec *umbeli_codec_by_id(umbel_format id);

/* umbel_create_foreign and umbel_plan_foreign.  UMBEL_EINVAL: no such format, or the native one. */
umbel_err umbeli_codec_create(const umbel_foreign *foreign, const umbeli_settings *settings,
                              umbel_filter **out, umbel_diag *diag);
umbel_err umbeli_codec_plan(const umbel_foreign *foreign, umbel_plan *plan, umbel_diag *diag);

/* The codec for decoding: the one that `as` names, or else the one that recognises the bytes.
 * UMBEL_EUNKNOWN when none does. */
umbel_err umbeli_codec_reading(const umbel_foreign *as, const void *bytes, size_t len,
                               const umbeli_codec **out, umbel_diag *diag);

/* The codec for writing this filter; UMBEL_FMT_ANY: its own.  UMBEL_EMISMATCH: the format cannot
 * hold this filter. */
umbel_err umbeli_codec_writing(const umbel_filter *f, umbel_format format, const umbeli_codec **out,
                               umbel_diag *diag);

#endif
