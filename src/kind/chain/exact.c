/* SPDX-License-Identifier: MIT
 *
 * exact.c - a layer that keeps the hashes themselves, so that it can be rebuilt in another size
 *
 * A filter cannot say which keys it holds, so a chain that starts small collects small layers, and
 * every lookup has to search all of them from then on.  64-bit hashes can be moved: while a chain
 * is small its newest layer is a table of them, replaced by a larger table when it is full and,
 * once filters take less memory, by a filter with all its keys (umbeli_chain_replace).
 *
 * The table is open addressing with linear probing.  Where a hash belongs grows with its value, and
 * hashes are kept in order along the probes: looking for an absent hash stops at the first larger
 * one, and the bytes depend on the set of keys alone.  0 marks an empty slot; the hash 0 counts as
 * 1.  Whatever the bytes are, since they may come from a dump, every loop ends after one round.
 */
#include "core/cpu.h"
#include "kind/chain/chain.h"

static uint64_t slots_of(const umbeli_layer *l) {
    return l->bytes / sizeof(uint64_t);
}

static uint64_t slot(const umbeli_layer *l, uint64_t at) {
    return umbeli_load_le64(l->bits + at * sizeof(uint64_t));
}

static uint64_t home_of(uint64_t hash, uint64_t slots) {
    return ((hash >> 32) * slots) >> 32;
}

static uint64_t after(uint64_t at, uint64_t slots) {
    return at + 1 < slots ? at + 1 : 0;
}

/* The distance, in slots, of the hash in this slot from where it belongs. */
static uint64_t away(uint64_t hash, uint64_t at, uint64_t slots) {
    uint64_t home = home_of(hash, slots);
    return at >= home ? at - home : at + slots - home;
}

/* Sets *at to its slot or, if it is not in the table, to the one where it belongs. */
static bool find(const umbeli_layer *l, uint64_t hash, uint64_t *at) {
    uint64_t slots = slots_of(l);
    *at = home_of(hash, slots);
    for (uint64_t far = 0; far < slots; far++, *at = after(*at, slots)) {
        uint64_t here = slot(l, *at);
        if (here == hash) return true;
        if (here == 0) return false;
        uint64_t its = away(here, *at, slots);
        if (its < far || (its == far && here > hash)) return false;
    }
    return false;
}

/* Moves what comes after it by one slot, up to the next empty one. */
static void insert(umbeli_layer *l, uint64_t hash, uint64_t at) {
    uint64_t slots = slots_of(l);
    for (uint64_t moved = 0; moved < slots && hash; moved++, at = after(at, slots)) {
        uint64_t here = slot(l, at);
        umbeli_store_le64(l->bits + at * sizeof here, hash);
        hash = here;
    }
}

static uint64_t kept(uint64_t hash) {
    return hash ? hash : 1;
}

static void contains(const umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *found) {
    uint64_t slots = slots_of(l), at;
    bool fetches = l->bytes > UMBELI_PLAIN_BELOW && n > 1, is_far = umbeli_is_far(l->bytes);
    for (size_t i = 0; i < n && fetches; i++) {
        umbeli_fetch(l->bits + sizeof(uint64_t) * home_of(h.narrow[i], slots), is_far);
    }
    for (size_t i = 0; i < n; i++) found[i] = find(l, kept(h.narrow[i]), &at);
}

static uint64_t add(umbeli_layer *l, umbeli_hashes h, size_t n, uint8_t *was_new) {
    uint64_t added = 0, at;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = kept(h.narrow[i]);
        was_new[i] = !find(l, hash, &at);
        if (was_new[i]) insert(l, hash, at);
        added += was_new[i];
    }
    return added;
}

static uint64_t bit(const umbeli_layer *l, umbeli_hashes h, uint32_t i) {
    (void)i;
    return 8 * sizeof(uint64_t) * home_of(*h.narrow, slots_of(l));
}

static double estimate(const umbeli_layer *l, uint64_t bits_set) {
    (void)bits_set;
    return (double)l->keys;
}

static double live_rate(const umbeli_layer *l, uint64_t bits_set) {
    (void)bits_set;
    return (double)l->keys * 0x1p-64;
}

static void recount(umbeli_layer *l) {
    uint64_t slots = slots_of(l);
    l->keys = 0;
    for (uint64_t at = 0; at < slots; at++) l->keys += slot(l, at) != 0;
}

/* Hashes must be in order along the probes, without gaps before the place where one belongs, so
 * that a lookup never goes further than in an honest table. */
static bool check(const umbeli_layer *l, const uint8_t *bytes) {
    uint64_t slots = slots_of(l), keys = 0, empty = slots;
    for (uint64_t at = 0; at < slots; at++) {
        bool taken = umbeli_load_le64(bytes + at * sizeof(uint64_t)) != 0;
        keys += taken;
        if (!taken && empty == slots) empty = at;
    }
    if (keys > umbeli_exact_capacity(l->bytes)) return false;
    /* One round from an empty slot on.  A hash is where it belongs, or after one that is not
     * larger. */
    uint64_t before = 0, far = 0;
    for (uint64_t i = 1, at = after(empty, slots); i <= slots; i++, at = after(at, slots)) {
        uint64_t here = umbeli_load_le64(bytes + at * sizeof here);
        uint64_t its = here ? away(here, at, slots) : 0;
        if (here && its > (before ? far + 1 : 0)) return false;
        if (here && before && its == far + 1 && here <= before) return false;
        before = here;
        far = its;
    }
    return true;
}

const umbeli_probes umbeli_probes_exact = {
    .name = "exact",
    .kind = UMBEL_KIND_AUTO, /* it exists in chains only */
    .exact = true,
    .contains = contains,
    .add = add,
    .bit = bit,
    .estimate = estimate,
    .live_rate = live_rate,
    .recount = recount,
    .check = check,
};

uint64_t umbeli_exact_bytes(uint64_t keys) {
    uint64_t slots = keys + keys / 7 + 1;
    return slots * sizeof(uint64_t);
}

uint64_t umbeli_exact_capacity(uint64_t bytes) {
    uint64_t slots = bytes / sizeof(uint64_t);
    return slots - slots / 8 - 1;
}

uint64_t umbeli_exact_take(const umbeli_layer *l, uint64_t *at, uint64_t *hashes, uint64_t room) {
    uint64_t n = 0, slots = slots_of(l);
    for (; *at < slots && n < room; ++*at) {
        hashes[n] = slot(l, *at);
        n += hashes[n] != 0;
    }
    return n;
}
