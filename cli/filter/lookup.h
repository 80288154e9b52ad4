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

enum { CLI_ASK_MOST = 64 };

typedef struct cli_asked {
    const umbel_filter *filter;
    const char *name;
    cli_treatment treatment;
    size_t keys_as;   /* the first filter with the same keys ... */
    size_t hashes_as; /* ... and the first with the same hashes; itself when it is alone in that */
    bool hashed;      /* others share its hashes */
} cli_asked;

typedef struct cli_ask {
    cli_asked at[CLI_ASK_MOST];
    size_t count;
} cli_ask;

/* The first filter's treatment must be that of the feed. */
void cli_ask_add(cli_ask *a, const umbel_filter *f, const char *name, const cli_treatment *t);

/* b->hits[i] becomes 1 when any filter has line i.  With more than one filter bit j of
 * b->hashes[i] tells of filter j. */
void cli_ask_batch(const cli_ask *a, cli_batch *b);

#endif
