/* SPDX-License-Identifier: MIT
 *
 * lookup.c - one or several filters asked about the same lines
 */
#include "filter/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "report/error.h"

static bool same_treatment(const cli_treatment *a, const cli_treatment *b) {
    const umbel_treatment *x = &a->recorded, *y = &b->recorded;
    return x->trim == y->trim && x->lower == y->lower && x->upper == y->upper &&
           x->delimiter == y->delimiter && x->field == y->field && a->crlf == b->crlf &&
           a->type == b->type;
}

/* Three keys of 64-bit hashes that agree cannot be an accident; asking for layout and seed would
 * read all of a filter that may only be mapped. */
static bool same_hashes(const cli_asked *a, const cli_asked *b) {
    static const char *const probes[] = {"", "umbel", "a key that is longer than sixteen bytes"};
    if (!umbel_takes_hashes(a->filter) || !umbel_takes_hashes(b->filter)) return false;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        size_t len = strlen(probes[i]);
        if (umbel_hash(a->filter, probes[i], len) != umbel_hash(b->filter, probes[i], len)) {
            return false;
        }
    }
    return true;
}

void cli_ask_add(cli_ask *a, const umbel_filter *f, const char *name, const cli_treatment *t) {
    if (a->count == CLI_ASK_MOST) cli_die("--also", "merge some of them", "at most 64 filters");
    size_t me = a->count++;
    a->at[me] = (cli_asked){f, name, *t, me, me, false};
    for (size_t i = me; i-- > 0;) {
        if (!same_treatment(t, &a->at[i].treatment)) continue;
        a->at[me].keys_as = i;
        if (!same_hashes(&a->at[me], &a->at[i])) continue;
        a->at[me].hashes_as = i;
        a->at[i].hashed = true;
    }
}

/* What several filters need besides the batch. */
typedef struct scratch {
    const umbel_key *keys[CLI_ASK_MOST];
    uint64_t *hashes[CLI_ASK_MOST];
    uint8_t *scratch[CLI_ASK_MOST];
    size_t room[CLI_ASK_MOST];
} scratch;

static void prepare(const cli_ask *a, const cli_batch *b, scratch *d, size_t i) {
    const cli_asked *q = &a->at[i];
    if (i == 0) {
        d->keys[i] = b->keys;
    } else if (q->keys_as != i) {
        d->keys[i] = d->keys[q->keys_as];
    } else {
        umbel_key *keys = cli_alloc(b->lines * sizeof *keys);
        cli_batch_keys(b, &q->treatment, keys, &d->scratch[i], &d->room[i]);
        d->keys[i] = keys;
    }
    if (q->hashes_as == i && q->hashed) {
        d->hashes[i] = cli_alloc(b->lines * sizeof *d->hashes[i]);
        umbel_hash_many(q->filter, d->keys[i], b->lines, d->hashes[i]);
    }
}

static void tidy(const cli_ask *a, scratch *d) {
    for (size_t i = 0; i < a->count; i++) {
        if (i && a->at[i].keys_as == i) free((void *)d->keys[i]);
        free(d->hashes[i]);
        free(d->scratch[i]);
    }
}

void cli_ask_batch(const cli_ask *a, cli_batch *b) {
    if (a->count == 1) {
        umbel_contains_many(a->at[0].filter, b->keys, b->lines, b->hits);
        return;
    }
    scratch d = {0};
    memset(b->hashes, 0, b->lines * sizeof *b->hashes);
    for (size_t i = 0; i < a->count; i++) {
        const cli_asked *q = &a->at[i];
        prepare(a, b, &d, i);
        const uint64_t *hashes = d.hashes[q->hashes_as];
        if (!hashes || umbel_contains_hashes(q->filter, hashes, b->lines, b->hits)) {
            umbel_contains_many(q->filter, d.keys[i], b->lines, b->hits);
        }
        for (size_t k = 0; k < b->lines; k++) b->hashes[k] |= (uint64_t)b->hits[k] << i;
    }
    for (size_t k = 0; k < b->lines; k++) b->hits[k] = b->hashes[k] != 0;
    tidy(a, &d);
}
