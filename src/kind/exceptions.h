/* SPDX-License-Identifier: MIT
 *
 * exceptions.h - keys that a filter would find by mistake, and must not
 *
 * An exception is the 64-bit hash of a key that was never added but has all its bits set; the hash
 * is that of docs/formats/native.md, also in classic filters, whose places need more bits.  While a
 * filter has exceptions it has these operations: they ask the kind and, after a hit, search the
 * sorted hashes.  Adding a key drops its exception, so that no member is ever hidden.
 */
#ifndef UMBELI_EXCEPTIONS_H
#define UMBELI_EXCEPTIONS_H

#include "core/filter.h"

/* As many as a file's header holds next to all the metadata that is allowed. */
enum { UMBELI_EXCEPTIONS_MAX = 64000 };

/* Replaces the filter's exceptions; hashes are ascending and distinct; without hashes it has no
 * exceptions.  On failure nothing changes. */
umbel_err umbeli_except(umbel_filter *f, const uint64_t *hashes, size_t n, bool outdated,
                        umbel_diag *diag);

/* After keys were added without these operations: drops their exceptions, and reports each such key
 * as new.  added_before is what umbeli_keys_added returned before. */
void umbeli_admit_keys(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                       uint64_t added_before);

bool umbeli_same_exceptions(const umbel_filter *a, const umbel_filter *b);

#endif
