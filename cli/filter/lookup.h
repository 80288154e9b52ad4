/* SPDX-License-Identifier: MIT
 *
 * lookup.h - the same lines looked up in one or several filters
 *
 * Filters may have different recipes: keys are made once per recipe, and hashed once for all
 * filters that hash alike.
 */
#ifndef CLI_LOOKUP_H
#define CLI_LOOKUP_H

#include "lines/pipeline.h"
#include "umbel_lookup.h"

enum { CLI_LOOKUP_MAX = 64 };

typedef struct cli_lookup_filter {
    umbel_filter *filter; /* owned, as is its lookup, which makes the recipe's further keys */
    const umbel_lookup *lookup;
    const char *name;
    size_t keys_from;   /* the first filter with the same keys ... */
    size_t hashes_from; /* ... and with the same hashes; its own index if there is none */
    bool hashed;        /* later filters use its hashes */
} cli_lookup_filter;

typedef struct cli_lookup {
    cli_lookup_filter at[CLI_LOOKUP_MAX];
    umbel_recipe *recipes[CLI_LOOKUP_MAX]; /* of each, owned: those of the feed */
    size_t count;
    const umbel_guard *guard;     /* of the deltas beside them; NULL: all are used */
    const umbel_confirm *confirm; /* of a single filter; NULL: its answers are final */
} cli_lookup;

/* Takes ownership of both.  The feed's recipes are those of the lookup. */
void cli_lookup_add(cli_lookup *a, umbel_filter *f, const char *name, umbel_recipe *recipe);
/* Takes ownership of f, which has the same recipe, and of its lookup, and frees what they replace.
 */
void cli_lookup_replace(cli_lookup *a, size_t at, umbel_filter *f, const umbel_lookup *lookup);
void cli_lookup_free(cli_lookup *a);

/* A lookup of the list in the file `name`: its filter, and the deltas beside it.  Warns of deltas
 * that follow another. */
umbel_err cli_list_lookup(const umbel_filter *f, const char *name, const char *recipe,
                          const umbel_guard *guard, umbel_lookup **out, umbel_diag *diag);

/* Sets b->hits[i] to 1 if any filter has line i.  With more than one filter, bit j of b->hashes[i]
 * is the answer of filter j. */
void cli_lookup_batch(const cli_lookup *a, cli_batch *b);

/* The first filter in which a lookup has met damage; NULL: there is none. */
const cli_lookup_filter *cli_lookup_damaged(const cli_lookup *a, umbel_diag *diag);

/* Exits with a message that says where it is damaged, if it is. */
void cli_need_undamaged(const cli_lookup *a);

#endif
