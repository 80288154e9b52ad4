/* SPDX-License-Identifier: MIT
 *
 * redisbloom_link.h - RedisBloom's scaling filter: a chain of Bloom filters, each larger and
 *                      stricter than the one before
 *
 * RedisBloom calls the layers links.  When the newest link is full, one with `growth` times its
 * capacity and half its rate follows.
 */
#ifndef UMBELI_REDISBLOOM_LINK_H
#define UMBELI_REDISBLOOM_LINK_H

#include "kind/chain/chain.h"

/* Options of a chain, as in its header. */
enum {
    UMBELI_REDISBLOOM_NOROUND = 1,
    UMBELI_REDISBLOOM_ENTRIES_ARE_BITS = 2,
    UMBELI_REDISBLOOM_FORCE64 = 4,
    UMBELI_REDISBLOOM_NO_SCALING = 8
};

/* The largest expansion that callers may request; and the probes that the lowest rate gives. */
enum { UMBELI_REDISBLOOM_EXPANSION_MAX = 32768, UMBELI_REDISBLOOM_HASHES_MAX = 1080 };

typedef struct umbeli_redisbloom {
    umbeli_chain chain;
    uint32_t options, growth;
} umbeli_redisbloom;

static inline const umbeli_redisbloom *umbeli_redisbloom_of(const umbel_filter *f) {
    return (const umbeli_redisbloom *)f;
}

extern const umbeli_probes umbeli_probes_redisbloom;

bool umbeli_is_redisbloom(const umbel_filter *f);

/* Sizes a link as RedisBloom does; keys is 0.  UMBEL_EFULL when it would need more than 2^62 bits
 * or
 * 1080 probes. */
umbel_err umbeli_redisbloom_size_link(uint64_t capacity, double rate, umbeli_layer *link,
                                      umbel_diag *diag);

/* A link's bits per entry, for its header, and the number of probes that follows from it. */
double umbeli_redisbloom_bits_per_entry(const umbeli_layer *link);
double umbeli_redisbloom_hashes(double bits_per_entry);

/* A chain of these links, with all bits zero or borrowed from `borrow`.  Fields that are in a
 * header must be valid; nbits is 8 * bytes, as there.  With settings->plain each link has its own
 * memory, else all are in `data`. */
umbel_err umbeli_redisbloom_new(const umbeli_layer *links, uint32_t count, uint32_t options,
                                uint32_t growth, const uint8_t *borrow,
                                const umbeli_settings *settings, umbel_filter **out,
                                umbel_diag *diag);

/* umbeli_chain_lend of links that have bits, bytes, nbits, hashes, capacity, keys and rate. */
void umbeli_redisbloom_lend(umbeli_redisbloom *r, umbeli_layer *links, uint32_t count,
                            umbeli_array first, uint32_t options, uint32_t growth,
                            const umbeli_settings *settings);

/* The rate once every link is filled to capacity. */
double umbeli_redisbloom_rate(const umbeli_layer *links, uint32_t count);

#endif
