/* SPDX-License-Identifier: MIT
 *
 * native_params.h - what umbel_create and umbel_builder_new check before they make anything
 */
#ifndef UMBELI_NATIVE_PARAMS_H
#define UMBELI_NATIVE_PARAMS_H

#include "core/memory.h"

/* Checks given and opts; *params gets a kind that exists, *settings what both specify. */
umbel_err umbeli_native_params(const umbel_params *given, const umbel_opts *opts,
                               umbel_params *params, umbeli_settings *settings, umbel_diag *diag);

#endif
