/* SPDX-License-Identifier: MIT
 *
 * blocked.h - split-block Bloom filters: 256-bit blocks of 8 lanes, one bit per lane and key
 *
 * A key's 64-bit hash picks the block with its upper half and, times eight odd salts, one bit in
 * each 32-bit lane with its lower half: one cache line per key.  Layout and salts are those of the
 * Apache Parquet specification.
 *
 *   blocked.c            creating, measuring, folding
 *   blocked_many.c       batches: the plain loop or the prefetch ring, one thread or several
 *   blocked_shards.c     filters with concurrent writers: who may write where
 *   blocked_loops.h      what every kernel does, written once
 *   block_avx2.h, block_atomic.h   what several kernels share
 *   blocked_generic.c, blocked_avx2.c, blocked_atomic.c    the kernels
 */
#ifndef UMBELI_BLOCKED_H
#define UMBELI_BLOCKED_H

#include "core/filter.h"
#include "hash/native_hash.h"

enum { UMBELI_BLOCK_LOG2 = 5, UMBELI_BLOCK_BYTES = 1 << UMBELI_BLOCK_LOG2, UMBELI_BLOCK_LANES = 8 };

/* What a block looks like: here, or in line.h, whose blocks are twice as large.  A key has one bit
 * in each lane; lanes are powers of two. */
typedef struct umbeli_block_form {
    uint32_t bytes, lanes;
} umbeli_block_form;

static inline uint32_t umbeli_lane_bits(umbeli_block_form form) {
    return 8 * form.bytes / form.lanes;
}

/* Filters up to this many bytes, half of a typical second-level cache, take the plain loops,
 * because prefetching would only cost time. */
enum { UMBELI_PLAIN_BELOW = 256 * 1024 };

/* Hashing several keys at once pays from this many on.  In smaller batches it gets in the way of
 * the lookups, which need the same units of the processor. */
enum { UMBELI_LONG_BATCH = 512 };

/* Numbers of schemes in native files; they never change. */
enum { UMBELI_SCHEME_BLOCKED = 1 };

/* Whose split-block filter it is: the hash function and the names. */
typedef struct umbeli_blocked_scheme {
    uint32_t id;        /* shape.scheme */
    uint32_t hash;      /* shape.hash; 0: one of umbel's own */
    const char *layout; /* for people ... */
    const char *keyed;  /* ... and with a secret, or NULL */
    umbel_format format;
    const umbeli_hasher *hasher; /* NULL: umbel's own */
} umbeli_blocked_scheme;

extern const umbeli_blocked_scheme umbeli_blocked_native;

/* The loops of one instruction set over raw blocks.  `plain` expects the blocks in cache, `ring`
 * prefetches as it goes.  Add loops return the number of new keys and fill was_new unless it is
 * NULL. */
struct umbeli_blocked;
typedef struct umbeli_blocked_kernel {
    const char *name;
    uint32_t needs; /* umbeli_cpu bits */
    const umbeli_ops *ops;
    void (*contains_plain)(const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes,
                           size_t n, uint8_t *hit);
    void (*contains_ring)(const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n,
                          uint8_t *hit);
    uint64_t (*add_plain)(uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n,
                          uint8_t *was_new);
    uint64_t (*add_ring)(uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n,
                         uint8_t *was_new);
    /* The loops by key, which hash it with XXH3 first, or NULL; the filter may be of any size.
     * add_keys is not for concurrent filters: there, hashes are dealt out. */
    void (*contains_keys)(const struct umbeli_blocked *b, const umbel_key *keys, size_t n,
                          uint8_t *hit);
    uint64_t (*add_keys)(const struct umbeli_blocked *b, const umbel_key *keys, size_t n,
                         uint8_t *was_new);
} umbeli_blocked_kernel;

/* Of a concurrent filter, loops that add hashes are given blocks that no other thread writes to.
 * Those of the generic kernel cannot be read meanwhile: there, it has one of its own. */
extern const umbeli_blocked_kernel umbeli_blocked_generic, umbeli_blocked_avx2,
    umbeli_blocked_atomic;

/* A range of blocks that one thread at a time may write to, on a cache line of its own. */
typedef struct umbeli_shard {
    _Atomic bool taken;
    char rest[63];
} umbeli_shard;

typedef struct umbeli_blocked {
    umbel_filter base;
    uint64_t nblocks; /* shape.bits / 256, or 512 in lines; below 2^32 */
    const umbeli_hasher *hasher;
    const umbeli_blocked_kernel *kernel;
    umbeli_shard *shards; /* of concurrent filters; else NULL */
    uint32_t shard_log2;  /* log2 of the blocks in a shard */
} umbeli_blocked;

static inline const umbeli_blocked *umbeli_blocked_of(const umbel_filter *f) {
    return (const umbeli_blocked *)f;
}

static inline uint64_t umbeli_block_of(uint64_t hash, uint64_t nblocks) {
    return ((hash >> 32) * nblocks) >> 32;
}

/* Where the blocks of eight hashes begin, in bytes; blocks are 2^log2_bytes bytes, a constant
 * wherever this is called. */
enum { UMBELI_OFFSETS = 8 };
static inline void umbeli_block_offsets(const uint64_t *hashes, uint64_t nblocks,
                                        unsigned log2_bytes, uint64_t *offsets) {
    for (size_t i = 0; i < UMBELI_OFFSETS; i++) {
        offsets[i] = umbeli_block_of(hashes[i], nblocks) << log2_bytes;
    }
}

extern const uint32_t umbeli_block_salts[UMBELI_BLOCK_LANES];

/* Which of the 32 bits of a lane. */
static inline uint32_t umbeli_block_bit(uint64_t hash, size_t lane) {
    return ((uint32_t)hash * umbeli_block_salts[lane]) >> 27;
}

/* A filter of shape.bits (256 times 1 .. 2^32-1), the rest of the shape filled in from the scheme;
 * borrow as in umbeli_filter_new.  With settings.concurrent, filters that own their bits get the
 * atomic kernel. */
umbel_err umbeli_blocked_new(const umbeli_blocked_scheme *scheme, umbeli_shape shape,
                             const uint8_t *borrow, const umbeli_settings *settings,
                             umbel_filter **out, umbel_diag *diag);

/* UMBEL_ECORRUPT or UMBEL_EVERSION unless a native blocked filter can have this shape. */
umbel_err umbeli_blocked_check(const umbeli_shape *shape, uint64_t data_len, umbel_diag *diag);

/* ---- blocked_shards.c: filters with concurrent writers ----
 *
 * A locked instruction takes longer than everything else that an add does, and setting a key's bits
 * in place would take one for each of its words.  So writers exclude each other instead, within a
 * shard: an add takes the shard of its block, a batch deals its hashes out to the shards and takes
 * each in its turn, a merge takes one after the other.  Whoever waits for a shard has none with a
 * higher number.  Readers never wait: stores are atomic, word by word, and only ever set bits. */

/* Gives a concurrent filter its shards; does nothing to others. */
umbel_err umbeli_shards_new(umbel_filter *f, umbel_diag *diag);

/* Returns only once no other writer has the shard. */
void umbeli_shard_take(umbeli_shard *shard);

static inline void umbeli_shard_give(umbeli_shard *shard) {
    atomic_store_explicit(&shard->taken, false, memory_order_release);
}

/* Adds any number of hashes; returns how many were new, as the loops of a kernel do. */
uint64_t umbeli_shards_add(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                           uint8_t *was_new);

/* Members of umbeli_ops. */
umbel_err umbeli_shards_merge(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);
umbel_err umbeli_shards_copy(umbel_filter *into, const umbel_filter *from);
void umbeli_shards_dispose(umbel_filter *f);
bool umbeli_shards_relocate(umbel_filter *f, size_t step, const umbeli_mover *mover);

/* The first in a list that this processor has the instructions for; the last must need none. */
const umbeli_blocked_kernel *umbeli_kernel_of(const umbeli_blocked_kernel *const *kernel);

/* The fastest kernel for this processor, for filters that are not concurrent. */
const umbeli_blocked_kernel *umbeli_blocked_best(void);

/* The settings of a filter, without `concurrent` where the platform has no atomics
 * (core/platform.h). */
umbeli_settings umbeli_blocked_settings(const umbeli_settings *settings);

/* The form of the blocks of a blocked or line filter of that shape. */
umbeli_block_form umbeli_block_form_of(const umbeli_shape *shape);

/* Members of umbeli_ops that are the same for every kernel, including those of lines. */
void umbeli_blocked_hash_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                              uint64_t *hashes);
void umbeli_blocked_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit);
umbel_err umbeli_blocked_add_many(umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *was_new, size_t *done);
void umbeli_blocked_contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *hit);
umbel_err umbeli_blocked_add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *was_new, size_t *done);
size_t umbeli_blocked_probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                             size_t cap);
umbel_err umbeli_blocked_fold(umbel_filter *f, double fpr, umbel_diag *diag);
void umbeli_blocked_measure(const umbel_filter *f, umbel_measurement *now);
double umbeli_blocked_keys_of_bits(const umbel_filter *f, uint64_t bits_set, double *error);
double umbeli_blocked_rate_after(const umbel_filter *f, uint64_t keys);

/* The probability that a random hash finds all its bits set. */
double umbeli_blocked_live_rate(umbeli_block_form form, const uint8_t *blocks, uint64_t nblocks);

/* That rate, plus the chance that a key shares its block and the lower half of its hash with
 * another, judged by the bits set in all blocks. */
double umbeli_blocked_with_collisions(umbeli_block_form form, double rate, uint64_t nblocks,
                                      uint64_t bits_set);

/* Estimates the distinct keys from the bits set in nblocks blocks; infinite when all are set. */
double umbeli_blocked_estimate(umbeli_block_form form, uint64_t nblocks, uint64_t bits_set);

/* umbeli_blocked_estimate with its standard error. */
double umbeli_blocked_keys(umbeli_block_form form, uint64_t nblocks, uint64_t bits_set,
                           double *error);

#endif
