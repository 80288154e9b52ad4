/* SPDX-License-Identifier: MIT
 *
 * redisbloom_dump.h - what BF.SCANDUMP returns and BF.LOADCHUNK accepts
 *
 * Headers are for chains of the format redisbloom, chunks for any filter: the iterators of the
 * protocol count the bytes of its payload.
 */
#ifndef UMBELI_REDISBLOOM_DUMP_H
#define UMBELI_REDISBLOOM_DUMP_H

#include "core/bytes.h"
#include "format/redisbloom/redisbloom_link.h"

typedef struct umbeli_redisbloom_head {
    uint64_t keys;
    uint32_t count, options, growth;
    uint64_t bytes; /* of the bits of all links */
} umbeli_redisbloom_head;

/* Reads a header and validates every field, including those that RedisBloom does not check. */
umbel_err umbeli_redisbloom_read_header(const uint8_t *bytes, size_t len, umbeli_redisbloom_head *h,
                                        umbel_diag *diag);

/* LOADCHUNK with iterator 1: the chain of a header that umbeli_redisbloom_read_header accepted,
 * with its counts and, unless `borrow` has them, all bits 0.  They take the memory that the header
 * says, so settings->max_bytes must limit it. */
umbel_err umbeli_redisbloom_from_header(const uint8_t *bytes, size_t len,
                                        const umbeli_redisbloom_head *h, const uint8_t *borrow,
                                        const umbeli_settings *settings, umbel_filter **out,
                                        umbel_diag *diag);

/* The chain of links from elsewhere, such as RDB files, checked like those of a header; sets
 * h->bytes.  All bits are 0. */
umbel_err umbeli_redisbloom_from_links(umbeli_redisbloom_head *h, const umbeli_layer *links,
                                       const umbeli_settings *settings, umbel_filter **out,
                                       umbel_diag *diag);

/* The length that the header at the start of the bytes claims, at most len. */
size_t umbeli_redisbloom_header_len(const uint8_t *bytes, size_t len);

/* The head of a chain, without `bytes`. */
umbeli_redisbloom_head umbeli_redisbloom_head_of(const umbel_filter *f);

/* What SCANDUMP returns with iterator 1: its size, and its bytes. */
uint64_t umbeli_redisbloom_header_size(uint32_t links);
void umbeli_redisbloom_put_header(const umbel_filter *f, umbeli_writer *w);

/* What SCANDUMP returns for an iterator from 1 on: a piece of the payload, at most 16 MiB and never
 * of two layers, and the next iterator, which LOADCHUNK takes together with the piece.  Past the
 * end, and for invalid iterators, *len and *next are 0. */
void umbeli_redisbloom_chunk(const umbel_filter *f, int64_t iterator, int64_t *next,
                             const uint8_t **bytes, size_t *len);

/* LOADCHUNK with an iterator above 1.  UMBEL_EINVAL with RedisBloom's own messages. */
umbel_err umbeli_redisbloom_load_chunk(umbel_filter *f, int64_t iterator, const uint8_t *bytes,
                                       size_t len, umbel_diag *diag);

#endif
