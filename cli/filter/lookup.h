/* SPDX-License-Identifier: MIT
 *
 * lookup.h - one or several filters asked about the same lines
 *
 * Each filter may treat lines in its own way; lines are made into keys once a treatment, and keys
 * hashed once for all filters that hash alike.
 */
#ifndef CLI_LOOKUP_H
#define CLI_LOOKUP_H

#include "lines/pipeline.h"

enum { CLI_LOOKUP_MAX = 64 };

typedef struct cli_lookup_filter {
    umbel_filter *filter; /* owned */
    const char *name;
    cli_key_rule rule;
    size_t keys_from; /* the first filter with the same keys ... */
    size_t
        hashes_from; /* ... and the first with the same hashes; itself when it is alone in that */
    bool hashed;     /* others share its hashes */
} cli_lookup_filter;

typedef struct cli_lookup {
    cli_lookup_filter at[CLI_LOOKUP_MAX];
    size_t count;
} cli_lookup;

/* The first filter's treatment must be that of the feed. */
void cli_lookup_add(cli_lookup *a, umbel_filter *f, const char *name, const cli_key_rule *t);
void cli_lookup_free(cli_lookup *a);

/* b->hits[i] becomes 1 when any filter has line i.  With more than one filter bit j of
 * b->hashes[i] tells of filter j. */
void cli_lookup_batch(const cli_lookup *a, cli_batch *b);

#endif
