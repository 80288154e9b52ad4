/* SPDX-License-Identifier: MIT
 *
 * delta_build.c - deltas: what came, what left, and what tells the keys that left from the others
 *
 * Everything is a merge of sorted hashes, whose cells are sorted, too.
 *
 * The cells of r keys that left are so large that, of n keys that stay, about 1.44 r are in one of
 * them: a smaller share would cost more for these cells than it saves in the decider, which has a
 * bit for each of both.
 */
#include "format/delta/delta_build.h"

#include <math.h>

#include "core/diag.h"
#include "kind/kind.h"
#include "kind/static/exact.h"

typedef struct build {
    const umbeli_settings *settings;
    umbeli_sorted came, left, in_doubt; /* in_doubt stay, in a cell of `left` */
    uint64_t *cells;                    /* of one set after the other */
} build;

static umbel_err no_memory(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_ENOMEM, "no memory to build in");
}

static bool make_room(const umbeli_settings *settings, size_t n, umbeli_sorted *out) {
    out->hashes = umbeli_new(settings, (n + 1) * sizeof *out->hashes);
    return out->hashes != NULL;
}

/* ---- sorted sets -------------------------------------------------------------------------- */

/* Whether a set has a hash, for ascending hashes; *at is how far they have come. */
static bool has(const umbeli_sorted *s, size_t *at, uint64_t hash) {
    while (*at < s->n && s->hashes[*at] < hash) ++*at;
    return *at < s->n && s->hashes[*at] == hash;
}

static void subtract(const umbeli_sorted *from, const umbeli_sorted *what, umbeli_sorted *out) {
    size_t at = 0;
    for (size_t i = 0; i < from->n; i++) {
        if (!has(what, &at, from->hashes[i])) out->hashes[out->n++] = from->hashes[i];
    }
}

/* Adds hashes to a set that has room for them. */
static void unite(umbeli_sorted *into, const umbeli_sorted *more) {
    size_t to = into->n + more->n, i = into->n, j = more->n, kept = 0;
    while (j > 0) {
        bool last = i > 0 && into->hashes[i - 1] > more->hashes[j - 1];
        into->hashes[--to] = last ? into->hashes[--i] : more->hashes[--j];
    }
    for (size_t k = 0; k < into->n + more->n; k++) {
        if (!kept || into->hashes[kept - 1] != into->hashes[k]) {
            into->hashes[kept++] = into->hashes[k];
        }
    }
    into->n = kept;
}

/* ---- cells -------------------------------------------------------------------------------- */

static void list_cells(const umbeli_sorted *keys, umbeli_cells *set, uint64_t *cells) {
    for (size_t i = 0; i < keys->n; i++) {
        uint64_t cell = umbeli_cell_of(set->universe, keys->hashes[i]);
        if (!set->count || cells[set->count - 1] != cell) cells[set->count++] = cell;
    }
}

/* Keys in one of the cells. */
static void find_in_cells(const umbeli_sorted *keys, const umbeli_cells *set, const uint64_t *cells,
                          umbeli_sorted *out) {
    size_t at = 0;
    for (size_t i = 0; i < keys->n; i++) {
        uint64_t cell = umbeli_cell_of(set->universe, keys->hashes[i]);
        while (at < set->count && cells[at] < cell) at++;
        if (at < set->count && cells[at] == cell) out->hashes[out->n++] = keys->hashes[i];
    }
}

/* The number of keys is at most 2^40, so these are below 2^60, except of unlikely rates. */
static uint64_t universe_for_rate(size_t keys, double fpr) {
    double most = ldexp((double)keys, UMBELI_CELLS_MAX_SPREAD - 1);
    return (uint64_t)fmin(ceil((double)keys / fpr), fmin(most, 0x1p59));
}

/* Of the universes that Rice's code packs best, the one with the fewest bits in all. */
static uint64_t universe_for_left(size_t left, size_t stay) {
    double low = stay ? round(log2((double)stay / (1.4427 * (double)left) * log(2))) : 0;
    return (uint64_t)((double)left * fmax(1, exp2(fmax(low, 0)) / log(2)));
}

static umbel_err pack(build *b, umbeli_cells *set, umbel_diag *diag) {
    set->low = umbeli_cells_low(set->universe, set->count);
    return umbeli_cells_pack(b->settings, b->cells, set) ? UMBEL_OK : no_memory(diag);
}

/* ---- the decider -------------------------------------------------------------------------- */

static umbel_err add_hashes(umbeli_shards *shards, const umbeli_sorted *keys, umbel_diag *diag) {
    enum { BATCH = 512 };
    uint64_t hashes[BATCH];
    umbel_err e = UMBEL_OK;
    for (size_t from = 0; from < keys->n && !e; from += BATCH) {
        size_t some = keys->n - from < BATCH ? keys->n - from : BATCH;
        umbeli_delta_decider_hashes(keys->hashes + from, some, hashes);
        e = umbeli_store_add(shards->store, hashes, some, diag);
    }
    return e;
}

static umbel_err build_decider(const build *b, umbel_filter **out, umbel_diag *diag) {
    const umbel_params params = {.kind = UMBEL_KIND_EXACT};
    const umbeli_settings plain = {.threads = 1}; /* no secret: its keys are hashes already */
    const umbeli_shape like = umbeli_kind_shape(&params, &plain);
    umbeli_shards members = {.store = NULL}, others = {.store = NULL};
    uint64_t in_both = 0;
    umbel_err e = umbeli_shards_begin(&members, NULL, &plain, diag);
    if (!e) e = umbeli_shards_begin(&others, NULL, &plain, diag);
    if (!e) e = add_hashes(&members, &b->left, diag);
    if (!e) e = add_hashes(&others, &b->in_doubt, diag);
    if (!e) e = umbeli_exact_build(&members, &others, &params, &like, NULL, out, &in_both, diag);
    umbeli_shards_end(&members);
    umbeli_shards_end(&others);
    return e;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static umbel_err find_came(build *b, umbeli_delta *d, const umbeli_list_change *c,
                           umbel_diag *diag) {
    if (!make_room(b->settings, c->now.n, &b->came)) return no_memory(diag);
    subtract(&c->now, &c->old, &b->came);
    d->added = b->came.n;
    d->keys = c->now.n;
    d->in.universe = universe_for_rate(b->came.n, d->fpr);
    list_cells(&b->came, &d->in, b->cells);
    return pack(b, &d->in, diag);
}

/* Good keys that would be found leave, as others do: b->cells are those of keys that came. */
static umbel_err add_guarded(build *b, umbeli_delta *d, const umbeli_list_change *c,
                             umbel_diag *diag) {
    umbeli_sorted caught, guarded;
    size_t most = c->good.n + c->found.n;
    bool enough = make_room(b->settings, most, &caught);
    enough &= make_room(b->settings, most, &guarded);
    caught.n = guarded.n = 0;
    if (enough) {
        find_in_cells(&c->good, &d->in, b->cells, &caught);
        unite(&caught, &c->found);
        subtract(&caught, &c->now, &guarded);
        unite(&b->left, &guarded);
        d->guarded = b->left.n - d->removed;
    }
    umbeli_delete(b->settings, caught.hashes);
    umbeli_delete(b->settings, guarded.hashes);
    return enough ? UMBEL_OK : no_memory(diag);
}

static umbel_err find_left(build *b, umbeli_delta *d, const umbeli_list_change *c,
                           umbel_diag *diag) {
    size_t most = c->old.n + c->good.n + c->found.n;
    if (!make_room(b->settings, most, &b->left)) return no_memory(diag);
    subtract(&c->old, &c->now, &b->left);
    d->removed = b->left.n;
    umbel_err e = add_guarded(b, d, c, diag);
    if (e || !b->left.n) return e;
    d->out.universe = universe_for_left(b->left.n, c->now.n);
    list_cells(&b->left, &d->out, b->cells);
    if (!make_room(b->settings, c->now.n, &b->in_doubt)) return no_memory(diag);
    find_in_cells(&c->now, &d->out, b->cells, &b->in_doubt);
    return pack(b, &d->out, diag);
}

static umbel_err build_all(build *b, umbeli_delta *d, const umbeli_list_change *c, uint8_t **bytes,
                           umbel_diag *diag) {
    umbel_filter *decider = NULL;
    size_t most = c->old.n + c->now.n + c->good.n + c->found.n;
    b->cells = umbeli_new(b->settings, (most + 1) * sizeof *b->cells);
    if (!b->cells) return no_memory(diag);
    umbel_err e = find_came(b, d, c, diag);
    if (!e) e = find_left(b, d, c, diag);
    if (!e && b->left.n) e = build_decider(b, &decider, diag);
    if (!e) e = umbeli_delta_write(d, decider, b->settings, bytes, diag);
    umbel_free(decider);
    return e;
}

umbel_err umbeli_delta_build(umbeli_delta *d, const umbeli_list_change *change,
                             const umbeli_settings *settings, uint8_t **bytes, umbel_diag *diag) {
    build b = {.settings = settings};
    d->in = d->out = (umbeli_cells){0};
    umbel_err e = build_all(&b, d, change, bytes, diag);
    umbeli_delete(settings, (void *)(uintptr_t)d->in.bytes);
    umbeli_delete(settings, (void *)(uintptr_t)d->out.bytes);
    d->in.bytes = d->out.bytes = NULL;
    umbeli_delete(settings, b.came.hashes);
    umbeli_delete(settings, b.left.hashes);
    umbeli_delete(settings, b.in_doubt.hashes);
    umbeli_delete(settings, b.cells);
    return e;
}
