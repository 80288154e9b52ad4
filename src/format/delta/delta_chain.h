/* SPDX-License-Identifier: MIT
 *
 * delta_chain.h - the deltas that follow a base, in memory, asked all at once
 */
#ifndef UMBELI_DELTA_CHAIN_H
#define UMBELI_DELTA_CHAIN_H

#include "format/delta/delta_file.h"

typedef struct umbeli_delta_chain umbeli_delta_chain;

/* What a chain consists of, all deltas together; `last` ends the chain, or is zero. */
typedef struct umbeli_delta_sums {
    umbeli_delta last;
    uint64_t added, removed, guarded, bytes;
    double fpr;
} umbeli_delta_sums;

/* Whether a delta follows `sums`, the chain so far, of a base.  UMBEL_EMISMATCH: it does not. */
umbel_err umbeli_delta_follows(const umbeli_delta *d, const umbeli_delta_base *base,
                               const umbeli_delta_sums *sums, umbel_diag *diag);
void umbeli_delta_count(umbeli_delta_sums *sums, const umbeli_delta *d);

/* Makes a chain of the bytes of a file of deltas, whose signatures are passed over.
 * UMBEL_EMISMATCH: they are not for this base. */
umbel_err umbeli_delta_chain_new(const uint8_t *bytes, size_t len, const umbeli_delta_base *base,
                                 const umbeli_settings *settings, umbeli_delta_chain **out,
                                 umbel_diag *diag);
void umbeli_delta_chain_free(umbeli_delta_chain *chain); /* NULL is allowed */

const umbeli_delta_sums *umbeli_delta_chain_sums(const umbeli_delta_chain *chain);

/* Replaces the base's answers about keys by the list's. */
void umbeli_delta_chain_ask(const umbeli_delta_chain *chain, const uint64_t *hashes, size_t n,
                            uint8_t *hit);

#endif
