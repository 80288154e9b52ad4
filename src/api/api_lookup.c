/* SPDX-License-Identifier: MIT
 *
 * api_lookup.c - texts and keys looked up in a filter: the one place that asks
 */
#include <stdatomic.h>
#include <string.h>

#include "api/list/owned_lookup.h"
#include "core/diag.h"
#include "core/filter.h"
#include "core/memory.h"
#include "hash/native_hash.h"
#include "recipe/recipe.h"
#include "umbel_never.h"
#include "umbel_recipe.h"

enum { BATCH = 512, STACK = 4096 };

struct umbel_lookup {
    const umbel_filter *filter; /* NULL: every key is in it */
    umbel_filter *owned;        /* the same, if it is freed with the lookup */
    umbeli_delta_chain *deltas; /* owned; NULL: there are none */
    const umbel_recipe *recipe;
    const umbeli_settings *settings; /* the filter's, for memory */
    bool line, parents, hashed;      /* the filter takes hashes */
    atomic_size_t holders;
};

static const umbeli_settings no_settings;

static umbel_err make(const umbel_filter *filter, umbel_filter *owned, const char *recipe,
                      umbel_lookup **out, umbel_diag *diag) {
    const umbeli_settings *settings = filter ? &filter->settings : &no_settings;
    umbel_lookup *l = umbeli_new(settings, sizeof *l);
    if (!l) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a lookup");
    if (!recipe) recipe = filter ? umbel_get_recipe(filter) : "line";
    umbel_recipe *parsed;
    umbel_err e = umbel_recipe_parse(recipe, &parsed, diag);
    if (e) {
        umbeli_delete(settings, l);
        return e;
    }
    uint32_t traits = umbel_recipe_traits(parsed);
    l->recipe = parsed;
    l->filter = filter;
    l->owned = owned;
    l->settings = settings;
    l->line = traits & UMBEL_RECIPE_LINE;
    l->parents = traits & UMBEL_RECIPE_PARENTS;
    l->hashed = filter && filter->ops->hash_many;
    atomic_init(&l->holders, 1);
    *out = l;
    return UMBEL_OK;
}

umbel_err umbel_lookup_new(const umbel_filter *filter, const char *recipe, umbel_lookup **out,
                           umbel_diag *diag) {
    return make(filter, NULL, recipe, out, diag);
}

umbel_err umbeli_lookup_of(umbel_filter *taken, const char *recipe, umbel_lookup **out,
                           umbel_diag *diag) {
    return make(taken, taken, recipe, out, diag);
}

void umbeli_lookup_follow(umbel_lookup *l, umbeli_delta_chain *taken) {
    l->deltas = taken;
}

const umbeli_delta_chain *umbeli_lookup_chain(const umbel_lookup *l) {
    return l->deltas;
}

/* Counting, and freeing what it owns, changes nothing that anyone could see. */
static umbel_lookup *counted(const umbel_lookup *l) {
    return (umbel_lookup *)(uintptr_t)l;
}

void umbel_lookup_hold(const umbel_lookup *l) {
    atomic_fetch_add_explicit(&counted(l)->holders, 1, memory_order_relaxed);
}

void umbel_lookup_free(const umbel_lookup *lookup) {
    umbel_lookup *l = lookup ? counted(lookup) : NULL;
    if (!l || atomic_fetch_sub_explicit(&l->holders, 1, memory_order_acq_rel) > 1) return;
    umbel_filter *owned = l->owned;
    umbel_recipe_free((umbel_recipe *)(uintptr_t)l->recipe);
    umbeli_delta_chain_free(l->deltas);
    umbeli_delete(l->settings, l);
    umbel_free(owned); /* whose settings were in use until here */
}

const umbel_filter *umbel_lookup_filter(const umbel_lookup *l) {
    return l->filter;
}

const umbel_recipe *umbel_lookup_recipe(const umbel_lookup *l) {
    return l->recipe;
}

/* ---- keys --------------------------------------------------------------------------------- */

/* Keys that are looked up; hashes may be NULL. */
typedef struct batch {
    const umbel_key *keys;
    const uint64_t *hashes;
    size_t n;
} batch;

/* The filter's answers, of which the deltas make the list's: the hashes are the same. */
static void ask_deltas(const umbel_lookup *l, batch b, uint8_t *hit) {
    const umbel_filter *f = l->filter;
    uint64_t own[BATCH];
    for (size_t from = 0; from < b.n; from += BATCH) {
        size_t count = b.n - from < BATCH ? b.n - from : BATCH;
        const uint64_t *hashes = b.hashes && l->hashed ? b.hashes + from : own;
        if (hashes == own) umbeli_native_hashes(&f->shape, b.keys + from, count, own);
        if (l->hashed) {
            umbel_contains_hashes(f, hashes, count, hit + from);
        } else {
            umbel_contains_many(f, b.keys + from, count, hit + from);
        }
        umbeli_delta_chain_ask(l->deltas, hashes, count, hit + from);
    }
}

/* Whether keys are in the list, each as it is.  Every lookup ends here: this is the one place that
 * combines a filter with whatever else a list has. */
static void keys_are_in(const umbel_lookup *l, batch b, const umbel_confirm *confirm,
                        uint8_t *hit) {
    if (!l->filter) {
        memset(hit, 1, b.n);
    } else if (l->deltas) {
        ask_deltas(l, b, hit);
    } else if (b.hashes && l->hashed) {
        umbel_contains_hashes(l->filter, b.hashes, b.n, hit);
    } else if (b.n == 1) {
        hit[0] = umbel_contains(l->filter, b.keys[0].data, b.keys[0].len);
    } else {
        umbel_contains_many(l->filter, b.keys, b.n, hit);
    }
    for (size_t i = 0; !l->line && i < b.n; i++) hit[i] &= b.keys[i].data != NULL;
    for (size_t i = 0; confirm && i < b.n; i++) {
        if (hit[i]) hit[i] = confirm->has(confirm->ctx, b.keys[i]);
    }
}

void umbeli_lookup_each(const umbel_lookup *l, const umbel_key *keys, size_t n, uint8_t *hit) {
    keys_are_in(l, (batch){keys, NULL, n}, NULL, hit);
}

/* Keys without a hit so far, and which of the batch they belong to. */
typedef struct rest {
    umbel_key keys[BATCH];
    uint16_t number[BATCH];
    uint8_t hit[BATCH];
    size_t n;
} rest;

/* Puts each key's parent in its place; keys that were a hit, or have no parent, leave. */
static void to_parents(const umbel_lookup *l, rest *r) {
    size_t left = 0;
    for (size_t i = 0; i < r->n; i++) {
        umbel_key key = r->keys[i];
        if (r->hit[i] || !umbeli_recipe_next(l->recipe, &key)) continue;
        r->keys[left] = key;
        r->number[left++] = r->number[i];
    }
    r->n = left;
}

/* Asks for the parents of at most BATCH keys that have no hit, one label after the other. */
static void ask_parents(const umbel_lookup *l, const umbel_key *keys, size_t n,
                        const umbel_confirm *confirm, uint8_t *hit, umbel_key *found) {
    rest r;
    r.n = 0;
    for (size_t i = 0; i < n; i++) {
        if (hit[i] || !keys[i].data) continue;
        r.keys[r.n] = keys[i];
        r.hit[r.n] = 0;
        r.number[r.n++] = (uint16_t)i;
    }
    for (to_parents(l, &r); r.n; to_parents(l, &r)) {
        keys_are_in(l, (batch){r.keys, NULL, r.n}, confirm, r.hit);
        for (size_t i = 0; i < r.n; i++) {
            if (!r.hit[i]) continue;
            hit[r.number[i]] = 1;
            if (found) found[r.number[i]] = r.keys[i];
        }
    }
}

static void ask(const umbel_lookup *l, batch b, const umbel_confirm *confirm, uint8_t *hit,
                umbel_key *found) {
    keys_are_in(l, b, confirm, hit);
    for (size_t i = 0; found && i < b.n; i++) found[i] = hit[i] ? b.keys[i] : (umbel_key){NULL, 0};
    for (size_t from = 0; l->parents && from < b.n; from += BATCH) {
        size_t count = b.n - from < BATCH ? b.n - from : BATCH;
        ask_parents(l, b.keys + from, count, confirm, hit + from, found ? found + from : NULL);
    }
}

/* A hit does not count if damage has caused it. */
static umbel_err certain(const umbel_lookup *l, const uint8_t *hit, size_t n, umbel_diag *diag) {
    umbel_diag why = {0};
    umbel_err e = l->filter ? umbel_damage(l->filter, &why) : UMBEL_OK;
    if (!e || !memchr(hit, 1, n)) return UMBEL_OK;
    if (diag) *diag = why;
    return e;
}

umbel_err umbel_lookup_keys(const umbel_lookup *l, const umbel_key *keys, const uint64_t *hashes,
                            size_t n, const umbel_confirm *confirm, uint8_t *hit, umbel_key *found,
                            umbel_diag *diag) {
    ask(l, (batch){keys, hashes, n}, confirm, hit, found);
    return certain(l, hit, n, diag);
}

/* ---- good keys ---------------------------------------------------------------------------- */

/* Who is told of good keys: a builder, or an umbel_never. */
typedef struct asking {
    umbel_builder *builder;
    umbel_never *never;
    umbel_diag *diag;
    umbel_err err;
} asking;

static umbel_err tell(const asking *a, const umbel_key *keys, size_t n) {
    return a->builder ? umbel_builder_never(a->builder, keys, n, a->diag)
                      : umbel_never_ask(a->never, keys, n, a->diag);
}

static bool ask_never(void *ctx, umbel_key key) {
    asking *a = ctx;
    if (!a->err) a->err = tell(a, &key, 1);
    return false; /* so that the parents follow */
}

static umbel_err tell_lookups(asking a, const umbel_recipe *recipe, const umbel_key *good,
                              size_t n) {
    uint32_t traits = umbel_recipe_traits(recipe);
    const umbel_lookup every = {.recipe = recipe,
                                .line = traits & UMBEL_RECIPE_LINE,
                                .parents = traits & UMBEL_RECIPE_PARENTS};
    if (every.line) return tell(&a, good, n);
    const umbel_confirm by = {ask_never, &a};
    uint8_t hit[BATCH];
    for (size_t from = 0; from < n && !a.err; from += BATCH) {
        size_t count = n - from < BATCH ? n - from : BATCH;
        ask(&every, (batch){good + from, NULL, count}, &by, hit, NULL);
    }
    return a.err;
}

umbel_err umbel_builder_never_lookups(umbel_builder *builder, const umbel_recipe *recipe,
                                      const umbel_key *good, size_t n, umbel_diag *diag) {
    return tell_lookups((asking){.builder = builder, .diag = diag}, recipe, good, n);
}

umbel_err umbel_never_lookups(umbel_never *never, const umbel_recipe *recipe, const umbel_key *good,
                              size_t n, umbel_diag *diag) {
    return tell_lookups((asking){.never = never, .diag = diag}, recipe, good, n);
}

/* ---- texts -------------------------------------------------------------------------------- */

/* The room that each batch of these texts needs at most. */
static size_t room_for(const umbel_lookup *l, const umbel_key *texts, size_t n) {
    size_t most = 0;
    for (size_t from = 0; from < n; from += BATCH) {
        size_t count = n - from < BATCH ? n - from : BATCH, bytes = 0;
        for (size_t i = 0; i < count; i++) bytes += texts[from + i].len;
        size_t room = umbel_recipe_room(l->recipe, count, bytes);
        if (room > most) most = room;
    }
    return most;
}

static void ask_texts(const umbel_lookup *l, umbel_recipe_use use, const umbel_key *texts, size_t n,
                      void *scratch, uint8_t *hit, uint8_t *states) {
    umbel_key keys[BATCH];
    uint8_t own[BATCH];
    for (size_t from = 0; from < n; from += BATCH) {
        size_t count = n - from < BATCH ? n - from : BATCH;
        memcpy(keys, texts + from, count * sizeof *keys);
        umbel_recipe_apply(l->recipe, use, keys, count, scratch, states ? states + from : own);
        ask(l, (batch){keys, NULL, count}, NULL, hit + from, NULL);
    }
}

umbel_err umbel_lookup_texts(const umbel_lookup *l, umbel_recipe_use use, const umbel_key *texts,
                             size_t n, uint8_t *hit, uint8_t *states, umbel_diag *diag) {
    if (l->line) {
        if (states) memset(states, UMBEL_FOUND_KEY, n);
        ask(l, (batch){texts, NULL, n}, NULL, hit, NULL);
        return certain(l, hit, n, diag);
    }
    uint8_t stack[STACK];
    size_t room = room_for(l, texts, n);
    void *scratch = room > sizeof stack ? umbeli_new(l->settings, room) : stack;
    if (!scratch) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the keys");
    use = (umbel_recipe_use)(use | UMBEL_USE_LOOKUP);
    ask_texts(l, use, texts, n, scratch, hit, states);
    if (scratch != stack) umbeli_delete(l->settings, scratch);
    return certain(l, hit, n, diag);
}
