/* SPDX-License-Identifier: MIT
 *
 * lookup.c - the same lines looked up in one or several filters
 */
#include "filter/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "umbel_meta.h"

static bool same_rule(const cli_key_rule *a, const cli_key_rule *b) {
    const umbel_key_rule *x = &a->recorded, *y = &b->recorded;
    return x->trim == y->trim && x->lower == y->lower && x->upper == y->upper &&
           x->delimiter == y->delimiter && x->field == y->field && a->crlf == b->crlf &&
           a->csv == b->csv && a->missing_empty == b->missing_empty && a->type == b->type;
}

/* A blocked and a counting filter hash alike, though their layouts differ. */
static bool same_hashes(const cli_lookup_filter *a, const cli_lookup_filter *b) {
    umbel_info x, y;
    umbel_describe(a->filter, &x);
    umbel_describe(b->filter, &y);
    return umbel_takes_hashes(a->filter) && umbel_takes_hashes(b->filter) && x.format == y.format &&
           x.hash == y.hash && x.seed == y.seed && x.fingerprint == y.fingerprint;
}

void cli_lookup_add(cli_lookup *a, umbel_filter *f, const char *name, const cli_key_rule *rule) {
    if (a->count == CLI_LOOKUP_MAX) cli_die("--also", "merge some of them", "more than 64 filters");
    size_t me = a->count++;
    a->at[me] = (cli_lookup_filter){f, name, *rule, me, me, false};
    for (size_t i = me; i-- > 0;) {
        if (!same_rule(rule, &a->at[i].rule)) continue;
        a->at[me].keys_from = i;
        if (!same_hashes(&a->at[me], &a->at[i])) continue;
        a->at[me].hashes_from = i;
        a->at[i].hashed = true;
    }
}

void cli_lookup_free(cli_lookup *a) {
    for (size_t i = 0; i < a->count; i++) umbel_free(a->at[i].filter);
    a->count = 0;
}

/* What several filters need besides the batch. */
typedef struct workspace {
    const umbel_key *keys[CLI_LOOKUP_MAX]; /* the batch's, another filter's or own_keys[i] */
    umbel_key *own_keys[CLI_LOOKUP_MAX];
    uint64_t *hashes[CLI_LOOKUP_MAX];
    uint8_t *scratch[CLI_LOOKUP_MAX];
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
        cli_batch_keys(b, &q->rule, keys, &w->scratch[i], &w->room[i]);
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
}

/* A line without the field is in no filter, nor is a header. */
static void clear_missing(const cli_batch *b, const cli_key_rule *rule, const umbel_key *keys) {
    if (rule->header && b->block.begins && b->lines) b->hits[0] = 0;
    if (!rule->recorded.field && !rule->column) return;
    for (size_t i = 0; i < b->lines; i++) b->hits[i] &= keys[i].data != NULL;
}

void cli_lookup_batch(const cli_lookup *a, cli_batch *b) {
    if (a->count == 1) {
        umbel_contains_many(a->at[0].filter, b->keys, b->lines, b->hits);
        clear_missing(b, &a->at[0].rule, b->keys);
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
        clear_missing(b, &q->rule, w.keys[q->keys_from]);
        for (size_t k = 0; k < b->lines; k++) b->hashes[k] |= (uint64_t)b->hits[k] << i;
    }
    for (size_t k = 0; k < b->lines; k++) b->hits[k] = b->hashes[k] != 0;
    free_workspace(a, &w);
}
