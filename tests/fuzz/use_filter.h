/* SPDX-License-Identifier: MIT
 *
 * use_filter.h - what holds of any filter, wherever it came from
 */
#ifndef USE_FILTER_H
#define USE_FILTER_H

#include "target.h"
#include "umbel_foreign.h"

/* Its figures are possible, and the ways to query it agree with one another. */
void use_answers(const umbel_filter *f);

/* Adds keys, takes them out, merges, folds, clears: all on copies. */
void use_changes(const umbel_filter *f);

/* The filter's bytes in a format, in memory of exact size; NULL if the format cannot hold it. */
uint8_t *bytes_in(const umbel_filter *f, umbel_format format, size_t *len);

/* In every format that can hold it: written, read and written again it is the same.  `as` says what
 * the bytes of its format do not; the secret, or NULL, opens native ones. */
void use_formats(const umbel_filter *f, const umbel_foreign *as, const uint8_t *secret);

#endif
