/* SPDX-License-Identifier: MIT
 *
 * target.h - what fuzz targets share: their entry, and what must hold of any bytes, filter or table
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bytes.h"
#include "umbel_foreign.h"
#include "umbel_table.h"

/* Called by libFuzzer, and by replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Aborts with this message unless the condition holds. */
void insist(bool true_always, const char *what);

/* Allocates, or aborts; never NULL, not even for 0 bytes. */
void *some_bytes(size_t len);

/* ---- use_bytes.c: any bytes, in whatever format ---------------------------------------------- */

/* Reads the bytes as umbel_decode does with `as`; `secret`, or NULL, opens a native filter.  `most`
 * is what the decoder may allocate for them.  True when there was a filter. */
bool use_bytes(const umbel_foreign *as, const uint8_t *secret, const uint8_t *bytes, size_t len,
               uint64_t max);

/* ---- use_filter.c: any filter, wherever it came from ----------------------------------------- */

/* Its figures are possible, and the ways to query it agree with one another. */
void use_answers(const umbel_filter *f);

/* Adds keys, takes them out, merges, folds, clears: all on copies. */
void use_changes(const umbel_filter *f);

/* The filter's bytes in a format, in memory of exact size; NULL if the format cannot hold it. */
uint8_t *bytes_in(const umbel_filter *f, umbel_format format, size_t *len);

/* In every format that can hold it: written, read and written again it is the same.  `as` says what
 * the bytes of its format do not; the secret, or NULL, opens native ones. */
void use_formats(const umbel_filter *f, const umbel_foreign *as, const uint8_t *secret);

/* ---- use_static.c: static filters, built from keys -------------------------------------------- */

/* Compared with the exact set of their keys.  The input chooses parameters, keys, a way to build,
 * and possibly a failing allocation. */
void use_static(umbeli_reader *input);

/* ---- use_table.c: any table ------------------------------------------------------------------ */

/* Opens the bytes and, if that works, inspects every location, fault and filter, and looks up keys.
 * Aborts when an answer contradicts itself. */
void use_table(const uint8_t *bytes, size_t len, const umbel_table_hints *hints);

#endif
