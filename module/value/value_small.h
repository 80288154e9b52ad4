/* SPDX-License-Identifier: MIT
 *
 * value_small.h - a value that is one small filter, without a handle
 *
 * Services keep a filter per user, and most of those hold a few keys: a handle, which is made for
 * filters of any kind and size, would take several times the memory of their bits.  A value whose
 * filter is a single packed layer, or one of at most BF_SMALL_BYTES by narrow hashes, or
 * RedisBloom's first link of less than 64 KiB, is two allocations instead: itself and the bits.
 * It unfolds into a chain when it has to grow, or for what only chains can do, and folds again
 * where it can; only what writes dumps notices.
 */
#ifndef BF_VALUE_SMALL_H
#define BF_VALUE_SMALL_H

#include "format/redisbloom/redisbloom_dump.h"
#include "value/value.h"

typedef struct bf_small {
    uint32_t keys;
    uint16_t bytes;
    uint16_t hashes; /* plus BF_SMALL_PACKED */
    uint8_t bits[];
} bf_small;

enum { BF_SMALL_PACKED = 0x8000 }; /* it keeps hashes, so many bits of each */

/* Gives the value a chain in place of its bf_small; UMBEL_ENOMEM. */
umbel_err bf_small_unfold(bf_value *v);

/* The reverse, if its filter can be one and there is memory; otherwise the value stays as it is. */
void bf_small_fold(bf_value *v);

/* The layer, for as long as the value stays as it is. */
umbeli_layer bf_small_layer(const bf_value *v);

/* RedisBloom's filter for these parameters.  The library's codec has limits for those who ask; what
 * RedisBloom 2 took, and a primary or a file repeats, has none. */
umbel_err bf_redisbloom_new(const bf_params *params, const umbeli_settings *settings,
                            umbel_filter **out, umbel_diag *diag);

/* In RedisBloom's layout: the head of its chain. */
umbeli_redisbloom_head bf_small_head(const bf_value *v);

umbel_err bf_small_copy(const bf_value *v, bf_small **out);
void bf_small_clear(bf_value *v);

void bf_small_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit);

/* A packed one gets a larger table, as a chain of it would; false: it has to become a chain.
 * max_bytes as for bf_value_add. */
bool bf_small_grow(bf_value *v, uint64_t max_bytes);

/* As bf_value_add, except that UMBEL_EFULL comes in any case when an unknown key has no room. */
umbel_err bf_small_add(bf_value *v, const umbel_key *keys, size_t n, uint8_t *was_new,
                       size_t *done);

#endif
