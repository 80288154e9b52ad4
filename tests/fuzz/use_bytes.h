/* SPDX-License-Identifier: MIT
 *
 * use_bytes.h - what holds of any bytes, in whatever format: decode, view and verify agree, and a
 * filter decoded from them works
 */
#ifndef USE_BYTES_H
#define USE_BYTES_H

#include "target.h"
#include "umbel_foreign.h"

/* Reads the bytes as umbel_decode does with `as`; `secret`, or NULL, opens a native filter.  `most`
 * is what the decoder may allocate for them.  True when there was a filter. */
bool use_bytes(const umbel_foreign *as, const uint8_t *secret, const uint8_t *bytes, size_t len,
               uint64_t max);

#endif
