/* SPDX-License-Identifier: MIT
 *
 * dump.h - a value as bytes: BF.SCANDUMP, BF.LOADCHUNK, BF.LOAD, and what RDB and AOF are made of
 *
 * A value is a head, which says everything but the bits, and the bits of its layers one after the
 * other.  In RedisBloom's layout the head is RedisBloom's header; in the blocked one, the headers
 * of native files.  Which of the two it is shows in its first bytes.  Bytes: docs/formats/redis.md.
 */
#ifndef BF_DUMP_H
#define BF_DUMP_H

#include "value/value.h"

/* What BF.SCANDUMP answers to iterator 0, with iterator 1.  To be freed with RedisModule_Free. */
uint8_t *bf_dump_head(const bf_value *v, size_t *len);

/* What it answers to an iterator from 1 on: a part of one layer, at most 16 MiB, and the next
 * iterator.  Past the end, and for iterators that are none, *len and *next are 0. */
void bf_dump_chunk(const bf_value *v, int64_t iterator, int64_t *next, const uint8_t **bytes,
                   size_t *len);

/* Head and bits in one string, for BF.LOAD.  To be freed with RedisModule_Free. */
uint8_t *bf_dump_whole(const bf_value *v, size_t *len);

/* The bits of layer i, all layers of a filter that is no chain being one.  *scratch, if it is not
 * NULL, holds them and is to be freed with RedisModule_Free. */
const uint8_t *bf_dump_layer(const bf_value *v, uint32_t i, size_t *len, uint8_t **scratch);

/* The value of a chain of the format redisbloom, which it owns; UMBEL_ENOMEM frees the chain. */
umbel_err bf_redisbloom_value(umbel_filter *chain, bf_value **out, umbel_diag *diag);

/* BF.LOADCHUNK with iterator 1: a value with the counts of its head and all bits 0.  The bits are
 * as many as the head says, so max_bytes should bound them.  UMBEL_ECORRUPT, UMBEL_EVERSION: bad
 * data; UMBEL_ELIMIT, UMBEL_ENOMEM. */
umbel_err bf_load_head(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                       umbel_diag *diag);

/* BF.LOADCHUNK with a later one, that which came with the chunk.  UMBEL_EINVAL: diag->what is
 * RedisBloom's text after "ERR ". */
umbel_err bf_load_chunk(bf_value *v, int64_t iterator, const uint8_t *bytes, size_t len,
                        umbel_diag *diag);

/* BF.LOAD: what bf_dump_whole wrote, and nothing after it.  Errors as bf_load_head. */
umbel_err bf_load_whole(const uint8_t *bytes, size_t len, uint64_t max_bytes, bf_value **out,
                        umbel_diag *diag);

#endif
