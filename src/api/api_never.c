/* SPDX-License-Identifier: MIT
 *
 * api_never.c - finding the exceptions of a filter: good keys that it would find by mistake
 *
 * Good keys are kept as hashes, as they come; whenever there is no room for more they are sorted
 * and repeated ones dropped, and again before the first key is shown.  A key that goes into the
 * filter takes the good keys with its hash off the list; those that are left at the end and found
 * in the filter become exceptions.
 *
 * Sorted, not in a hash table: the hashes are the filter's, whose seed is public, so keys
 * can be chosen for any hash.  No choice makes a binary search long.
 */
#include <stdlib.h>

#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/checked_pieces.h"
#include "kind/classic/classic.h"
#include "kind/exceptions.h"
#include "kind/kind.h"
#include "umbel_never.h"

enum { BATCH = 256, FIRST_ROOM = 1024 };
static const uint32_t most = UINT32_C(1) << 31;

struct umbel_never {
    umbeli_settings settings;
    umbeli_shape shape; /* how keys are hashed */
    uint64_t *keys;     /* `words` of each: its hash and, if `wide`, the two halves of the other */
    uint32_t words;
    bool wide; /* a classic filter needs 128 bits to look it up */
    uint32_t count, room;
    uint8_t *members; /* 1: this one is in the filter; NULL before the first is shown */
    uint32_t *starts; /* where the hashes begin that have these upper bits */
    uint32_t shift;   /* that leaves them */
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
    n->wide = params->kind == UMBEL_KIND_AUTO || params->kind == UMBEL_KIND_CLASSIC;
    n->words = n->wide ? 3 : 1;
    *out = n;
    return UMBEL_OK;
}

void umbel_never_free(umbel_never *n) {
    if (!n) return;
    umbeli_settings settings = n->settings;
    umbeli_delete(&settings, n->keys);
    umbeli_delete(&settings, n->members);
    umbeli_delete(&settings, n->starts);
    umbeli_delete(&settings, n);
}

/* ---- good keys ---------------------------------------------------------------------------- */

static uint64_t hash_of(const umbel_never *n, uint32_t i) {
    return n->keys[(size_t)i * n->words];
}

static int by_hash(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Different keys very rarely have the same hash; only a classic filter can tell them apart. */
static int by_all_words(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    size_t i = 0;
    while (i < 2 && x[i] == y[i]) i++;
    return (x[i] > y[i]) - (x[i] < y[i]);
}

static void sort_distinct(umbel_never *n) {
    int (*order)(const void *, const void *) = n->wide ? by_all_words : by_hash;
    size_t size = n->words * sizeof *n->keys;
    uint8_t *bytes = (uint8_t *)n->keys;
    uint32_t kept = n->count > 0;
    if (kept) qsort(bytes, n->count, size, order);
    for (uint32_t i = 1; i < n->count; i++) {
        if (order(bytes + size * i, bytes + size * (kept - 1)) == 0) continue;
        memmove(bytes + size * kept++, bytes + size * i, size);
    }
    n->count = kept;
}

/* Makes room for another hash: drops duplicates and, unless that frees a quarter, takes more
 * memory.  On failure nothing is lost. */
static umbel_err make_room(umbel_never *n, umbel_diag *diag) {
    if (n->count) sort_distinct(n);
    if (n->count < n->room - n->room / 4) return UMBEL_OK;
    if (n->room >= most) return umbeli_fail(diag, UMBEL_EFULL, "never: more than 2^31 good keys");
    uint32_t room = n->room ? 2 * n->room : FIRST_ROOM;
    size_t size = n->words * sizeof *n->keys;
    uint64_t *fresh = umbeli_new(&n->settings, room * size);
    if (!fresh) return no_memory(diag);
    if (n->count) memcpy(fresh, n->keys, n->count * size);
    umbeli_delete(&n->settings, n->keys);
    n->keys = fresh;
    n->room = room;
    return UMBEL_OK;
}

static umbel_err keep(umbel_never *n, uint64_t hash, const umbeli_hash128 *wide, umbel_diag *diag) {
    umbel_err e = n->count == n->room ? make_room(n, diag) : UMBEL_OK;
    if (e) return e;
    uint64_t *to = n->keys + (size_t)n->words * n->count++;
    to[0] = hash;
    if (n->wide) to[1] = wide->low, to[2] = wide->high;
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
        for (size_t i = 0; i < batch && !e; i++) e = keep(never, hashes[i], &wide[i], diag);
    }
    return e;
}

/* ---- keys that go into the filter --------------------------------------------------------- */

/* Once all good keys are known: in order, with a start for about every one of them. */
static umbel_err settle(umbel_never *n, umbel_diag *diag) {
    uint32_t bits = 1;
    sort_distinct(n);
    while (bits < 31 && UINT64_C(1) << bits < n->count) bits++;
    size_t starts = (size_t)1 << bits;
    n->members = umbeli_new(&n->settings, (size_t)n->count + 1);
    n->starts = umbeli_new(&n->settings, (starts + 1) * sizeof *n->starts);
    if (!n->members || !n->starts) {
        umbeli_delete(&n->settings, n->members);
        umbeli_delete(&n->settings, n->starts);
        n->members = NULL, n->starts = NULL;
        return no_memory(diag);
    }
    n->shift = 64 - bits;
    uint32_t at = 0;
    for (size_t i = 0; i <= starts; i++) {
        while (at < n->count && hash_of(n, at) >> n->shift < i) at++;
        n->starts[i] = at;
    }
    return UMBEL_OK;
}

/* Marks all with this hash; of those either all are marked or none. */
static void mark_member(umbel_never *n, uint64_t hash) {
    uint32_t at = n->starts[hash >> n->shift], end = n->starts[(hash >> n->shift) + 1], after = end;
    while (at < after) {
        uint32_t middle = at + (after - at) / 2;
        if (hash_of(n, middle) < hash) {
            at = middle + 1;
        } else {
            after = middle;
        }
    }
    for (; at < end && hash_of(n, at) == hash && !n->members[at]; at++) {
        n->members[at] = 1;
        n->in_both++;
    }
}

umbel_err umbel_never_show(umbel_never *never, const umbel_key *members, size_t n,
                           umbel_diag *diag) {
    uint64_t hashes[BATCH];
    umbel_err e = never->members ? UMBEL_OK : settle(never, diag);
    if (e || !never->count) return e;
    for (size_t from = 0; from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        umbeli_native_hashes(&never->shape, members + from, batch, hashes);
        for (size_t i = 0; i < batch; i++) {
            __builtin_prefetch(&never->starts[hashes[i] >> never->shift]);
        }
        for (size_t i = 0; i < batch; i++) {
            size_t at = never->starts[hashes[i] >> never->shift];
            __builtin_prefetch(&never->keys[at * never->words]);
        }
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
    uint64_t hashes[BATCH];
    umbeli_hash128 wide[BATCH];
    for (uint32_t i = 0; i < batch; i++) {
        const uint64_t *key = n->keys + (size_t)(from + i) * n->words;
        hashes[i] = key[0];
        if (n->wide) wide[i] = (umbeli_hash128){.low = key[1], .high = key[2]};
    }
    if (ops->hash_many) {
        ops->contains_hashes(f, hashes, batch, hit);
    } else {
        umbeli_classic_bits bits = {f->data, f->shape.bits, f->shape.hashes};
        umbeli_classic_contains_hashed(bits, wide, batch, hit);
    }
}

/* Collects the hashes that are exceptions, ascending, at the front of `found`, which has room for
 * the most that are allowed; false: there are more. */
static bool collect(const umbel_never *n, const umbel_filter *f, uint64_t *found, size_t *count) {
    const umbeli_ops *ops = f->exceptions ? f->exceptions->plain : f->ops;
    uint8_t hit[BATCH];
    for (uint32_t from = 0; from < n->count; from += BATCH) {
        uint32_t batch = n->count - from < BATCH ? n->count - from : BATCH;
        look_up(n, ops, f, from, batch, hit);
        for (uint32_t i = 0; i < batch; i++) {
            uint64_t hash = hash_of(n, from + i);
            if (!hit[i] || (n->members && n->members[from + i])) continue;
            if (*count && found[*count - 1] == hash) continue;
            if (*count == UMBELI_EXCEPTIONS_MAX) return false;
            found[(*count)++] = hash;
        }
    }
    return true;
}

umbel_err umbel_never_finish(umbel_never *n, umbel_filter *filter, umbel_build_report *report,
                             umbel_diag *diag) {
    const char *differ = hashes_differ(n, filter);
    if (differ) return umbeli_fail(diag, UMBEL_EMISMATCH, differ);
    umbel_err e = umbeli_check_now(filter, diag);
    if (e) return e;
    if (!n->members) sort_distinct(n);
    size_t count = 0;
    uint32_t room = n->count < UMBELI_EXCEPTIONS_MAX ? n->count : UMBELI_EXCEPTIONS_MAX;
    uint64_t *found = umbeli_new(&n->settings, (room + 1) * sizeof *found);
    if (!found) return no_memory(diag);
    if (collect(n, filter, found, &count)) {
        e = umbeli_except(filter, found, count, false, diag);
    } else {
        e = umbeli_fail(diag, UMBEL_EFULL, "exceptions: more than 64000; promise a lower rate");
    }
    umbeli_delete(&n->settings, found);
    if (e || !report) return e;
    *report = (umbel_build_report){.never = n->count, .members = n->in_both, .exceptions = count};
    return UMBEL_OK;
}
