/* SPDX-License-Identifier: MIT
 *
 * memory.h - where filters get their memory: the caller's allocator, the limit, large arrays
 */
#ifndef UMBELI_MEMORY_H
#define UMBELI_MEMORY_H

#include "core/settings.h"
#include "umbel.h"

/* Zeroed; NULL when out of memory. */
void *umbeli_new(const umbeli_settings *m, size_t size);
void umbeli_delete(const umbeli_settings *m, void *ptr);

/* A zeroed array on a 64-byte boundary.  From 4 MiB on it is on a 2 MiB boundary and huge pages are
 * requested where the system has them: fewer TLB misses save 4 to 20% of a random lookup beyond 10
 * MB.  Not with a custom allocator: its layout is the caller's decision.  At least 63 more bytes
 * may be read, but not written, after the end.  None of this holds for plain ones. */
typedef struct umbeli_array {
    uint8_t *data;
    void *raw; /* what to free */
    bool plain;
} umbeli_array;

/* UMBEL_ELIMIT above the limit, UMBEL_ENOMEM when out of memory. */
umbel_err umbeli_array_new(const umbeli_settings *m, uint64_t len, umbeli_array *out,
                           umbel_diag *diag);

/* Memory for the duration of one call: neither zeroed nor subject to the limit, which is for
 * filters.  False when out of memory. */
bool umbeli_scratch_new(const umbeli_settings *m, uint64_t len, umbeli_array *out);

/* Moves an allocation and returns its new address, which may be the old one. */
typedef struct umbeli_mover {
    void *(*move)(void *ctx, void *ptr);
    void *ctx;
} umbeli_mover;

/* Moves an array of `len` bytes and restores its alignment; false, and nothing is written, if it
 * stays. */
bool umbeli_array_move(const umbeli_settings *m, umbeli_array *array, uint64_t len,
                       const umbeli_mover *mover);

void umbeli_array_delete(const umbeli_settings *m, umbeli_array *array);

#endif
