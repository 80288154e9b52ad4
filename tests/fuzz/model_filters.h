/* SPDX-License-Identifier: MIT
 *
 * model_filters.h - the filters that fuzz_model works on
 */
#ifndef MODEL_FILTERS_H
#define MODEL_FILTERS_H

#include "../support/any_filter.h"

enum { MODEL_CHOICES = 26 };

extern const any_params model_choices[MODEL_CHOICES];

/* The secret of those that have one. */
extern const uint8_t model_secret[16];

/* An empty filter of one of the choices. */
umbel_filter *model_make(const any_params *choice, const umbel_opts *opts);

#endif
