/* SPDX-License-Identifier: MIT */
#include "core/diag.h"

void umbeli_diag_fill(umbel_diag *diag, const umbel_diag *from) {
    if (diag) *diag = *from;
}
