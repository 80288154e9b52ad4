/* SPDX-License-Identifier: MIT */
#include "filter/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/filter_bytes.h"
#include "umbel_delta.h"

/* A blocked and a counting filter hash alike, though their layouts differ. */
static bool same_hashes(const cli_lookup_filter *a, const cli_lookup_filter *b) {
    umbel_info x, y;
    umbel_describe(a->filter, &x);
    umbel_describe(b->filter, &y);
    return x.takes_hashes && y.takes_hashes && x.format == y.format && x.hash == y.hash &&
           x.seed == y.seed && x.fingerprint == y.fingerprint;
}

/* Finds the filters before this one that have the same keys, and those that hash them alike. */
static void link_up(cli_lookup *a, size_t me) {
    const char *text = umbel_recipe_text(a->recipes[me]);
    a->at[me].keys_from = a->at[me].hashes_from = me;
    a->at[me].hashed = false;
    for (size_t i = me; i-- > 0;) {
        if (strcmp(text, umbel_recipe_text(a->recipes[i])) != 0) continue;
        a->at[me].keys_from = i;
        if (!same_hashes(&a->at[me], &a->at[i])) continue;
        a->at[me].hashes_from = i;
        a->at[i].hashed = true;
    }
}

umbel_err cli_list_lookup(const umbel_filter *f, const char *name, const char *recipe,
                          const umbel_guard *guard, umbel_lookup **out, umbel_diag *diag) {
    char text[256];
    *diag = (umbel_diag){0};
    if (strcmp(name, "-") == 0) return umbel_lookup_new(f, recipe, out, diag);
    umbel_err e = umbel_lookup_list(f, name, recipe, guard, out, diag);
    if (!e && diag->what) {
        cli_warn("deltas_left_aside", name, "the deltas beside it are not used: %s",
                 umbel_explain(UMBEL_EMISMATCH, diag, text, sizeof text));
    }
    return e;
}

static void use(cli_lookup *a, size_t at, umbel_filter *f, const umbel_lookup *lookup) {
    a->at[at].filter = f;
    a->at[at].lookup = lookup;
}

static void drop(cli_lookup_filter *q) {
    umbel_lookup_free(q->lookup);
    umbel_free(q->filter);
}

void cli_lookup_add(cli_lookup *a, umbel_filter *f, const char *name, umbel_recipe *recipe) {
    if (a->count == CLI_LOOKUP_MAX) cli_die("--also", "merge some of them", "more than 64 filters");
    size_t me = a->count++;
    a->at[me] = (cli_lookup_filter){.name = name};
    a->recipes[me] = recipe;
    umbel_diag diag;
    umbel_lookup *lookup = NULL;
    umbel_err e = cli_list_lookup(f, name, umbel_recipe_text(recipe), a->guard, &lookup, &diag);
    if (e) cli_die_err(name, e, &diag, "the deltas beside it");
    use(a, me, f, lookup);
    link_up(a, me);
}

void cli_lookup_replace(cli_lookup *a, size_t at, umbel_filter *f, const umbel_lookup *lookup) {
    drop(&a->at[at]);
    use(a, at, f, lookup);
    for (size_t i = 0; i < a->count; i++) link_up(a, i);
}

void cli_lookup_free(cli_lookup *a) {
    for (size_t i = 0; i < a->count; i++) {
        drop(&a->at[i]);
        umbel_recipe_free(a->recipes[i]);
    }
    a->count = 0;
}

/* What several filters need besides the batch. */
typedef struct workspace {
    const umbel_key *keys[CLI_LOOKUP_MAX]; /* the batch's, another filter's or own_keys[i] */
    umbel_key *own_keys[CLI_LOOKUP_MAX];
    uint64_t *hashes[CLI_LOOKUP_MAX];
    uint8_t *scratch[CLI_LOOKUP_MAX], *states;
    size_t room[CLI_LOOKUP_MAX];
} workspace;

static void prepare(const cli_lookup *a, const cli_batch *b, workspace *w, size_t i) {
    const cli_lookup_filter *q = &a->at[i];
    if (i == 0) {
        w->keys[i] = b->keys;
    } else if (q->keys_from != i) {
        w->keys[i] = w->keys[q->keys_from];
    } else {
        umbel_key *keys = w->own_keys[i] = cli_alloc(b->lines * sizeof *keys);
        if (!w->states) w->states = cli_alloc(b->lines);
        cli_batch_keys(b, b->recipes[i], b->use, keys, w->states, &w->scratch[i], &w->room[i]);
        w->keys[i] = keys;
    }
    if (q->hashes_from == i && q->hashed) {
        w->hashes[i] = cli_alloc(b->lines * sizeof *w->hashes[i]);
        umbel_hash_many(q->filter, w->keys[i], b->lines, w->hashes[i], NULL);
    }
}

static void free_workspace(const cli_lookup *a, workspace *w) {
    for (size_t i = 0; i < a->count; i++) {
        free(w->own_keys[i]);
        free(w->hashes[i]);
        free(w->scratch[i]);
    }
    free(w->states);
}

/* Damage is asked for at the end: cli_lookup_damaged. */
void cli_lookup_batch(const cli_lookup *a, cli_batch *b) {
    if (a->count == 1) {
        (void)umbel_lookup_keys(a->at[0].lookup, b->keys, NULL, b->lines, a->confirm, b->hits, NULL,
                                NULL);
        return;
    }
    workspace w = {0};
    memset(b->hashes, 0, b->lines * sizeof *b->hashes);
    for (size_t i = 0; i < a->count; i++) {
        const cli_lookup_filter *q = &a->at[i];
        prepare(a, b, &w, i);
        (void)umbel_lookup_keys(q->lookup, w.keys[i], w.hashes[q->hashes_from], b->lines, NULL,
                                b->hits, NULL, NULL);
        for (size_t k = 0; k < b->lines; k++) b->hashes[k] |= (uint64_t)b->hits[k] << i;
    }
    for (size_t k = 0; k < b->lines; k++) b->hits[k] = b->hashes[k] != 0;
    free_workspace(a, &w);
}

const cli_lookup_filter *cli_lookup_damaged(const cli_lookup *a, umbel_diag *diag) {
    for (size_t i = 0; i < a->count; i++) {
        if (umbel_damage(a->at[i].filter, diag)) return &a->at[i];
    }
    return NULL;
}

void cli_need_undamaged(const cli_lookup *a) {
    umbel_diag diag = {0};
    const cli_lookup_filter *damaged = cli_lookup_damaged(a, &diag);
    if (damaged) cli_die_err(cli_filter_name(damaged->name), UMBEL_ECORRUPT, &diag, NULL);
}
