/* SPDX-License-Identifier: MIT
 *
 * diag.h - failing with words: one line fills the caller's diagnostic and gives the error
 *
 * Inline, so that compilers and analysers see which error comes back, and that it is one.
 */
#ifndef UMBELI_DIAG_H
#define UMBELI_DIAG_H

#include "umbel.h"

/* NULL is fine. */
static inline void umbeli_diag_fill(umbel_diag *diag, const umbel_diag *from) {
    if (diag) *diag = *from;
}

/* Fills *diag and returns err, so that `return umbeli_fail(...)` says it all. */
static inline umbel_err umbeli_fail_at(umbel_diag *diag, umbel_err err, uint64_t offset,
                                       const char *what) {
    umbeli_diag_fill(diag, &(umbel_diag){.offset = offset, .what = what});
    return err;
}

static inline umbel_err umbeli_fail(umbel_diag *diag, umbel_err err, const char *what) {
    return umbeli_fail_at(diag, err, 0, what);
}

static inline umbel_err umbeli_fail_sys(umbel_diag *diag, int sys, const char *what) {
    umbeli_diag_fill(diag, &(umbel_diag){.sys = sys, .what = what});
    return UMBEL_EIO;
}

static inline umbel_err umbeli_fail_limit(umbel_diag *diag, uint64_t need, const char *what) {
    umbeli_diag_fill(diag, &(umbel_diag){.need = need, .what = what});
    return UMBEL_ELIMIT;
}

#endif
