/* SPDX-License-Identifier: MIT
 *
 * push_run.h - the two things that umbel push does; there only where hiredis is
 */
#ifndef CLI_PUSH_RUN_H
#define CLI_PUSH_RUN_H

#include "options.h"

/* One filter from a file, or one a shard from lines; returns the exit status. */
int cli_push_file(const struct cli_settings *s);
int cli_push_shards(const struct cli_settings *s);

#endif
