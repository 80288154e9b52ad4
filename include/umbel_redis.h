/* SPDX-License-Identifier: MIT
 *
 * umbel_redis.h - a filter in the pieces that BF.LOADCHUNK takes
 *
 * A companion of umbel.h, with a version of its own (docs/abi.md).  The rules of umbel.h hold here
 * as well.
 */
#ifndef UMBEL_REDIS_H
#define UMBEL_REDIS_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UMBEL_REDIS_VERSION 1

/* A native or redisbloom filter in the pieces that BF.LOADCHUNK takes: the head with iterator 1,
 * then the chunk at each offset of the bits with iterator offset + its length + 1.  The head of a
 * keyed filter holds its secret.  UMBEL_ESPACE, with *len set, when cap is too small. */
UMBEL_API umbel_err umbel_redis_head(const umbel_filter *filter, void *bytes, size_t cap,
                                     size_t *len, umbel_diag *diag);

/* The length of the chunk at this offset, at most `max` and 16 MiB; 0 at the end.  No chunk spans
 * two layers. */
UMBEL_API size_t umbel_redis_chunk(const umbel_filter *filter, uint64_t offset, size_t max,
                                   const void **bytes);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_REDIS_H */
