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

/* Reads the good keys, by the recipe of the feed: those of --never, and the exceptions in a block
 * list (@@||name^).  Of a block list it also says what forms its lines have. */
cli_good_keys cli_good_keys_read(const cli_settings *s, const cli_filter_params *params,
                                 const cli_feed *feed);

/* Gives the filter its exceptions and says how many. */
void cli_good_keys_finish(cli_good_keys *good, umbel_filter *f, const cli_settings *s);

/* Warns if `before` exceptions went into f and fewer came out: good keys may be found again.  The
 * exit status of a command that would otherwise end with `status`. */
int cli_good_keys_status(const umbel_filter *f, const char *name, uint64_t before, int status);

#endif
