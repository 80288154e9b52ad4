/* SPDX-License-Identifier: MIT
 *
 * delta_file.h - what changed in a list since its filter was built, as bytes
 *
 * A delta is for one base, a native file, and follows the base or the delta before it:
 *
 *   in the list after it = (in the list before it, or `in`) and not (in `out`, and the decider says
 *   that the key has left)
 *
 * `in` holds the keys that came, at the rate that the delta promises; `out` the keys that left, at
 * a rate so high that it also has some of the keys that stay.  The decider is a filter of kind
 * exact, which tells the ones from the others.  Spec: docs/formats/delta.md.
 */
#ifndef UMBELI_DELTA_FILE_H
#define UMBELI_DELTA_FILE_H

#include "core/filter.h"
#include "format/delta/delta_cells.h"

enum { UMBELI_DELTA_MAX = 1024 /* deltas that follow one base */ };

/* What identifies a native file: the checksums of its header and of its trailer. */
typedef struct umbeli_delta_base {
    uint64_t header, trailer;
} umbeli_delta_base;

typedef struct umbeli_delta {
    umbeli_delta_base base;
    uint64_t before,
        sum;         /* checksums: of the delta before it, or the base's trailer; and its own */
    uint32_t number; /* 1: it follows the base */
    uint64_t len;
    uint64_t added, removed, guarded; /* keys; guarded ones are good, and would have been found */
    uint64_t keys;                    /* in the list, after it */
    double fpr;                       /* for keys that are in none of the lists, of `in` */
    umbeli_cells in, out;             /* borrowed from the bytes */
    const uint8_t *decider;           /* a native file, without the zeros before its payload */
    uint64_t decider_len;
} umbeli_delta;

/* Whether bytes begin like a delta. */
bool umbeli_delta_begins(const uint8_t *bytes, size_t len);

/* The length of the delta at the start of the bytes, of which no more is read. */
umbel_err umbeli_delta_length(const uint8_t *bytes, size_t len, uint64_t *out, umbel_diag *diag);

/* Reads the delta at the start of the bytes, whose end may be others', and checks all of it but the
 * decider. */
umbel_err umbeli_delta_read(const uint8_t *bytes, size_t len, umbeli_delta *d, umbel_diag *diag);

/* The decider; *out stays NULL where no key has left. */
umbel_err umbeli_delta_decider(const umbeli_delta *d, const umbeli_settings *settings,
                               umbel_filter **out, umbel_diag *diag);

/* Hashes of hashes: the keys of a decider. */
void umbeli_delta_decider_hashes(const uint64_t *hashes, size_t n, uint64_t *keys);

/* Writes a delta, and sets its len and sum; the decider may be NULL.  umbeli_delete frees the
 * bytes. */
umbel_err umbeli_delta_write(umbeli_delta *d, const umbel_filter *decider,
                             const umbeli_settings *settings, uint8_t **bytes, umbel_diag *diag);

#endif
