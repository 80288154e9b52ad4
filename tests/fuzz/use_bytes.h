/* SPDX-License-Identifier: MIT
 *
 * use_bytes.h - what holds of any bytes, in whatever format: decode, view and verify agree, and a
 * filter that comes of them works
 */
#ifndef USE_BYTES_H
#define USE_BYTES_H

#include "target.h"
#include "umbel.h"

/* Reads the bytes as umbel_decode_as does with `like`.  `most` is what the decoder may allocate for
 * them; like->key is the key to open it with.  True when there was a filter. */
bool use_bytes(const umbel_params *like, const uint8_t *bytes, size_t len, uint64_t most);

#endif
