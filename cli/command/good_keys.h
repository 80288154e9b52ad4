/* SPDX-License-Identifier: MIT
 *
 * good_keys.h - umbel build --never: keys that the filter must not find, and what a block list has
 */
#ifndef CLI_GOOD_KEYS_H
#define CLI_GOOD_KEYS_H

#include "lines/pipeline.h"
#include "options/filter_options.h"

typedef struct cli_good_keys {
    umbel_never *never; /* NULL: there are none */
    bool domains;
} cli_good_keys;

/* Reads the good keys by the feed's recipe: those of --never, and the exceptions in a block list
 * (@@||name^).  For a block list it also reports the forms of its lines. */
cli_good_keys cli_good_keys_read(const cli_settings *s, const cli_filter_params *params,
                                 const cli_feed *feed);

/* Gives the filter its exceptions and reports how many. */
void cli_good_keys_finish(cli_good_keys *good, umbel_filter *f, const cli_settings *s);

/* Warns if f has fewer exceptions than there were before: good keys may be found again.  Returns
 * the exit status of a command that would otherwise end with `status`. */
int cli_good_keys_status(const umbel_filter *f, const char *name, uint64_t before, int status);

#endif
