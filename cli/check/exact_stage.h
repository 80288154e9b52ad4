/* SPDX-License-Identifier: MIT
 *
 * exact_stage.h - an exact second stage: which candidates of a filter are really in a file
 */
#ifndef CLI_EXACT_STAGE_H
#define CLI_EXACT_STAGE_H

#include "filter/lookup.h"
#include "lines/key_set.h"

typedef struct cli_exact {
    umbel_filter *hasher;
    cli_key_set keys;      /* the candidates; marked are those in the file */
    umbel_confirm confirm; /* that a candidate is */
} cli_exact;

/* Collects the keys of the feed that the filter has, then reads `file`, by `file_recipe`, to see
 * which of them it has; from then on the lookup says so.  Takes memory for each distinct candidate.
 * Returns the exit status for lines of the file without a key; the caller reads the feed again. */
int cli_exact_read(cli_exact *e, const cli_settings *s, cli_lookup *lookup, cli_feed feed,
                   const char *file, umbel_recipe *file_recipe);

void cli_exact_free(cli_exact *e);

#endif
