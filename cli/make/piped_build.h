/* SPDX-License-Identifier: MIT
 *
 * piped_build.h - umbel build from a pipe: how many keys there are is known at its end
 */
#ifndef CLI_PIPED_BUILD_H
#define CLI_PIPED_BUILD_H

#include "filter/add_job.h"
#include "options/filter_options.h"

enum { CLI_FIRST_LAYER = 1000000 }; /* keys, of a filter that grows */

/* Keeps the first keys.  If the pipe ends there, the filter is the one that a file of them would
 * get, otherwise one that grows.  `name` is that of the pipe. */
umbel_filter *cli_build_piped(const cli_settings *s, const cli_filter_params *params,
                              const cli_feed *feed, const char *name, cli_lines *read);

#endif
