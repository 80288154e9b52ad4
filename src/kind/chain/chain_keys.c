/* SPDX-License-Identifier: MIT
 *
 * chain_keys.c - lookups and adds, of batches and of single keys: chain.c says how they work
 */
#include <string.h>

#include "kind/chain/chain.h"

enum { BATCH = 1024 };

/* ---- Batches ------------------------------------------------------------------------------ */

/* Keys of a batch that no layer has had so far: their hashes, and their positions in the batch. */
typedef struct batch {
    size_t n;
    bool is_wide; /* RedisBloom's */
    uint16_t place[BATCH];
    union {
        uint64_t narrow[BATCH];
        umbeli_hash128 wide[BATCH];
    };
} batch;

static void take(batch *b, size_t n, bool is_wide) {
    b->n = n;
    b->is_wide = is_wide;
    for (size_t i = 0; i < n; i++) b->place[i] = (uint16_t)i;
}

static void take_keys(const umbeli_chain *c, batch *b, const umbel_key *keys, size_t n) {
    const umbeli_probes *p = c->layers->probes;
    take(b, n, p->hash_wide != NULL);
    if (p->hash_wide) {
        p->hash_wide(keys, n, b->wide);
    } else {
        umbeli_native_hashes(&c->base.shape, keys, n, b->narrow);
    }
}

static void take_hashes(batch *b, const uint64_t *hashes, size_t n) {
    take(b, n, false);
    memcpy(b->narrow, hashes, n * sizeof *hashes);
}

/* The hashes of the missing keys from this one on. */
static umbeli_hashes hashes_from(const batch *b, size_t from) {
    return b->is_wide ? (umbeli_hashes){.wide = b->wide + from}
                      : (umbeli_hashes){.narrow = b->narrow + from};
}

/* Moves n of the missing keys from one place among them to an earlier one. */
static void move_keys(batch *b, size_t to, size_t from, size_t n) {
    memmove(b->place + to, b->place + from, n * sizeof *b->place);
    if (b->is_wide) {
        memmove(b->wide + to, b->wide + from, n * sizeof *b->wide);
    } else {
        memmove(b->narrow + to, b->narrow + from, n * sizeof *b->narrow);
    }
}

/* Drops the first n of the missing keys. */
static void drop_first(batch *b, size_t n) {
    b->n -= n;
    move_keys(b, 0, n, b->n);
}

/* What lies between two found keys is moved as a whole. */
static void drop_few(batch *b, const uint8_t *found, uint8_t *hit) {
    const uint8_t *next = memchr(found, 1, b->n);
    size_t left = next ? (size_t)(next - found) : b->n, at = left;
    while (at < b->n) {
        hit[b->place[at++]] = 1;
        next = memchr(found + at, 1, b->n - at);
        size_t run = (next ? (size_t)(next - found) : b->n) - at;
        move_keys(b, left, at, run);
        left += run;
        at += run;
    }
    b->n = left;
}

/* Branch-free, because half of the branches would be mispredicted. */
static void drop_many(batch *b, const uint8_t *found, uint8_t *hit) {
    size_t left = 0;
    for (size_t i = 0; i < b->n && b->is_wide; i++) {
        b->wide[left] = b->wide[i];
        left += !found[i];
    }
    left = 0;
    for (size_t i = 0; i < b->n && !b->is_wide; i++) {
        b->narrow[left] = b->narrow[i];
        left += !found[i];
    }
    left = 0;
    for (size_t i = 0; i < b->n; i++) {
        hit[b->place[i]] = found[i];
        b->place[left] = b->place[i];
        left += !found[i];
    }
    b->n = left;
}

/* Records in `hit` which of the missing keys were found, and drops those.  Of absent keys a layer
 * finds one in a hundred or fewer. */
static void drop_found(batch *b, const uint8_t *found, uint8_t *hit) {
    enum { KEYS_PER_MOVE = 32 };
    size_t hits = 0;
    for (size_t i = 0; i < b->n; i++) hits += found[i];
    if (hits * KEYS_PER_MOVE < b->n) {
        drop_few(b, found, hit);
    } else {
        drop_many(b, found, hit);
    }
}

/* The layer that is `age` layers older than the newest. */
static umbeli_layer *layer_of_age(const umbeli_chain *c, uint32_t age) {
    return &c->layers[age <= c->newest ? c->newest - age : c->newest + c->count - age];
}

/* Looks up the keys in the layers of that age and older, records what they have in `hit`, which
 * starts as 0, and leaves the rest in b. */
static void look_up(const umbeli_chain *c, uint32_t age, batch *b, uint8_t *hit) {
    uint8_t found[BATCH];
    for (; age < c->count && b->n > 0; age++) {
        const umbeli_layer *l = layer_of_age(c, age);
        l->probes->contains(l, hashes_from(b, 0), b->n, found);
        drop_found(b, found, hit);
    }
}

/* ---- Single keys -------------------------------------------------------------------------- */

typedef union hash_room {
    uint64_t narrow;
    umbeli_hash128 wide;
} hash_room;

static umbeli_hashes hash_one(const umbeli_chain *c, umbel_key key, hash_room *room) {
    const umbeli_probes *p = c->layers->probes;
    if (p->hash_wide) {
        p->hash_wide(&key, 1, &room->wide);
        return (umbeli_hashes){.wide = &room->wide};
    }
    room->narrow = umbeli_native_hash(&c->base.shape, key.data, key.len);
    return (umbeli_hashes){.narrow = &room->narrow};
}

static inline void prefetch(const umbeli_layer *l, uint64_t hash) {
    uint64_t block = umbeli_block_of(hash, umbeli_layer_blocks(l));
    __builtin_prefetch(l->bits + (block << l->probes->log2_bytes));
}

/* Whether its kernel takes the hashes as they are. */
static inline bool goes_by_kernel(const umbeli_layer *l) {
    return l->kernel && !l->known_bits;
}

static inline bool layer_has(const umbeli_layer *l, umbeli_hashes hash) {
    uint8_t found;
    if (goes_by_kernel(l)) {
        l->kernel->contains_plain(l->bits, umbeli_layer_blocks(l), hash.narrow, 1, &found);
    } else {
        l->probes->contains(l, hash, 1, &found);
    }
    return found;
}

/* Whether a layer of that age, 0 or 1, or an older one has the key.  The lines of all split-block
 * layers are prefetched before the first is checked; where a layer's probes can query many layers
 * at once, all layers are of that kind, and the newest is the last. */
static bool has(const umbeli_chain *c, uint32_t age, umbeli_hashes hash) {
    const umbeli_probes *first = c->layers->probes;
    if (first->any_contains && c->count > age + 1) {
        return first->any_contains(c->layers, c->count - age, hash);
    }
    for (uint32_t i = age; i < c->count && c->count > age + 1; i++) {
        const umbeli_layer *l = layer_of_age(c, i);
        if (goes_by_kernel(l)) prefetch(l, *hash.narrow);
    }
    for (; age < c->count; age++) {
        if (layer_has(layer_of_age(c, age), hash)) return true;
    }
    return false;
}

bool umbeli_chain_contains(const umbel_filter *f, const void *key, size_t len) {
    const umbeli_chain *c = umbeli_chain_of(f);
    hash_room room;
    return has(c, 0, hash_one(c, (umbel_key){key, len}, &room));
}

bool umbeli_chain_contains_hash(const umbel_filter *f, uint64_t hash) {
    return has(umbeli_chain_of(f), 0, (umbeli_hashes){.narrow = &hash});
}

/* ---- Batches of lookups ------------------------------------------------------------------ */

void umbeli_chain_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                uint8_t *hit) {
    batch b;
    for (size_t from = 0; from < n; from += BATCH) {
        take_keys(umbeli_chain_of(f), &b, keys + from, n - from < BATCH ? n - from : BATCH);
        memset(hit + from, 0, b.n);
        look_up(umbeli_chain_of(f), 0, &b, hit + from);
    }
}

void umbeli_chain_contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                  uint8_t *hit) {
    batch b;
    for (size_t from = 0; from < n; from += BATCH) {
        take_hashes(&b, hashes + from, n - from < BATCH ? n - from : BATCH);
        memset(hit + from, 0, b.n);
        look_up(umbeli_chain_of(f), 0, &b, hit + from);
    }
}

/* ---- Adds --------------------------------------------------------------------------------- */

/* How many keys the newest layer can still take, at most n. */
static size_t room_for(const umbeli_chain *c, size_t n) {
    const umbeli_layer *l = &c->layers[c->newest];
    if (c->never_full) return n;
    uint64_t room = l->keys < l->capacity ? l->capacity - l->keys : 0;
    if (umbeli_is_packed(l) && l->packed.room == 0) room = 0;
    return n < room ? n : (size_t)room;
}

/* Adds up to n missing keys, starting with `from`, to the newest layer; returns how many it took:
 * a packed one may stop before the end. */
static size_t add_newest(umbeli_chain *c, batch *b, size_t from, size_t n, uint8_t *changed,
                         uint64_t *added) {
    umbeli_layer *l = &c->layers[c->newest];
    *added = l->probes->add(l, hashes_from(b, from), n, changed);
    l->keys += *added;
    return umbeli_is_packed(l) ? l->packed.done : n;
}

/* Like add_refreshing and add_growing, without their arrays. */
umbel_err umbeli_chain_add_one(umbel_filter *f, umbel_key key, uint64_t max_bytes,
                               uint8_t *was_new) {
    umbeli_chain *c = (umbeli_chain *)f;
    const umbeli_chain_policy *policy = f->ops->policy;
    hash_room room;
    umbeli_hashes hash = hash_one(c, key, &room);
    umbel_err e = UMBEL_OK;
    uint8_t is_new = 0;
    bool full = room_for(c, 1) == 0;
    if (full && policy->refreshes) e = policy->next(c, max_bytes);
    bool known = !e && has(c, 1, hash);
    if (full && !policy->refreshes && !known) {
        known = layer_has(&c->layers[c->newest], hash);
        if (!known) e = policy->next(c, max_bytes);
    }
    if (e) return e;
    if (!known || policy->refreshes) {
        umbeli_layer *l = &c->layers[c->newest];
        l->keys += goes_by_kernel(l) ? l->kernel->add_plain(l->bits, umbeli_layer_blocks(l),
                                                            hash.narrow, 1, &is_new)
                                     : l->probes->add(l, hash, 1, &is_new);
        is_new = is_new && !known;
        umbeli_count_added(f, is_new);
    }
    if (was_new) *was_new = is_new;
    return UMBEL_OK;
}

/* Adds the whole batch to the newest layer, as much as it takes at a time; a key is new if it
 * changed the layer and no older layer has it.  Older layers are checked piece by piece: the
 * policy's next layer may be one of them. */
static umbel_err add_refreshing(umbeli_chain *c, batch *b, size_t n, uint64_t max_bytes,
                                uint8_t *was_new, size_t *done) {
    batch older;
    uint8_t known[BATCH];
    for (*done = 0; *done < n;) {
        size_t at = *done, taken = room_for(c, n - at);
        if (taken == 0) {
            umbel_err e = c->base.ops->policy->next(c, max_bytes);
            if (e) return e;
            continue;
        }
        take_hashes(&older, b->narrow + at, taken);
        memset(known, 0, taken);
        look_up(c, 1, &older, known);
        uint64_t added, fresh = 0;
        taken = add_newest(c, b, at, taken, was_new + at, &added);
        for (size_t i = 0; i < taken; i++) {
            was_new[at + i] = was_new[at + i] && !known[i];
            fresh += was_new[at + i];
        }
        umbeli_count_added(&c->base, fresh);
        *done += taken;
    }
    return UMBEL_OK;
}

/* Adds the keys that no older layer has to the newest, and to the layers that follow when it is
 * full. */
static umbel_err add_growing(umbeli_chain *c, batch *b, size_t n, uint64_t max_bytes,
                             uint8_t *was_new, size_t *done) {
    uint8_t fresh[BATCH], changed[BATCH], known[BATCH];
    umbel_err e = UMBEL_OK;
    memset(fresh, 0, n);
    look_up(c, 1, b, known);
    for (size_t at = 0; at < b->n && !e;) {
        size_t taken = room_for(c, b->n - at);
        if (taken > 0) {
            uint64_t added;
            taken = add_newest(c, b, at, taken, changed, &added);
            umbeli_count_added(&c->base, added);
            for (size_t i = 0; i < taken; i++) fresh[b->place[at + i]] = changed[i];
            at += taken;
            continue;
        }
        const umbeli_layer *full = &c->layers[c->newest];
        drop_first(b, at);
        at = 0;
        full->probes->contains(full, hashes_from(b, 0), b->n, changed);
        drop_found(b, changed, known);
        if (b->n > 0) e = c->base.ops->policy->next(c, max_bytes);
    }
    *done = e ? b->place[0] : n;
    memcpy(was_new, fresh, *done);
    return e;
}

static umbel_err add_batch(umbeli_chain *c, batch *b, uint64_t max_bytes, uint8_t *was_new,
                           size_t *done) {
    uint8_t ignored[BATCH];
    if (!was_new) was_new = ignored;
    return (c->base.ops->policy->refreshes ? add_refreshing : add_growing)(c, b, b->n, max_bytes,
                                                                           was_new, done);
}

umbel_err umbeli_chain_add_within(umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint64_t max_bytes, uint8_t *was_new, size_t *done) {
    batch b;
    umbel_err e = UMBEL_OK;
    *done = 0;
    if (n == 1) {
        e = umbeli_chain_add_one(f, *keys, max_bytes, was_new);
        *done = !e;
        return e;
    }
    for (size_t added = 0; *done < n && !e; *done += added) {
        take_keys((umbeli_chain *)f, &b, keys + *done, n - *done < BATCH ? n - *done : BATCH);
        e = add_batch((umbeli_chain *)f, &b, max_bytes, was_new ? was_new + *done : NULL, &added);
    }
    return e;
}

umbel_err umbeli_chain_add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                                size_t *done) {
    return umbeli_chain_add_within(f, keys, n, f->settings.max_bytes, was_new, done);
}

umbel_err umbeli_chain_add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    uint8_t is_new = 0;
    umbel_err e = umbeli_chain_add_one(f, (umbel_key){key, len}, f->settings.max_bytes, &is_new);
    if (!e && was_new) *was_new = is_new;
    return e;
}

umbel_err umbeli_chain_add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n,
                                  uint8_t *was_new, size_t *done) {
    batch b;
    umbel_err e = UMBEL_OK;
    *done = 0;
    for (size_t added = 0; *done < n && !e; *done += added) {
        take_hashes(&b, hashes + *done, n - *done < BATCH ? n - *done : BATCH);
        e = add_batch((umbeli_chain *)f, &b, f->settings.max_bytes,
                      was_new ? was_new + *done : NULL, &added);
    }
    return e;
}

/* ---- Which bits --------------------------------------------------------------------------- */

size_t umbeli_chain_probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                           size_t cap) {
    const umbeli_chain *c = umbeli_chain_of(f);
    size_t n = 0;
    uint64_t at = 0; /* of the layer in the payload */
    hash_room room = {.narrow = hash};
    umbeli_hashes h = {.narrow = &room.narrow};
    if (!f->ops->hash_many) h = hash_one(c, key, &room);
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_layer *l = &c->layers[i];
        uint32_t hashes = umbeli_is_packed(l) ? 1 : l->hashes;
        for (uint32_t p = 0; p < hashes; p++, n++) {
            if (n < cap) bits[n] = 8 * at + l->probes->bit(l, h, p);
        }
        at += l->bytes;
    }
    return n;
}
