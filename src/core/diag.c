/* SPDX-License-Identifier: MIT */
#include "core/diag.h"

umbel_err umbeli_fail_at(umbel_diag *diag, umbel_err err, uint64_t offset, const char *what) {
    if (diag) *diag = (umbel_diag){.offset = offset, .what = what};
    return err;
}

umbel_err umbeli_fail(umbel_diag *diag, umbel_err err, const char *what) {
    return umbeli_fail_at(diag, err, 0, what);
}

umbel_err umbeli_fail_sys(umbel_diag *diag, int sys, const char *what) {
    if (diag) *diag = (umbel_diag){.sys = sys, .what = what};
    return UMBEL_EIO;
}

umbel_err umbeli_fail_limit(umbel_diag *diag, uint64_t need, const char *what) {
    if (diag) *diag = (umbel_diag){.need = need, .what = what};
    return UMBEL_ELIMIT;
}
