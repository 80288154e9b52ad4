/* SPDX-License-Identifier: MIT
 *
 * spool.h - pipes that have to be read twice
 */
#ifndef CLI_SPOOL_H
#define CLI_SPOOL_H

#include "lines/pipeline.h"

/* Copies what cannot be read again to unnamed files in `dir` (NULL: $TMPDIR, or /tmp), and lets the
 * feed read those; they are gone when the command ends.  Free feed->spooled afterwards.  Messages
 * still name the pipe where it is standard input or a descriptor. */
void cli_feed_spool(cli_feed *feed, const char *dir);

#endif
