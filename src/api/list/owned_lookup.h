/* SPDX-License-Identifier: MIT
 *
 * owned_lookup.h - lookups that own their filter, and the deltas that follow it
 */
#ifndef UMBELI_OWNED_LOOKUP_H
#define UMBELI_OWNED_LOOKUP_H

#include "format/delta/delta_chain.h"
#include "umbel_lookup.h"

/* umbel_lookup_new, and the last umbel_lookup_free frees the filter; on failure it stays yours. */
umbel_err umbeli_lookup_of(umbel_filter *taken, const char *recipe, umbel_lookup **out,
                           umbel_diag *diag);

/* Gives a new lookup the deltas that follow its filter, which it frees; NULL: there are none. */
void umbeli_lookup_follow(umbel_lookup *lookup, umbeli_delta_chain *taken);
const umbeli_delta_chain *umbeli_lookup_chain(const umbel_lookup *lookup);

/* Whether the list has these keys, each as it is. */
void umbeli_lookup_each(const umbel_lookup *lookup, const umbel_key *keys, size_t n, uint8_t *hit);

/* The name of the file with the deltas that follow the filter in a file. */
#define UMBELI_DELTAS ".deltas"

/* Asks a guard about each delta in the bytes of such a file, which is called `name`, before
 * anything is made of them; *number is that of the newest, or 0. */
umbel_err umbeli_deltas_accept(const umbel_guard *guard, const char *name, const void *bytes,
                               size_t len, uint64_t *number, umbel_diag *diag);

/* Makes a chain of the bytes of such a file.  Deltas of another base are left aside: UMBEL_OK, *out
 * stays NULL, and *aside, if that is not NULL, is set. */
umbel_err umbeli_deltas_read(const void *bytes, size_t len, const umbel_filter *base,
                             umbeli_delta_chain **out, bool *aside, umbel_diag *diag);

#endif
