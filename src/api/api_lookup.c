/* SPDX-License-Identifier: MIT
 *
 * api_lookup.c - texts and keys looked up in a filter: the one place that asks
 */
#include <stdatomic.h>
#include <string.h>

#include "api/owned_lookup.h"
#include "core/diag.h"
#include "core/filter.h"
#include "core/memory.h"
#include "umbel_meta.h"

enum { BATCH = 256, STACK = 4096 };

struct umbel_lookup {
    const umbel_filter *filter; /* NULL: every key is in it */
    umbel_filter *owned;        /* the same, if it is freed with the lookup */
    umbel_recipe *recipe;
    const umbeli_settings *settings; /* the filter's, for memory */
    bool line, parents;
    atomic_size_t holders;
};

static const umbeli_settings no_settings;

static umbel_err make(const umbel_filter *filter, umbel_filter *owned, const char *recipe,
                      umbel_lookup **out, umbel_diag *diag) {
    const umbeli_settings *settings = filter ? &filter->settings : &no_settings;
    umbel_lookup *l = umbeli_new(settings, sizeof *l);
    if (!l) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a lookup");
    if (!recipe) recipe = filter ? umbel_get_recipe(filter) : "line";
    umbel_err e = umbel_recipe_parse(recipe, &l->recipe, diag);
    if (e) {
        umbeli_delete(settings, l);
        return e;
    }
    uint32_t traits = umbel_recipe_traits(l->recipe);
    l->filter = filter;
    l->owned = owned;
    l->settings = settings;
    l->line = traits & UMBEL_RECIPE_LINE;
    l->parents = traits & UMBEL_RECIPE_PARENTS;
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

/* Counting is no change that anyone could see. */
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
    umbel_recipe_free(l->recipe);
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

/* Whether keys are in the list, each as it is: every lookup ends here, and what a list consists of
 * besides its filter is combined here. */
static void keys_are_in(const umbel_lookup *l, const umbel_key *keys, size_t n,
                        const umbel_confirm *confirm, uint8_t *hit) {
    if (!l->filter) {
        memset(hit, 1, n);
    } else if (n == 1) {
        hit[0] = umbel_contains(l->filter, keys[0].data, keys[0].len);
    } else {
        umbel_contains_many(l->filter, keys, n, hit);
    }
    for (size_t i = 0; !l->line && i < n; i++) hit[i] &= keys[i].data != NULL;
    for (size_t i = 0; confirm && i < n; i++) {
        if (hit[i]) hit[i] = confirm->has(confirm->ctx, keys[i]);
    }
}

/* Keys without a hit so far, and which of the batch they belong to. */
typedef struct rest {
    umbel_key keys[BATCH];
    uint16_t number[BATCH];
    uint8_t hit[BATCH];
    size_t n;
} rest;

/* Asks for the parents of at most BATCH keys that have no hit, one label after the other. */
static void ask_parents(const umbel_lookup *l, const umbel_key *keys, size_t n,
                        const umbel_confirm *confirm, uint8_t *hit, umbel_key *found) {
    rest r;
    r.n = 0;
    for (size_t i = 0; i < n; i++) {
        umbel_key key = keys[i];
        if (hit[i] || !key.data || !umbel_recipe_next(l->recipe, &key)) continue;
        r.keys[r.n] = key;
        r.number[r.n++] = (uint16_t)i;
    }
    while (r.n) {
        size_t left = 0;
        keys_are_in(l, r.keys, r.n, confirm, r.hit);
        for (size_t i = 0; i < r.n; i++) {
            umbel_key key = r.keys[i];
            uint16_t number = r.number[i];
            if (r.hit[i]) {
                hit[number] = 1;
                if (found) found[number] = key;
            } else if (umbel_recipe_next(l->recipe, &key)) {
                r.keys[left] = key;
                r.number[left++] = number;
            }
        }
        r.n = left;
    }
}

static void ask(const umbel_lookup *l, const umbel_key *keys, size_t n,
                const umbel_confirm *confirm, uint8_t *hit, umbel_key *found) {
    keys_are_in(l, keys, n, confirm, hit);
    for (size_t i = 0; found && i < n; i++) found[i] = hit[i] ? keys[i] : (umbel_key){NULL, 0};
    for (size_t from = 0; l->parents && from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        ask_parents(l, keys + from, batch, confirm, hit + from, found ? found + from : NULL);
    }
}

/* What was looked up does not count if it is a hit that damage has made. */
static umbel_err certain(const umbel_lookup *l, const uint8_t *hit, size_t n, umbel_diag *diag) {
    umbel_diag why = {0};
    umbel_err e = l->filter ? umbel_damage(l->filter, &why) : UMBEL_OK;
    if (!e || !memchr(hit, 1, n)) return UMBEL_OK;
    if (diag) *diag = why;
    return e;
}

umbel_err umbel_lookup_keys(const umbel_lookup *l, const umbel_key *keys, size_t n,
                            const umbel_confirm *confirm, uint8_t *hit, umbel_key *found,
                            umbel_diag *diag) {
    ask(l, keys, n, confirm, hit, found);
    return certain(l, hit, n, diag);
}

/* ---- texts -------------------------------------------------------------------------------- */

/* The room that each batch of these texts needs at most. */
static size_t room_for(const umbel_lookup *l, const umbel_key *texts, size_t n) {
    size_t most = 0;
    for (size_t from = 0; from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH, bytes = 0;
        for (size_t i = 0; i < batch; i++) bytes += texts[from + i].len;
        size_t room = umbel_recipe_room(l->recipe, batch, bytes);
        if (room > most) most = room;
    }
    return most;
}

static void ask_texts(const umbel_lookup *l, umbel_recipe_use use, const umbel_key *texts, size_t n,
                      void *scratch, uint8_t *hit, uint8_t *states) {
    umbel_key keys[BATCH];
    uint8_t own[BATCH];
    for (size_t from = 0; from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        memcpy(keys, texts + from, batch * sizeof *keys);
        umbel_recipe_apply(l->recipe, use, keys, batch, scratch, states ? states + from : own);
        ask(l, keys, batch, NULL, hit + from, NULL);
    }
}

umbel_err umbel_lookup_texts(const umbel_lookup *l, umbel_recipe_use use, const umbel_key *texts,
                             size_t n, uint8_t *hit, uint8_t *states, umbel_diag *diag) {
    if (l->line) {
        if (states) memset(states, UMBEL_FOUND_KEY, n);
        ask(l, texts, n, NULL, hit, NULL);
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
