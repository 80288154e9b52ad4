/* SPDX-License-Identifier: MIT
 *
 * dump.h - a value as bytes: BF.SCANDUMP, BF.LOADCHUNK, BF.LOAD, and what RDB and AOF consist of
 *
 * A value is a head, which says everything except the bits, and the bits of its layers one after
 * the other.  In RedisBloom's layout the head is RedisBloom's header; in the blocked one a compact
 * head of the module's own or, for filters from elsewhere, headers of native files.  The first
 * bytes show which of the three it is.  Bytes: docs/formats/redis.md.
 */
#ifndef BF_DUMP_H
#define BF_DUMP_H

#include "format/redisbloom/redisbloom_dump.h"
#include "value/value.h"

/* BF.SCANDUMP's reply to iterator 0, which comes with iterator 1.  Free with RedisModule_Free. */
uint8_t *bf_dump_head(const bf_value *v, size_t *len);

/* Its reply to iterators from 1 on: a part of one layer, at most 16 MiB, and the next iterator.
 * Past the end, and for invalid iterators, *len and *next are 0. */
void bf_dump_chunk(const bf_value *v, int64_t iterator, int64_t *next, const uint8_t **bytes,
                   size_t *len);

/* Head and bits in one string, for BF.LOAD.  Free with RedisModule_Free. */
uint8_t *bf_dump_whole(const bf_value *v, size_t *len);

/* The bits of layer i; a filter that is not a chain counts as one layer.  *scratch, if not NULL,
 * holds them: free it with RedisModule_Free. */
const uint8_t *bf_dump_layer(const bf_value *v, uint32_t i, size_t *len, uint8_t **scratch);

/* Wraps a filter in format redisbloom and takes ownership of it; UMBEL_ENOMEM frees the filter. */
umbel_err bf_redisbloom_value(umbel_filter *f, bf_value **out, umbel_diag *diag);

/* BF.LOADCHUNK with iterator 1: a value with the counts of its head and all bits 0.  It allocates
 * as many bits as the head says, so bound them with max_bytes.  UMBEL_ECORRUPT, UMBEL_EVERSION: bad
 * data; UMBEL_ELIMIT, UMBEL_ENOMEM. */
umbel_err bf_load_head(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                       umbel_diag *diag);

/* BF.LOAD: exactly what bf_dump_whole wrote.  Errors as for bf_load_head. */
umbel_err bf_load_whole(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                        umbel_diag *diag);

#endif
