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
#include "tests/support/hashing.h"
#include "umbel_foreign.h"
#include "umbel_table.h"

/* Called by libFuzzer, and by replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Aborts with this message unless the condition holds. */
void insist(bool true_always, const char *what);

/* Allocates, or aborts; never NULL, not even for 0 bytes. */
void *some_bytes(size_t len);

/* ---- use_bytes.c: any bytes, in whatever format ---------------------------------------------- */

enum { USE_MAX_BYTES = 1 << 22 }; /* opts.max_bytes */

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

/* ---- exact_set.c: what a filter must contain ------------------------------------------------- */

/* Kept exactly: 64 keys and how often each was added. */
enum { EXACT_KEYS = 64 };

typedef struct exact_set {
    uint64_t count[EXACT_KEYS]; /* times added and neither removed nor forgotten */
    uint64_t added_at[EXACT_KEYS], advanced_at[EXACT_KEYS]; /* the two clocks at the last add */
    uint64_t adds, advances;
    /* Windows: a key is remembered while fewer adds and steps than these follow it; 0: any
     * number. */
    uint64_t max_adds, max_advances;
} exact_set;

/* The n-th key: 0 to 40 bytes, all different, with NUL bytes in some. */
umbel_key exact_key(unsigned n);

void exact_add(exact_set *s, unsigned n);
void exact_clear(exact_set *s);

/* Whether the filter must report the n-th key as present. */
bool exact_has(const exact_set *s, unsigned n);

/* Aborts if the filter lacks a key. */
void exact_find(const exact_set *s, const umbel_filter *f);

/* Also aborts if it counts one too low, or if the ways to query disagree. */
void exact_check(const exact_set *s, const umbel_filter *f);

/* ---- use_table.c: any table ------------------------------------------------------------------ */

/* Opens the bytes and, if that works, inspects every location, fault and filter, and looks up keys.
 * Aborts when an answer contradicts itself. */
void use_table(const uint8_t *bytes, size_t len, const umbel_table_hints *hints);

#endif
