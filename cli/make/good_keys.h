/* SPDX-License-Identifier: MIT
 *
 * good_keys.h - umbel build --never: keys that the filter must not find, and what a block list has
 */
#ifndef CLI_GOOD_KEYS_H
#define CLI_GOOD_KEYS_H

#include "lines/pipeline.h"
#include "options/filter_options.h"
#include "umbel_delta.h"
#include "umbel_lookup.h"
#include "umbel_never.h"

typedef struct cli_good_keys {
    umbel_never *never; /* NULL: there are none, or a builder has them */
    bool domains;
    uint64_t told; /* keys that a builder was told of */
} cli_good_keys;

/* Until a filter that is built once has all its keys and good keys, each takes 8 bytes, in memory
 * unless --tmp is given: dies if that is more than --max-memory. */
void cli_limit_hashes(const cli_settings *s, uint64_t keys);

/* Reads the good keys by the feed's recipe: those of --universe and --never, and the exceptions in
 * a block list (@@||name^).  For a block list it also reports the forms of its lines.  With a
 * builder they are told to it. */
cli_good_keys cli_good_keys_read(const cli_settings *s, const cli_filter_params *params,
                                 const cli_feed *feed, umbel_builder *builder);

/* The same for a delta, which makes good keys that it would let in leave; the feed is that of the
 * list afterwards. */
void cli_good_keys_guard(const cli_settings *s, umbel_delta *delta, const cli_feed *feed);

/* Gives the filter its exceptions, unless its builder did, and reports how many. */
void cli_good_keys_finish(cli_good_keys *good, umbel_filter *f, const cli_settings *s);

/* Reports what a builder did with them. */
void cli_good_keys_report(const cli_good_keys *good, const umbel_build_report *report,
                          const umbel_filter *f, const cli_settings *s);

/* Warns if f has fewer exceptions than there were before: good keys may be found again.  Returns
 * the exit status of a command that would otherwise end with `status`. */
int cli_good_keys_status(const umbel_filter *f, const char *name, uint64_t before, int status);

#endif
