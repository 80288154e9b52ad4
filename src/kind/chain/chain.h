/* SPDX-License-Identifier: MIT
 *
 * chain.h - several filters looked up as one: what scalable filters, windows, RedisBloom's chains
 *           and the values of the Redis module have in common
 *
 *   chain.c       how chains work; making them, growing, memory
 *   chain_keys.c  lookups and adds
 *   chain_measure.c  what their bits say
 *   chain_merge.c merges one into another
 *   probes.c      where a key's bits are in a layer: blocked, line, narrow
 *   packed.c      a layer that keeps hashes, a few bits of each
 *   scalable.c    the policy of native scalable filters: append a larger layer
 *   window.c      the policy of windows: clear the oldest layer and make it the newest
 *
 * RedisBloom's policy and probes are in format/redisbloom, the module's policy in module/value.
 */
#ifndef UMBELI_CHAIN_H
#define UMBELI_CHAIN_H

#include "core/bits.h"
#include "kind/blocked/blocked.h"

/* A key is hashed to 64 bits (narrow) or, in all layers of RedisBloom's chains, to 128 (wide). */
typedef union umbeli_hashes {
    const uint64_t *narrow;
    const umbeli_hash128 *wide;
} umbeli_hashes;

typedef struct umbeli_layer umbeli_layer;

/* Bytes of a chunk of packed hashes, at most. */
enum { UMBELI_CHUNK_MAX = 4096 };

typedef struct umbeli_probes {
    const char *name;    /* of layers that do not belong to a kind; else NULL */
    bool plain;          /* its bits are read byte by byte, wherever they are */
    umbel_kind kind;     /* of such a layer on its own ... */
    uint32_t scheme;     /* ... and its scheme in native files; 0: cannot be stored in one */
    uint32_t log2_bytes; /* of a block, in blocked and line layers */

    /* Sets what follows from a layer's description, such as the loops of blocked and line layers.
     * NULL: there is nothing to set. */
    void (*prepare)(umbeli_layer *layer);

    /* Computes wide hashes for probes that take them; NULL: they take narrow ones. */
    void (*hash_wide)(const umbel_key *keys, size_t n, umbeli_hash128 *hashes);

    void (*contains)(const umbeli_layer *layer, umbeli_hashes hashes, size_t n, uint8_t *found);
    /* Returns how many keys were new; was_new (never NULL) says which. */
    uint64_t (*add)(umbeli_layer *layer, umbeli_hashes hashes, size_t n, uint8_t *was_new);
    /* Whether one of `count` layers, all with these probes, has one hash: as contains of each, but
     * their cache misses overlap.  NULL: nothing is gained. */
    bool (*any_contains)(const umbeli_layer *layers, uint32_t count, umbeli_hashes hash);
    /* The i-th bit of one hash. */
    uint64_t (*bit)(const umbeli_layer *layer, umbeli_hashes hash, uint32_t i);

    /* Estimates distinct keys from the number of set bits; and the live rate, or
     * umbeli_rate_unseen (classic.h). */
    double (*estimate)(const umbeli_layer *layer, uint64_t bits_set);
    double (*live_rate)(const umbeli_layer *layer, uint64_t bits_set);
    /* The model's rate with this many keys; NULL: no key that is added goes uncounted. */
    double (*rate_after)(const umbeli_layer *layer, uint64_t keys);

    /* Sets `keys` after the bytes were replaced, where they say how many there are; else NULL. */
    void (*recount)(umbeli_layer *layer);
    /* Whether these bytes, as many as the layer has, can be such a layer; NULL: any can be. */
    bool (*check)(const umbeli_layer *layer, const uint8_t *bytes);
} umbeli_probes;

/* Narrow: as classic filters, but by narrow hashes like the others. */
extern const umbeli_probes umbeli_probes_blocked, umbeli_probes_line, umbeli_probes_narrow,
    umbeli_probes_packed;

/* The loops of packed layers, once per instruction set (packed_loops.h): of short chunks, and of
 * those with longer chunks. */
typedef struct umbeli_packed_kernel {
    void (*contains)(const umbeli_layer *l, const uint64_t *hashes, size_t n, uint8_t *found);
    uint64_t (*add)(umbeli_layer *l, const uint64_t *hashes, size_t n, uint8_t *was_new);
    void (*contains_long)(const umbeli_layer *l, const uint64_t *hashes, size_t n, uint8_t *found);
    uint64_t (*add_long)(umbeli_layer *l, const uint64_t *hashes, size_t n, uint8_t *was_new);
    void (*spread)(uint32_t bits, const uint64_t *hashes, size_t n, uint64_t *out);
} umbeli_packed_kernel;

extern const umbeli_packed_kernel umbeli_packed_generic, umbeli_packed_avx2, umbeli_packed_avx512;

/* Those of a layer that is a filter of that kind; NULL: none is. */
const umbeli_probes *umbeli_native_probes(umbel_kind kind);

/* One filter of a chain.  To describe one that is to be made, set probes, bytes, nbits, hashes,
 * capacity, rate and keys, and short_chunks, known_bits, n2 and bits_per_entry where they are not
 * the usual; the chain sets the rest. */
struct umbeli_layer {
    const umbeli_probes *probes;
    const umbeli_blocked_kernel *kernel; /* of blocked and line probes, else NULL */
    uint8_t *bits;
    uint64_t bytes;
    uint64_t nbits;         /* bits that probes can hit, at most 8 * bytes */
    umbeli_modulus modulus; /* of nbits */
    uint32_t hashes;        /* probes per key */
    bool short_chunks;      /* packed, in small chunks: lookups in two cache lines */
    uint32_t known_bits;    /* blocked, in place of packed hashes: bits known of each; 0: all */
    uint8_t n2;             /* RedisBloom: 0, or, in layers of old releases, nbits is 2^n2 */
    uint64_t capacity;      /* keys planned for */
    uint64_t keys;          /* adds that changed it */
    double rate;            /* promised at capacity, 0: none */
    double bits_per_entry;  /* RedisBloom: as in a header; 0: what follows from the rate */
    umbeli_array own;       /* its memory; empty when the bits are in the filter's `data` */
    struct {
        uint64_t chunks;
        uint64_t inverse; /* values per chunk, rounded down */
        uint32_t stride, low, slots, uppers;
        uint32_t room; /* keys that it is sure to take */
        uint32_t done; /* of those in the last call of `add`: it stops when there is no room */
    } packed;          /* of packed ones: packed.c; there `hashes` are the bits kept of a hash */
};

/* The number of blocks of a blocked or line layer. */
static inline uint64_t umbeli_layer_blocks(const umbeli_layer *layer) {
    return layer->bytes >> layer->probes->log2_bytes;
}
umbeli_block_form umbeli_layer_form(const umbeli_layer *layer);

typedef struct umbeli_chain {
    umbel_filter base; /* data: the layers that were made together, one after another */
    umbeli_layer *layers;
    uint32_t count, cap;
    uint32_t shared; /* layers [0, shared) are in base.data, later ones in separate memory */
    uint32_t newest; /* the layer that takes keys; it, those before it, and then from the end those
                         after it are ordered from newest to oldest */
    bool never_full; /* capacities are not enforced */
    bool from_file;  /* may be from a stranger's file, which says how it grows */
    bool lent;       /* the chain and `layers` are the caller's memory: umbeli_chain_lend */
} umbeli_chain;

/* What makes one chain different from another. */
typedef struct umbeli_chain_policy {
    /* Keys that an older layer has are added to the newest again, so that they are remembered as
     * long as any other key added now. */
    bool refreshes;

    /* The shape's capacity is the sum of the layers' capacities; else what the chain was made
     * with. */
    bool sums_capacity;

    /* Dumps show the layers one by one, not the payload as a whole. */
    bool layered;

    /* Called when the newest layer is full and another key must be added: provides a new newest
     * layer.  UMBEL_EFULL, UMBEL_ELIMIT, UMBEL_ENOMEM or UMBEL_ENOTSUP, and nothing changes, when
     * it cannot.  max_bytes limits the bits of all layers; 0: no limit. */
    umbel_err (*next)(umbeli_chain *c, uint64_t max_bytes);

    bool (*grows)(const umbeli_chain *c); /* umbel_info.grows; NULL: never */

    /* For umbeli_chain_merge: why layers i, or with i == UINT32_MAX the chains themselves, do not
     * match; NULL: they do.  NULL function: nothing to add to what the chain compares. */
    const char *(*differ)(const umbeli_chain *a, const umbeli_chain *b, uint32_t i);
} umbeli_chain_policy;

static inline const umbeli_chain *umbeli_chain_of(const umbel_filter *f) {
    return (const umbeli_chain *)f;
}

static inline bool umbeli_is_chain(const umbel_filter *f) {
    return f->ops->policy != NULL;
}

/* ---- Making ---- */

/* A chain of native files without layers: umbeli_chain_lay_out comes next.  Its layers are all
 * split-block; fills in the rest of the shape, from which data_len follows.  Arguments as
 * umbeli_filter_new. */
umbel_err umbeli_chain_new_native(const umbeli_ops *ops, const char *layout,
                                  const umbeli_shape *shape, uint32_t scheme, const uint8_t *borrow,
                                  const umbeli_settings *settings, umbel_filter **out,
                                  umbel_diag *diag);

/* Gives a chain its first layers, one after another in data, which has exactly their bytes. */
umbel_err umbeli_chain_lay_out(umbeli_chain *c, const umbeli_layer *layers, uint32_t count,
                               umbel_diag *diag);

/* Makes a chain in the caller's memory, for the length of a call, of layers that were prepared and
 * have bits: the first one's become `data`, with `first` as their memory, which may be empty; the
 * others have separate memory.  Whatever it does to its layers is done to them. */
void umbeli_chain_lend(umbeli_chain *c, const umbeli_ops *ops, const char *layout,
                       const umbeli_shape *shape, const umbeli_settings *settings,
                       umbeli_layer *layers, uint32_t count, umbeli_array first);

/* A handle that takes over such a chain and the memory of its layers; NULL without memory. */
umbel_filter *umbeli_chain_keep(umbeli_chain *lent);

/* Appends an empty layer as the newest; no bit of the others moves.  UMBEL_ELIMIT when the bits of
 * all layers would take more than max_bytes (0: no limit), UMBEL_ENOMEM. */
umbel_err umbeli_chain_append(umbeli_chain *c, const umbeli_layer *layer, uint64_t max_bytes);

/* UMBEL_EFULL if a next layer of this many bytes is out of proportion to the newest one.  Its size
 * follows from the capacity and the rate in the chain's file, which may lie.  A layer that was
 * planned needs about `expansion` times the bytes of the one before, up to twice that where the
 * rate is close to what the kind can keep; small ones are rounded up.  UMBEL_ELIMIT if it is out of
 * proportion to a file, unless the caller has set a limit. */
umbel_err umbeli_chain_may_append(const umbeli_chain *c, uint64_t bytes, uint32_t expansion,
                                  uint64_t max_bytes);

/* Replaces layer i, which keeps hashes and is the last in `data` or has memory of its own, by
 * `layer`, which gets all its keys: a packed one or a filter of kept bits.  Limit and errors as for
 * umbeli_chain_append, and UMBEL_EFULL if a part of a packed one has no room; on failure nothing
 * changes. */
umbel_err umbeli_chain_replace(umbeli_chain *c, uint32_t i, const umbeli_layer *layer,
                               uint64_t max_bytes);

/* Adds the hashes of a packed layer to layer i, which is one that keeps as many bits.
 * UMBEL_ENOMEM. */
umbel_err umbeli_chain_unite(umbeli_chain *c, uint32_t i, const umbeli_layer *other);

/* Call after the bytes of a layer were replaced: corrects its number of keys, if they tell it. */
void umbeli_chain_recount(umbeli_chain *c, umbeli_layer *layer);

/* Whether any layer keeps hashes. */
bool umbeli_chain_has_hashes(const umbeli_chain *c);

static inline bool umbeli_is_packed(const umbeli_layer *layer) {
    return layer->probes == &umbeli_probes_packed;
}

/* Packed layers: the keys for which one of this many bytes is that keeps this many bits of a hash;
 * its rate with that many keys; and how many keys there were if this many different hashes
 * are left. */
uint64_t umbeli_packed_capacity(uint64_t bytes, uint32_t bits);
double umbeli_packed_rate(uint64_t keys, uint32_t bits);
double umbeli_packed_keys(double hashes, uint32_t bits);

/* Adds all hashes of a packed layer to a filter, `kept`, whose probes follow from the bits that
 * were kept, spread over 64. */
void umbeli_packed_filter(umbeli_layer *filter, const umbeli_layer *from);
void umbeli_packed_spread(uint32_t bits, const uint64_t *hashes, size_t n, uint64_t *out);

/* An empty layer, prepared, gets all hashes of one or two others that keep as many bits.  False: a
 * part of it has no room. */
bool umbeli_packed_refill(umbeli_layer *fresh, const umbeli_layer *a, const umbeli_layer *b);

/* The hashes of a packed layer in fewer bytes, for files: into `out`, zeroed and as large as the
 * layer; returns how many it took.  Reading fills an empty layer, prepared, with `keys` hashes that
 * keep as many bits; false: these bytes are not they, or have no room there. */
size_t umbeli_packed_write(const umbeli_layer *layer, uint8_t *out);
bool umbeli_packed_read(umbeli_layer *layer, uint64_t keys, const uint8_t *bytes, size_t len);

/* Removes appended layers until `count` are left; the last becomes the newest. */
void umbeli_chain_truncate(umbeli_chain *c, uint32_t count);

/* ---- Keys ---- */

/* umbeli_ops.add and add_many with a limit on the bytes after growing. */
umbel_err umbeli_chain_add_one(umbel_filter *f, umbel_key key, uint64_t max_bytes,
                               uint8_t *was_new);
umbel_err umbeli_chain_add_within(umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint64_t max_bytes, uint8_t *was_new, size_t *done);

/* ---- Whole chains ---- */

/* The layer that holds byte *offset of the payload, and the offset within it; NULL after the
 * last. */
umbeli_layer *umbeli_chain_layer_at(const umbeli_chain *c, uint64_t *offset);

/* Adds all keys of `from`, a chain under the same policy: layers of the same shape are merged,
 * further ones copied.  UMBEL_EMISMATCH when the two differ, UMBEL_EFULL when both together exceed
 * a layer's capacity or the promised rate, UMBEL_ENOMEM; on failure nothing changes, unless a layer
 * of `into` keeps hashes: merge into a copy of such a chain. */
umbel_err umbeli_chain_merge(umbeli_chain *into, const umbeli_chain *from, umbel_diag *diag);

/* Measures a layer by reading all its bits. */
umbel_measurement umbeli_layer_measure(const umbeli_layer *layer);

/* Measures from the first bytes of a layer, or of every layer of a chain; `most` is a multiple of
 * the size of a block. */
umbel_measurement umbeli_layer_sample(const umbeli_layer *layer, uint64_t most);
void umbeli_chain_sample(const umbel_filter *f, uint64_t most, umbel_measurement *now);

/* The model's rate of a split-block layer that holds this many keys. */
double umbeli_layer_rate(uint64_t nblocks, uint64_t keys);

/* The probability that at least one of two filters says yes; without logarithms, which set
 * errno. */
static inline double umbeli_rate_of_union(double a, double b) {
    return a + b - a * b;
}

/* ---- umbeli_ops of every chain ---- */

bool umbeli_chain_contains(const umbel_filter *f, const void *key, size_t len);
umbel_err umbeli_chain_add(umbel_filter *f, const void *key, size_t len, bool *was_new);
void umbeli_chain_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                uint8_t *hit);
umbel_err umbeli_chain_add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                                size_t *done);
bool umbeli_chain_contains_hash(const umbel_filter *f, uint64_t hash);
void umbeli_chain_contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                  uint8_t *hit);
umbel_err umbeli_chain_add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n,
                                  uint8_t *was_new, size_t *done);
size_t umbeli_chain_probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                           size_t cap);
uint8_t *umbeli_chain_segment(const umbel_filter *f, size_t i, uint64_t *len);
umbel_err umbeli_chain_copy(umbel_filter *into, const umbel_filter *from);
void umbeli_chain_dispose(umbel_filter *f);
bool umbeli_chain_relocate(umbel_filter *f, size_t step, const umbeli_mover *mover);
void umbeli_chain_measure(const umbel_filter *f, umbel_measurement *now);
void umbeli_chain_describe(const umbel_filter *f, umbel_info *info);

/* umbeli_ops.clear of chains that grow: back to the first layer, without keys. */
void umbeli_chain_clear(umbel_filter *f);

#define UMBELI_CHAIN_OPS                                                                           \
    .contains = umbeli_chain_contains, .add = umbeli_chain_add,                                    \
    .contains_many = umbeli_chain_contains_many, .add_many = umbeli_chain_add_many,                \
    .probes = umbeli_chain_probes, .reach = UMBELI_CHUNK_MAX, .segment = umbeli_chain_segment,     \
    .copy = umbeli_chain_copy, .dispose = umbeli_chain_dispose, .relocate = umbeli_chain_relocate, \
    .measure = umbeli_chain_measure

/* The operations of chains whose layers all take narrow hashes. */
#define UMBELI_NARROW_CHAIN_OPS                                                            \
    UMBELI_CHAIN_OPS,                                                                      \
        .hash_many = umbeli_hashed_hash_many, .contains_hash = umbeli_chain_contains_hash, \
        .contains_hashes = umbeli_chain_contains_hashes, .add_hashes = umbeli_chain_add_hashes

/* Generations of a window, 0 for every other filter; window.c. */
uint32_t umbeli_window_generations(const umbel_filter *f);

#endif
