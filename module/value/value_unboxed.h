/* SPDX-License-Identifier: MIT
 *
 * value_unboxed.h - unboxed values: those without a handle
 *
 * Services keep a filter per user, and most of those hold a few keys: a handle, which is made for
 * filters of any kind and size, would take several times the memory of their bits.  A value has
 * none if its layers are RedisBloom's links, as many and as large as RedisBloom makes them, or
 * packed, or a single one of at most BF_SMALL_BYTES by narrow hashes.  What does not follow from
 * its parameters is in
 *
 *   bf_small   one layer of less than 64 KiB, whose bits follow
 *   bf_links   several, or a larger one, each with separate memory
 *
 * For what only chains can do, one is made on the stack (bf_value_filter), and its changes are
 * written back (bf_value_settle).  A value that can no longer be unboxed gets a handle.
 */
#ifndef BF_VALUE_UNBOXED_H
#define BF_VALUE_UNBOXED_H

#include "format/redisbloom/redisbloom_dump.h"
#include "value/value.h"
#include "value/value_layers.h"

typedef struct bf_small {
    uint32_t keys;
    uint16_t bytes;
    uint16_t hashes; /* plus BF_SMALL_PACKED */
    uint8_t bits[];
} bf_small;

enum { BF_SMALL_PACKED = 0x8000 }; /* it keeps hashes, this many bits of each */

typedef struct bf_link {
    uint8_t *bits;
    uint64_t keys, capacity;
    uint32_t words; /* of 8 bytes */
    uint16_t hashes;
    uint16_t room; /* of packed ones */
} bf_link;

typedef struct bf_links {
    uint32_t count;
    bf_link list[];
} bf_links;

enum { BF_UNBOXED_LAYERS = 32 };

/* A chain on the stack, and its layers. */
struct bf_room {
    union {
        umbeli_chain chain;
        umbeli_redisbloom redisbloom;
        bf_layers blocked;
    } of;
    umbeli_layer layers[BF_UNBOXED_LAYERS];
};

/* The filter of a value: its handle or, until the value changes, a chain in `room`. */
const umbel_filter *bf_value_filter(const bf_value *v, bf_room *room);

/* The same, to be changed.  Call bf_value_settle afterwards. */
umbel_filter *bf_value_filter_edit(bf_value *v, bf_room *room);
void bf_value_settle(bf_value *v, bf_room *room);

/* Removes the handle of a value that does not need one. */
void bf_unboxed_fold(bf_value *v);

/* Gives a new value its first layer, empty.  False: it needs a handle, or there is no memory. */
bool bf_unboxed_create(bf_value *v, const umbeli_layer *first);

/* Fills an empty packed bf_small with hashes: umbeli_packed_read. */
bool bf_small_fill(bf_value *v, uint64_t keys, const uint8_t *coded, size_t len);

/* Gives a packed bf_small a larger table, as a chain would; false: use bf_value_filter instead.
 * max_bytes as for bf_value_add. */
bool bf_small_grow(bf_value *v, uint64_t max_bytes);

/* Sizes a filter that nobody reserved for this many keys, at least those that it has, at
 * once; where that cannot be, it stays as it is. */
void bf_small_fit(bf_value *v, uint64_t keys, uint64_t max_bytes);

/* RedisBloom's first link for these parameters, false if it would be too large; and its filter.
 * The library's codec has limits for new requests; what RedisBloom 2 accepted, and a primary or a
 * file repeats, has none. */
bool bf_redisbloom_first(const bf_params *params, umbeli_layer *link);
umbel_err bf_redisbloom_new(const bf_params *params, const umbeli_settings *settings,
                            umbel_filter **out, umbel_diag *diag);

umbel_err bf_unboxed_copy(const bf_value *v, bf_value *twin); /* all but the parameters */
void bf_unboxed_free(bf_value *v);

/* One key, without making a chain.  Adding returns false, and changes nothing, if the newest layer
 * has no room. */
bool bf_unboxed_contains_one(const bf_value *v, const umbel_key *key);
bool bf_unboxed_add_one(bf_value *v, const umbel_key *key, uint8_t *was_new);

void bf_small_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit);

/* Like bf_value_add, except that it always returns UMBEL_EFULL when an unknown key has no room. */
umbel_err bf_small_add(bf_value *v, const umbel_key *keys, size_t n, uint8_t *was_new,
                       size_t *done);

#endif
