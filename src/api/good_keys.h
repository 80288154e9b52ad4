/* SPDX-License-Identifier: MIT
 *
 * good_keys.h - umbel_never for builders: from settings that are checked
 */
#ifndef UMBELI_GOOD_KEYS_H
#define UMBELI_GOOD_KEYS_H

#include "core/settings.h"
#include "umbel.h"

umbel_err umbeli_never_new(const umbel_params *params, const umbeli_settings *settings,
                           umbel_never **out, umbel_diag *diag);

#endif
