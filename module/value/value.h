/* SPDX-License-Identifier: MIT
 *
 * value.h - what a key of the server holds: one filter and the parameters it was made with
 *
 *   value.c          overview essay; creation, keys, merging, accounting
 *   value_unboxed.c     values without a handle, in little memory
 *   value_layers.c   which layer comes next in the blocked layout
 *   value_stats.c    figures about a value
 *   value_window.c   windows that forget by the clock
 *   value_memory.c   how much memory it takes, holding it for a thread, and moving it
 *   layer_plan.c     how large the layers are
 *   server_memory.c  the server's allocator
 *
 * The server's own types are in storage/types.h, the bytes of a value in storage/dump.h.
 */
#ifndef BF_VALUE_H
#define BF_VALUE_H

#include "kind/chain/chain.h"
#include "umbel.h"

/* LAYOUT blocked and LAYOUT classic of the commands. */
typedef enum bf_layout { BF_BLOCKED, BF_REDISBLOOM } bf_layout;

enum {
    BF_KEY_BYTES = 16,
    BF_LAYERS_MAX = 64,
    BF_EXPANSION_MAX = 32768,       /* that clients may ask for */
    BF_EXPANSION_AUTO = 0x7fffffff, /* no particular steps requested: layer_plan.h; shown as 2 */
    BF_EXPANSION_SHOWN = 2
};

/* A filter that does not grow.  RedisBloom's header still has an expansion. */
#define BF_EXPANSION_FIXED (UINT32_C(1) << 31)

/* Everything that determines how a filter is made and grows. */
typedef struct bf_params {
    double error; /* promised rate, in (0, 1) */
    uint64_t capacity;
    double tightening; /* 0: umbel's own shares; otherwise in (0, 1) */
    uint8_t key[BF_KEY_BYTES];
    uint32_t expansion; /* of each layer, or BF_EXPANSION_AUTO; 0 or BF_EXPANSION_FIXED: no more */
    uint16_t window;    /* blocked only: generations of a window of `capacity` keys; 0: none */
    uint8_t layout;     /* a bf_layout */
    bool counting : 1;  /* blocked only: keys can be removed */
    bool keyed : 1;     /* blocked only */
    bool by_time : 1;   /* a window that the clock advances: value_window.h */
} bf_params;

static inline bool bf_grows(const bf_params *p) {
    return p->expansion != 0 && !(p->expansion & BF_EXPANSION_FIXED);
}

/* Each layer has this many times the capacity of the one before; for a filter that does not grow,
 * the number in RedisBloom's header. */
static inline uint32_t bf_expansion(const bf_params *p) {
    uint32_t growth = p->expansion & ~BF_EXPANSION_FIXED;
    return growth == BF_EXPANSION_AUTO ? BF_EXPANSION_SHOWN : growth;
}

/* Whether filters made with these differ in nothing but their secrets and clocks. */
static inline bool bf_params_alike(const bf_params *a, const bf_params *b) {
    return a->error == b->error && a->capacity == b->capacity && a->tightening == b->tightening &&
           a->expansion == b->expansion && a->window == b->window && a->layout == b->layout &&
           a->counting == b->counting && a->keyed == b->keyed && a->by_time == b->by_time;
}

/* Where the filter is. */
enum { BF_HANDLE, BF_SMALL, BF_LINKS };

/* The filter and the parameters that would create it again, empty; in an order without padding,
 * since there may be millions.  Only filters with a handle have a tightening, which the handle
 * knows. */
typedef struct bf_value {
    union {
        umbel_filter *filter;
        struct bf_small *small; /* value_unboxed.h */
        struct bf_links *links;
    };
    double error;
    uint64_t capacity;
    uint8_t key[BF_KEY_BYTES];
    uint32_t expansion;
    uint16_t window;
    uint8_t layout;
    bool counting : 1;
    bool keyed : 1;
    bool by_time : 1;
    uint8_t form : 2; /* which of the three it is: BF_HANDLE ... */
} bf_value;

/* ---- Life ---- */

/* UMBEL_EINVAL with a message, UMBEL_ENOMEM, or UMBEL_ELIMIT above max_bytes (0: no limit). */
umbel_err bf_value_create(const bf_params *params, uint64_t max_bytes, bf_value **out,
                          umbel_diag *diag);

/* Wraps a filter that was made elsewhere and takes ownership of it; UMBEL_ENOMEM frees the filter.
 */
umbel_err bf_value_of(const bf_params *params, umbel_filter *filter, bf_value **out,
                      umbel_diag *diag);

/* A filter that nobody reserved, of one layer, from `keys` hashes as umbeli_packed_write has them.
 * UMBEL_ECORRUPT, UMBEL_ENOMEM. */
umbel_err bf_value_of_hashes(const bf_params *params, uint64_t keys, const uint8_t *coded,
                             size_t len, bf_value **out, umbel_diag *diag);
/* Whether a value could be made that way: its parameters and hashes say all about it. */
bool bf_value_is_hashes(const bf_value *v);
void bf_value_free(bf_value *v);
umbel_err bf_value_copy(const bf_value *v, bf_value **out);

/* BF.LOADCHUNK with the iterator that came with the chunk, above 1.  UMBEL_EINVAL: diag->what is
 * RedisBloom's text after "ERR ". */
umbel_err bf_value_load_chunk(bf_value *v, int64_t iterator, const uint8_t *bytes, size_t len,
                              umbel_diag *diag);

/* Forgets every key: back to the first layer and its promised rate. */
umbel_err bf_value_clear(bf_value *v);

/* ---- Keys ---- */

/* Adds in order.  was_new[i] is set for the first *done keys; on error the key after them could
 * not be added: UMBEL_EFULL (may not grow, or not any further), UMBEL_ELIMIT (its bits would exceed
 * max_bytes, 0: no limit), UMBEL_ENOMEM, UMBEL_EFROZEN. */
umbel_err bf_value_add(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                       uint8_t *was_new, size_t *done);
/* Adds one key that needs no more memory; false: nothing has changed, use bf_value_add. */
bool bf_value_add_one(bf_value *v, const umbel_key *key, uint8_t *was_new);
void bf_value_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit);

/* UMBEL_EABSENT: certainly not in; UMBEL_ENOTSUP: not a counting filter. */
umbel_err bf_value_remove(bf_value *v, const umbel_key *key);
uint32_t bf_value_count(const bf_value *v, const umbel_key *key);

/* Adds all keys of `from`: layers of the same shape are merged, the rest appended.
 * UMBEL_EMISMATCH with a message when the two were not made alike, UMBEL_EFULL when the keys of
 * both would break the promised rate; in either case nothing changes. */
umbel_err bf_value_merge(bf_value *into, const bf_value *from, umbel_diag *diag);

/* ---- Figures ---- */

bf_params bf_value_params(const bf_value *v); /* that would create it again, empty */
uint64_t bf_value_card(const bf_value *v);
uint64_t bf_value_capacity(const bf_value *v);   /* of all layers */
uint32_t bf_value_exceptions(const bf_value *v); /* kind/exceptions.h */

/* The chain whose layers the value reports one by one, in `room` (value_unboxed.h) if it has no
 * chain itself; NULL: it reports its filter as one layer. */
struct bf_room;
typedef struct bf_room bf_room;
const umbeli_chain *bf_value_chain(const bf_value *v, bf_room *room);
bool bf_value_layered(const bf_value *v); /* whether there is one */
uint32_t bf_value_layers(const bf_value *v);
uint64_t bf_value_bytes(const bf_value *v); /* of the bits of all layers */

/* Memory as the allocator counts it. */
uint64_t bf_value_memory(const bf_value *v);
/* BF.INFO's Size, as RedisBloom counts it: the bits and a constant per layer.  A property of the
 * filter, equal on every server that has it. */
uint64_t bf_value_size(const bf_value *v);

typedef struct bf_layer {
    const char *kind;
    uint64_t bytes, bits; /* of the bit array */
    uint32_t hashes;
    uint64_t capacity, keys;
    double error; /* its share of the promised rate */
} bf_layer;

/* Layer i; 0 is the oldest. */
void bf_value_layer(const bf_value *v, uint32_t i, bf_layer *out);

/* Estimates from the bits of the value or of one layer; of a large layer only a part is read. */
void bf_value_measure(const bf_value *v, umbel_measurement *out);
void bf_value_measure_layer(const bf_value *v, uint32_t i, umbel_measurement *out);

/* Whether the library says that it does not keep its promise. */
bool bf_value_overfull(const bf_value *v, const umbel_measurement *now);

/* How many keys such a filter can hold once grown as far as max_bytes allows (0: no limit); at most
 * INT64_MAX.  0: it cannot be created at all. */
uint64_t bf_params_max_keys(const bf_params *params, uint64_t max_bytes);

/* Totals over all values of this server. */
typedef struct bf_totals {
    uint64_t filters, layers, items, capacity, bytes;
} bf_totals;
bf_totals bf_totals_get(void);

#endif
