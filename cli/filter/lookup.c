/* SPDX-License-Identifier: MIT */
#include "filter/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/filter_bytes.h"

/* A blocked and a counting filter hash alike, though their layouts differ. */
static bool same_hashes(const cli_lookup_filter *a, const cli_lookup_filter *b) {
    umbel_info x, y;
    umbel_describe(a->filter, &x);
    umbel_describe(b->filter, &y);
    return umbel_takes_hashes(a->filter) && umbel_takes_hashes(b->filter) && x.format == y.format &&
           x.hash == y.hash && x.seed == y.seed && x.fingerprint == y.fingerprint;
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

void cli_lookup_add(cli_lookup *a, umbel_filter *f, const char *name, umbel_recipe *recipe) {
    if (a->count == CLI_LOOKUP_MAX) cli_die("--also", "merge some of them", "more than 64 filters");
    size_t me = a->count++;
    a->at[me] = (cli_lookup_filter){.filter = f, .name = name};
    a->recipes[me] = recipe;
    link_up(a, me);
}

void cli_lookup_replace(cli_lookup *a, size_t at, umbel_filter *f) {
    umbel_free(a->at[at].filter);
    a->at[at].filter = f;
    for (size_t i = 0; i < a->count; i++) link_up(a, i);
}

void cli_lookup_free(cli_lookup *a) {
    for (size_t i = 0; i < a->count; i++) {
        umbel_free(a->at[i].filter);
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

/* A line without a key is in no filter. */
static void clear_missing(const cli_batch *b, const umbel_recipe *recipe, const umbel_key *keys) {
    if (umbel_recipe_traits(recipe) & UMBEL_RECIPE_LINE) return;
    for (size_t i = 0; i < b->lines; i++) b->hits[i] &= keys[i].data != NULL;
}

/* Looks up the next key (of a domain name, the parent) of each line that was not found, until no
 * line has one left. */
static void ask_further(const cli_lookup *a, size_t f, const cli_batch *b, const umbel_key *keys) {
    const umbel_recipe *recipe = a->recipes[f];
    if (!(umbel_recipe_traits(recipe) & UMBEL_RECIPE_PARENTS)) return;
    umbel_key *next = cli_alloc(b->lines * sizeof *next);
    uint32_t *line = cli_alloc(b->lines * sizeof *line);
    uint8_t *hits = cli_alloc(b->lines);
    size_t n = 0;
    for (size_t i = 0; i < b->lines; i++) {
        if (b->hits[i] || !keys[i].data) continue;
        next[n] = keys[i];
        line[n++] = (uint32_t)i;
    }
    while (n) {
        size_t left = 0;
        for (size_t i = 0; i < n; i++) {
            umbel_key key = next[i];
            if (b->hits[line[i]] || !umbel_recipe_next(recipe, &key)) continue;
            next[left] = key;
            line[left++] = line[i];
        }
        n = left;
        umbel_contains_many(a->at[f].filter, next, n, hits);
        for (size_t i = 0; i < n; i++) b->hits[line[i]] = hits[i];
    }
    free(next), free(line), free(hits);
}

void cli_lookup_batch(const cli_lookup *a, cli_batch *b) {
    if (a->count == 1) {
        umbel_contains_many(a->at[0].filter, b->keys, b->lines, b->hits);
        clear_missing(b, a->recipes[0], b->keys);
        ask_further(a, 0, b, b->keys);
        return;
    }
    workspace w = {0};
    memset(b->hashes, 0, b->lines * sizeof *b->hashes);
    for (size_t i = 0; i < a->count; i++) {
        const cli_lookup_filter *q = &a->at[i];
        prepare(a, b, &w, i);
        const uint64_t *hashes = w.hashes[q->hashes_from];
        if (hashes) {
            umbel_contains_hashes(q->filter, hashes, b->lines, b->hits);
        } else {
            umbel_contains_many(q->filter, w.keys[i], b->lines, b->hits);
        }
        clear_missing(b, a->recipes[i], w.keys[i]);
        ask_further(a, i, b, w.keys[i]);
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
