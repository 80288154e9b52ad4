/* SPDX-License-Identifier: MIT
 *
 * redisbloom_link.h - RedisBloom's scaling filter: a chain of Bloom filters, each larger and
 *                      stricter than the one before
 *
 * A key is in the chain if it is in any link, and is added to the newest.  A full newest link gets
 * a successor of `growth` times its entries and half its error.  The bits of all links lie one
 * after the other in base.data, just as SCANDUMP shows them.
 */
#ifndef UMBELI_REDISBLOOM_LINK_H
#define UMBELI_REDISBLOOM_LINK_H

#include "core/bits.h"
#include "core/filter.h"

/* Options of a chain, as in its header. */
enum {
    UMBELI_REDISBLOOM_NOROUND = 1,
    UMBELI_REDISBLOOM_ENTRIES_ARE_BITS = 2,
    UMBELI_REDISBLOOM_FORCE64 = 4,
    UMBELI_REDISBLOOM_NO_SCALING = 8
};

enum { UMBELI_REDISBLOOM_MOST_EXPANSION = 32768 };

/* The fields of a link's header, in its order, and what follows from them. */
typedef struct umbeli_redisbloom_link {
    uint64_t bytes, bits;
    uint64_t size; /* keys in it */
    double error, bits_per_entry;
    uint32_t hashes;
    uint64_t entries; /* keys it is made for */
    uint8_t n2;       /* 0, or the bits used are 2^n2: links of old releases */

    uint64_t at; /* of its bits in the data */
    umbeli_modulus modulus;
} umbeli_redisbloom_link;

typedef struct umbeli_redisbloom {
    umbel_filter base;
    uint32_t options, growth;
    uint32_t count, cap;
    umbeli_redisbloom_link *links;
    uint64_t data_cap; /* bytes that base.array has room for */
} umbeli_redisbloom;

extern const umbeli_ops umbeli_redisbloom_ops;

static inline const umbeli_redisbloom *umbeli_redisbloom_of(const umbel_filter *f) {
    return (const umbeli_redisbloom *)f;
}

/* Sizes a link as RedisBloom does; at and size are 0.  UMBEL_EFULL when it would need more than
 * 2^62 bits or 1024 probes. */
umbel_err umbeli_redisbloom_size_link(uint64_t entries, double error, umbeli_redisbloom_link *link,
                                      umbel_diag *diag);

/* A chain of these links, copied, with their offsets set; all bits zero, or, with `borrow`, lying
 * there.  The fields of the links must be right. */
umbel_err umbeli_redisbloom_new(const umbeli_redisbloom_link *links, uint32_t count,
                                uint32_t options, uint32_t growth, const uint8_t *borrow,
                                const umbeli_settings *memory, umbel_filter **out,
                                umbel_diag *diag);

/* The rate once every link is as full as it is made to be. */
double umbeli_redisbloom_rate(const umbeli_redisbloom_link *links, uint32_t count);

#endif
