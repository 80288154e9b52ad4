/* SPDX-License-Identifier: MIT
 *
 * api_never.c - finding the exceptions of a filter: good keys that it would find by mistake
 *
 * Good keys are kept as hashes, in the order they came, with a table of their numbers to find
 * them by.  A key that goes into the filter takes the good keys with its hash off the list; those
 * that are left at the end and found in the filter become exceptions.
 */
#include <stdlib.h>

#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/checked_pieces.h"
#include "kind/classic/classic.h"
#include "kind/exceptions.h"
#include "kind/kind.h"

enum { BATCH = 256, FIRST_ROOM = 1024 };
static const uint32_t most = UINT32_C(1) << 31;

struct umbel_never {
    umbeli_settings settings;
    umbeli_shape shape; /* how keys are hashed */
    uint64_t *hashes;
    umbeli_hash128 *wide; /* what a classic filter needs to look them up; NULL: not classic */
    uint8_t *members;     /* 1: this one is in the filter; NULL before the first is shown */
    uint32_t *table; /* numbers from 1, 0: free; by the upper bits of the hash, then linearly */
    uint32_t count, room, shift;
    uint64_t in_both;
};

static umbel_err no_memory(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the good keys");
}

umbel_err umbel_never_new(const umbel_params *params, const umbel_opts *opts, umbel_never **out,
                          umbel_diag *diag) {
    umbeli_settings settings;
    umbel_err e = umbeli_settings_from(opts, &settings, diag);
    if (e) return e;
    umbel_never *n = umbeli_new(&settings, sizeof *n);
    if (!n) return no_memory(diag);
    n->settings = settings;
    n->shape = umbeli_kind_shape(params, &settings);
    if (params->kind == UMBEL_KIND_AUTO || params->kind == UMBEL_KIND_CLASSIC) {
        n->wide = umbeli_new(&settings, sizeof *n->wide); /* grows with the others */
        if (!n->wide) {
            umbel_never_free(n);
            return no_memory(diag);
        }
    }
    *out = n;
    return UMBEL_OK;
}

void umbel_never_free(umbel_never *n) {
    if (!n) return;
    umbeli_settings settings = n->settings;
    umbeli_delete(&settings, n->hashes);
    umbeli_delete(&settings, n->wide);
    umbeli_delete(&settings, n->members);
    umbeli_delete(&settings, n->table);
    umbeli_delete(&settings, n);
}

/* ---- good keys ---------------------------------------------------------------------------- */

/* The slot after the last hash equal to this one. */
static uint64_t free_slot(const umbel_never *n, uint64_t hash) {
    uint64_t mask = (UINT64_MAX >> n->shift), at = hash >> n->shift;
    while (n->table[at]) at = (at + 1) & mask;
    return at;
}

static void *larger(const umbel_never *n, void *old, size_t used, size_t room) {
    void *fresh = umbeli_new(&n->settings, room);
    if (fresh && used) memcpy(fresh, old, used);
    return fresh;
}

/* Twice the room, with at most half the slots taken.  On failure nothing changes. */
static umbel_err grow(umbel_never *n, umbel_diag *diag) {
    uint32_t room = n->room ? 2 * n->room : FIRST_ROOM, shift = 64;
    if (n->room >= most) return umbeli_fail(diag, UMBEL_EFULL, "never: more than 2^31 good keys");
    while (UINT64_C(1) << (64 - shift) < 2 * (uint64_t)room) shift--;
    size_t slots = (size_t)2 * room;
    uint64_t *hashes = larger(n, n->hashes, n->count * sizeof *hashes, room * sizeof *hashes);
    umbeli_hash128 *wide =
        n->wide ? larger(n, n->wide, n->count * sizeof *wide, room * sizeof *wide) : NULL;
    uint32_t *table = umbeli_new(&n->settings, slots * sizeof *table);
    if (!hashes || !table || (n->wide && !wide)) {
        umbeli_delete(&n->settings, hashes);
        umbeli_delete(&n->settings, wide);
        umbeli_delete(&n->settings, table);
        return no_memory(diag);
    }
    umbeli_delete(&n->settings, n->hashes);
    umbeli_delete(&n->settings, n->wide);
    umbeli_delete(&n->settings, n->table);
    n->hashes = hashes;
    n->wide = wide;
    n->table = table;
    n->room = room;
    n->shift = shift;
    for (uint32_t i = 0; i < n->count; i++) n->table[free_slot(n, hashes[i])] = i + 1;
    return UMBEL_OK;
}

/* Different keys very rarely have the same hash; only a classic filter can tell them apart. */
static bool same(const umbel_never *n, uint32_t i, uint64_t hash, const umbeli_hash128 *wide) {
    return n->hashes[i] == hash &&
           (!wide || (n->wide[i].low == wide->low && n->wide[i].high == wide->high));
}

static umbel_err keep(umbel_never *n, uint64_t hash, const umbeli_hash128 *wide, umbel_diag *diag) {
    if (n->count == n->room) {
        umbel_err e = grow(n, diag);
        if (e) return e;
    }
    uint64_t mask = UINT64_MAX >> n->shift, at = hash >> n->shift;
    for (; n->table[at]; at = (at + 1) & mask) {
        if (same(n, n->table[at] - 1, hash, wide)) return UMBEL_OK;
    }
    n->hashes[n->count] = hash;
    if (wide) n->wide[n->count] = *wide;
    n->table[at] = ++n->count;
    return UMBEL_OK;
}

umbel_err umbel_never_ask(umbel_never *never, const umbel_key *good, size_t n, umbel_diag *diag) {
    uint64_t hashes[BATCH];
    umbeli_hash128 wide[BATCH];
    umbel_err e = UMBEL_OK;
    if (never->members) return umbeli_invalid(diag, "never: ask before the first key is shown");
    for (size_t from = 0; from < n && !e; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        umbeli_native_hashes(&never->shape, good + from, batch, hashes);
        if (never->wide) umbeli_native_hashes128(&never->shape, good + from, batch, wide);
        for (size_t i = 0; i < batch && !e; i++) {
            e = keep(never, hashes[i], never->wide ? &wide[i] : NULL, diag);
        }
    }
    return e;
}

/* ---- keys that go into the filter --------------------------------------------------------- */

static void mark_member(umbel_never *n, uint64_t hash) {
    uint64_t mask = UINT64_MAX >> n->shift;
    for (uint64_t at = hash >> n->shift; n->table[at]; at = (at + 1) & mask) {
        uint32_t i = n->table[at] - 1;
        if (n->hashes[i] != hash || n->members[i]) continue;
        n->members[i] = 1;
        n->in_both++;
    }
}

umbel_err umbel_never_show(umbel_never *never, const umbel_key *members, size_t n,
                           umbel_diag *diag) {
    uint64_t hashes[BATCH];
    if (!never->members) {
        never->members = umbeli_new(&never->settings, never->count + 1);
        if (!never->members) return no_memory(diag);
    }
    if (!never->count) return UMBEL_OK;
    for (size_t from = 0; from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        umbeli_native_hashes(&never->shape, members + from, batch, hashes);
        for (size_t i = 0; i < batch; i++)
            __builtin_prefetch(&never->table[hashes[i] >> never->shift]);
        for (size_t i = 0; i < batch; i++) mark_member(never, hashes[i]);
    }
    return UMBEL_OK;
}

/* ---- the exceptions ----------------------------------------------------------------------- */

static const char *hashes_differ(const umbel_never *n, const umbel_filter *f) {
    if (f->shape.format != UMBEL_FMT_NATIVE) return "the filter has another system's format";
    if (f->shape.hash != n->shape.hash || f->shape.seed != n->shape.seed ||
        !umbeli_same_secret(f->shape.secret, n->shape.secret)) {
        return "the filter has a different seed or secret";
    }
    if (!f->ops->hash_many && !n->wide) return "kind: a classic filter must be announced";
    return NULL;
}

static void look_up(const umbel_never *n, const umbeli_ops *ops, const umbel_filter *f,
                    uint32_t from, uint32_t batch, uint8_t *hit) {
    if (ops->hash_many) {
        ops->contains_hashes(f, n->hashes + from, batch, hit);
    } else {
        umbeli_classic_bits bits = {f->data, f->shape.bits, f->shape.hashes};
        umbeli_classic_contains_hashed(bits, n->wide + from, batch, hit);
    }
}

/* Collects the hashes that are exceptions at the front of `found`, which has room for the most that
 * are allowed; false: there are more. */
static bool collect(const umbel_never *n, const umbel_filter *f, uint64_t *found, size_t *count) {
    const umbeli_ops *ops = f->exceptions ? f->exceptions->plain : f->ops;
    uint8_t hit[BATCH];
    for (uint32_t from = 0; from < n->count; from += BATCH) {
        uint32_t batch = n->count - from < BATCH ? n->count - from : BATCH;
        look_up(n, ops, f, from, batch, hit);
        for (uint32_t i = 0; i < batch; i++) {
            if (!hit[i] || (n->members && n->members[from + i])) continue;
            if (*count == UMBELI_EXCEPTIONS_MAX) return false;
            found[(*count)++] = n->hashes[from + i];
        }
    }
    return true;
}

static int ascending(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static size_t sort_distinct(uint64_t *hashes, size_t count) {
    size_t kept = 0;
    qsort(hashes, count, sizeof *hashes, ascending);
    for (size_t i = 0; i < count; i++) {
        if (!kept || hashes[kept - 1] != hashes[i]) hashes[kept++] = hashes[i];
    }
    return kept;
}

umbel_err umbel_never_finish(umbel_never *n, umbel_filter *filter, umbel_never_result *result,
                             umbel_diag *diag) {
    const char *differ = hashes_differ(n, filter);
    if (differ) return umbeli_fail(diag, UMBEL_EMISMATCH, differ);
    umbel_err e = umbeli_check_now(filter, diag);
    if (e) return e;
    size_t count = 0;
    uint32_t room = n->count < UMBELI_EXCEPTIONS_MAX ? n->count : UMBELI_EXCEPTIONS_MAX;
    uint64_t *found = umbeli_new(&n->settings, (room + 1) * sizeof *found);
    if (!found) return no_memory(diag);
    if (collect(n, filter, found, &count)) {
        count = sort_distinct(found, count);
        e = umbeli_except(filter, found, count, false, diag);
    } else {
        e = umbeli_fail(diag, UMBEL_EFULL, "exceptions: more than 64000; promise a lower rate");
    }
    umbeli_delete(&n->settings, found);
    if (e || !result) return e;
    *result = (umbel_never_result){.asked = n->count, .members = n->in_both, .exceptions = count};
    return UMBEL_OK;
}
