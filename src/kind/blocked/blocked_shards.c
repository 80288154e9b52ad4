/* SPDX-License-Identifier: MIT
 *
 * blocked_shards.c - filters with concurrent writers: each writes to one shard at a time, alone
 */
#include <string.h>

#include "core/cpu.h"
#include "core/diag.h"
#include "core/parallel.h"
#include "kind/blocked/blocked.h"

/* Shards are enough that threads rarely meet, and few enough that the blocks of all piles fit the
 * second-level cache.  In a small filter an add takes less time than dealing it out, so a batch
 * takes all shards, which are fewer, for a while. */
enum {
    SHARDS = 32,
    FEW_SHARDS = 16,
    SMALL = 8 * 1024 * 1024, /* bytes of filter */
    PILE = 128,              /* keys dealt to a shard before it is taken */
    WHILE = 4096,            /* keys added before all shards are given back */
    FEW = 64,                /* keys, added one by one */
    SPINS = 64,
};

static size_t shard_of(const umbeli_blocked *b, uint64_t block) {
    return (size_t)(block >> b->shard_log2);
}

static size_t shards_of(const umbeli_blocked *b) {
    return shard_of(b, b->nblocks - 1) + 1;
}

umbel_err umbeli_shards_new(umbel_filter *f, umbel_diag *diag) {
    umbeli_blocked *b = (umbeli_blocked *)f;
    if (!f->concurrent) return UMBEL_OK;
    b->shard_log2 = 0;
    while (shards_of(b) > (f->data_len > SMALL ? SHARDS : FEW_SHARDS)) b->shard_log2++;
    b->shards = umbeli_new(&f->settings, shards_of(b) * sizeof *b->shards);
    return b->shards ? UMBEL_OK : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
}

umbel_err umbeli_shards_copy(umbel_filter *into, const umbel_filter *from) {
    (void)from;
    ((umbeli_blocked *)into)->shards = NULL;
    return umbeli_shards_new(into, NULL);
}

void umbeli_shards_dispose(umbel_filter *f) {
    umbeli_delete(&f->settings, ((umbeli_blocked *)f)->shards);
}

bool umbeli_shards_relocate(umbel_filter *f, size_t step, const umbeli_mover *mover) {
    umbeli_blocked *b = (umbeli_blocked *)f;
    (void)step;
    umbeli_shard *shards = b->shards ? mover->move(mover->ctx, b->shards) : NULL;
    if (shards != b->shards) b->shards = shards;
    return false;
}

static bool try_shard(umbeli_shard *shard) {
    return !atomic_load_explicit(&shard->taken, memory_order_relaxed) &&
           !atomic_exchange_explicit(&shard->taken, true, memory_order_acquire);
}

void umbeli_shard_take(umbeli_shard *shard) {
    for (unsigned tries = 1; !try_shard(shard); tries++) {
        if (tries % SPINS == 0) umbeli_yield();
    }
}

/* ---- batches ---- */

typedef struct piles {
    uint64_t hashes[SHARDS][PILE]; /* dealt to each shard, in the order of the keys */
    uint32_t places[SHARDS][PILE]; /* of the keys in the batch, if answers are wanted */
    uint32_t heights[SHARDS];
} piles;

static uint64_t add_pile(const umbeli_blocked *b, piles *p, size_t shard, uint8_t *was_new) {
    uint8_t answers[PILE];
    size_t n = p->heights[shard];
    umbeli_shard_take(&b->shards[shard]);
    uint64_t added = b->kernel->add_plain(b->base.data, b->nblocks, p->hashes[shard], n,
                                          was_new ? answers : NULL);
    umbeli_shard_give(&b->shards[shard]);
    for (size_t i = 0; was_new && i < n; i++) was_new[p->places[shard][i]] = answers[i];
    p->heights[shard] = 0;
    return added;
}

/* Up to 2^32 hashes.  Blocks are prefetched as their hashes are dealt out, and have arrived when
 * the pile is full. */
static uint64_t deal(const umbeli_blocked *b, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    piles p;
    memset(p.heights, 0, sizeof p.heights);
    const uint8_t *blocks = b->base.data;
    const uint64_t nblocks = b->nblocks;
    const uint32_t log2 = b->shard_log2, line = b->base.shape.kind == UMBEL_KIND_LINE;
    uint64_t added = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t block = umbeli_block_of(hashes[i], nblocks);
        size_t shard = (size_t)(block >> log2);
        uint32_t height = p.heights[shard]++;
        umbeli_fetch(blocks + (block << UMBELI_BLOCK_LOG2 << line), true);
        p.hashes[shard][height] = hashes[i];
        if (was_new) p.places[shard][height] = (uint32_t)i;
        if (height + 1 == PILE) added += add_pile(b, &p, shard, was_new);
    }
    for (size_t i = 0; i < shards_of(b); i++) {
        if (p.heights[i]) added += add_pile(b, &p, i, was_new);
    }
    return added;
}

static uint64_t add_small(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                          uint8_t *was_new) {
    bool plain = b->base.data_len <= UMBELI_PLAIN_BELOW;
    size_t shards = shards_of(b);
    for (size_t i = 0; i < shards; i++) umbeli_shard_take(&b->shards[i]);
    uint64_t added = (plain ? b->kernel->add_plain : b->kernel->add_ring)(b->base.data, b->nblocks,
                                                                          hashes, n, was_new);
    for (size_t i = shards; i > 0; i--) umbeli_shard_give(&b->shards[i - 1]);
    return added;
}

/* Keys that are in need no writing, as in single adds. */
static uint64_t add_few(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                        uint8_t *was_new) {
    uint8_t in[FEW];
    uint64_t added = 0;
    b->kernel->contains_plain(b->base.data, b->nblocks, hashes, n, in);
    for (size_t i = 0; i < n; i++) {
        umbeli_shard *shard = &b->shards[shard_of(b, umbeli_block_of(hashes[i], b->nblocks))];
        bool changed = false;
        if (!in[i]) {
            umbeli_shard_take(shard);
            changed = b->kernel->add_plain(b->base.data, b->nblocks, hashes + i, 1, NULL) > 0;
            umbeli_shard_give(shard);
        }
        added += changed;
        if (was_new) was_new[i] = changed;
    }
    return added;
}

uint64_t umbeli_shards_add(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                           uint8_t *was_new) {
    if (n < FEW) return add_few(b, hashes, n, was_new);
    bool small = b->base.data_len <= SMALL;
    const size_t most = small ? WHILE : UINT32_MAX;
    uint64_t added = 0;
    for (size_t i = 0, now; i < n; i += now) {
        uint8_t *answers = was_new ? was_new + i : NULL;
        now = n - i < most ? n - i : most;
        added += (small ? add_small : deal)(b, hashes + i, now, answers);
    }
    return added;
}

/* ---- merging ---- */

umbel_err umbeli_shards_merge(umbel_filter *into, const umbel_filter *from, umbel_diag *diag) {
    const umbeli_blocked *b = umbeli_blocked_of(into);
    if (!b->shards) return umbeli_merge_bits(into, from, diag);
    uint64_t bytes = (into->data_len / b->nblocks) << b->shard_log2;
    for (size_t i = 0; i < shards_of(b); i++) {
        uint64_t at = i * bytes, rest = into->data_len - at;
        umbeli_shard_take(&b->shards[i]);
        umbeli_merge_range(into, from, at, at + (rest < bytes ? rest : bytes));
        umbeli_shard_give(&b->shards[i]);
    }
    umbeli_count_added(into, umbeli_keys_added(from));
    return UMBEL_OK;
}
