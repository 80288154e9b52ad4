/* SPDX-License-Identifier: MIT
 *
 * diag.h - failing with words: one line fills the caller's diagnostic and gives the error
 */
#ifndef UMBELI_DIAG_H
#define UMBELI_DIAG_H

#include "umbel.h"

/* Fills *diag (NULL is fine) and returns err, so that `return umbeli_fail(...)` says it all. */
umbel_err umbeli_fail_at(umbel_diag *diag, umbel_err err, uint64_t offset, const char *what);
umbel_err umbeli_fail(umbel_diag *diag, umbel_err err, const char *what);
umbel_err umbeli_fail_sys(umbel_diag *diag, int sys, const char *what);
umbel_err umbeli_fail_limit(umbel_diag *diag, uint64_t need, const char *what);

#endif
