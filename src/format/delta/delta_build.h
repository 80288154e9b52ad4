/* SPDX-License-Identifier: MIT
 *
 * delta_build.h - a delta from the hashes of a list's keys before and after
 */
#ifndef UMBELI_DELTA_BUILD_H
#define UMBELI_DELTA_BUILD_H

#include "format/delta/delta_file.h"

/* Ascending, distinct hashes. */
typedef struct umbeli_sorted {
    uint64_t *hashes;
    size_t n;
} umbeli_sorted;

/* What changes.  `good` keys must not be found afterwards, unless they are in `now`; those of
 * `found` were found before. */
typedef struct umbeli_list_change {
    umbeli_sorted old, now, good, found;
} umbeli_list_change;

/* Fills in and writes a delta whose base, before, number and fpr are set. */
umbel_err umbeli_delta_build(umbeli_delta *d, const umbeli_list_change *change,
                             const umbeli_settings *settings, uint8_t **bytes, umbel_diag *diag);

#endif
