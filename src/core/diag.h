/* SPDX-License-Identifier: MIT
 *
 * diag.h - failing with a message: one call fills the caller's diagnostic and returns the error
 *
 * A message is "field: what is wrong with it", or just what is wrong; the diagnostic keeps the two
 * apart, so that callers can tell which parameter it was without comparing texts.  Callers show it
 * to people who have never seen C: it names no function and no struct, and a field only as
 * parameters are called, "max_layers" and not "params.scalable.max_layers".
 *
 * Inline, so that compilers and analysers can see which error is returned and that it is never
 * UMBEL_OK.
 */
#ifndef UMBELI_DIAG_H
#define UMBELI_DIAG_H

#include <string.h>

#include "umbel.h"

/* diag may be NULL here and below. */
static inline void umbeli_diag_fill(umbel_diag *diag, umbel_diag from) {
    if (!diag) return;
    const char *colon = strstr(from.what, ": ");
    if (colon && (size_t)(colon - from.what) < sizeof from.field) {
        memcpy(from.field, from.what, (size_t)(colon - from.what));
        from.what = colon + 2;
    }
    *diag = from;
}

/* Fills *diag and returns err, so that callers can write `return umbeli_fail(...)`. */
static inline umbel_err umbeli_fail_at(umbel_diag *diag, umbel_err err, uint64_t offset,
                                       const char *what) {
    umbeli_diag_fill(diag, (umbel_diag){.offset = offset, .what = what});
    return err;
}

static inline umbel_err umbeli_fail(umbel_diag *diag, umbel_err err, const char *what) {
    return umbeli_fail_at(diag, err, 0, what);
}

/* A parameter that is refused. */
static inline umbel_err umbeli_invalid(umbel_diag *diag, const char *what) {
    return umbeli_fail(diag, UMBEL_EINVAL, what);
}

/* Bytes that are not what they should be, from this offset on. */
static inline umbel_err umbeli_bad(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset, what);
}

/* Bytes whose end is missing: umbel_explain says how many there are, and should be. */
static inline umbel_err umbeli_cut_off(umbel_diag *diag, uint64_t have, uint64_t need) {
    umbeli_diag_fill(diag, (umbel_diag){.offset = have, .what = "cut off", .need = need});
    return UMBEL_ECORRUPT;
}

/* The bytes that a failure is about are part of others, `at` bytes from their start. */
static inline void umbeli_diag_shift(umbel_diag *diag, uint64_t at) {
    if (!diag) return;
    diag->offset += at;
    if (diag->need) diag->need += at;
}

/* Bytes that only a later version may understand. */
static inline umbel_err umbeli_unknown(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_EVERSION, offset, what);
}

static inline umbel_err umbeli_fail_sys(umbel_diag *diag, int sys, const char *what) {
    umbeli_diag_fill(diag, (umbel_diag){.sys = sys, .what = what});
    return UMBEL_EIO;
}

static inline umbel_err umbeli_fail_limit(umbel_diag *diag, uint64_t need) {
    const char *what = "max_bytes: must allow a filter of this size";
    umbeli_diag_fill(diag, (umbel_diag){.need = need, .what = what});
    return UMBEL_ELIMIT;
}

#endif
