/* SPDX-License-Identifier: MIT
 *
 * any_filter.h - filters of every kind and format alike: made, built from keys, asked
 *
 * Needs nothing but the library, so the fuzz targets use it as well.
 */
#ifndef ANY_FILTER_H
#define ANY_FILTER_H

#include "umbel_foreign.h"

/* Native parameters, or another system's where foreign.format is given. */
typedef struct any_params {
    umbel_params native;
    umbel_foreign foreign;
    const uint8_t *secret; /* NULL: that of the options */
} any_params;

umbel_err any_create(const any_params *params, const umbel_opts *opts, umbel_filter **out,
                     umbel_diag *diag);

/* What to decode such a filter with; NULL: it is native, and recognised. */
const umbel_foreign *any_as(const any_params *params);

/* A filter from these keys, by way of umbel_builder. */
umbel_err build_from(const umbel_params *params, const umbel_opts *opts, const umbel_key *keys,
                     size_t n, umbel_filter **out, umbel_diag *diag);

uint64_t keys_added(const umbel_filter *f);
umbel_info described(const umbel_filter *f);
umbel_measurement measured(const umbel_filter *f);

/* "field: what", or what alone; "" when nothing is wrong.  It lives until the next call. */
const char *sentence(const umbel_diag *diag);

#endif
