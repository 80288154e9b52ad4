/* SPDX-License-Identifier: MIT
 *
 * static_store.h - collects hashes in memory or in a temporary file, and sorts them
 */
#ifndef UMBELI_STATIC_STORE_H
#define UMBELI_STATIC_STORE_H

#include "core/bits.h"
#include "core/memory.h"
#include "umbel.h"

/* Sorts n hashes, with room for as many in scratch, drops duplicates and returns how many are left.
 * Takes time proportional to n for any input.  static_sort.c */
size_t umbeli_static_sort(uint64_t *hashes, uint64_t *scratch, size_t n);

enum { UMBELI_STORE_BITS = 8, UMBELI_STORE_BUCKETS = 1 << UMBELI_STORE_BITS };

typedef struct umbeli_store umbeli_store;

/* Groups hashes by their upper 8 bits.  With `directory` they are stored in an unnamed file
 * there. */
umbel_err umbeli_store_new(const char *directory, const umbeli_settings *settings,
                           umbeli_store **out, umbel_diag *diag);
void umbeli_store_delete(umbeli_store *store);

/* After a failure only umbeli_store_delete may be called. */
umbel_err umbeli_store_add(umbeli_store *store, const uint64_t *hashes, size_t n, umbel_diag *diag);

/* The number of hashes in a bucket; reading all of them; overwriting the first n.  Different
 * buckets may be used concurrently. */
uint64_t umbeli_store_count(const umbeli_store *store, uint32_t number);
umbel_err umbeli_store_load(const umbeli_store *store, uint32_t number, uint64_t *hashes,
                            umbel_diag *diag);
umbel_err umbeli_store_replace(umbeli_store *store, uint32_t number, const uint64_t *hashes,
                               uint64_t n, umbel_diag *diag);

#endif
