/* SPDX-License-Identifier: MIT
 *
 * owned_lookup.h - lookups that own their filter
 */
#ifndef UMBELI_OWNED_LOOKUP_H
#define UMBELI_OWNED_LOOKUP_H

#include "umbel_lookup.h"

/* umbel_lookup_new, and the last umbel_lookup_free frees the filter; on failure it stays yours. */
umbel_err umbeli_lookup_of(umbel_filter *taken, const char *recipe, umbel_lookup **out,
                           umbel_diag *diag);

#endif
