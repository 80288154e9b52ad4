/* SPDX-License-Identifier: MIT
 *
 * mapped_guard.h - mapped filters whose file is truncated or overwritten while they are read
 *
 * umbel replaces files, and a mapping keeps the old one.  But `cp new old` truncates the file in
 * place: touching what was mapped raises SIGBUS, or shows other bits.
 */
#ifndef CLI_MAPPED_GUARD_H
#define CLI_MAPPED_GUARD_H

#include <stdbool.h>

/* From the first call on, SIGBUS leads to an error message and exit status CLI_ERROR. */
void cli_guard_mappings(void);

/* Calls work(ctx); false if the file shrank meanwhile, so that its results are invalid.  What it
 * had allocated is leaked, so the program should end soon. */
bool cli_guarded(void (*work)(void *ctx), void *ctx);

/* Remembers the state of an open file that is about to be mapped; fd may be -1. */
void cli_mapping_watch(const char *path, int fd);

/* Exits if one of these files has been written to since, and says `so`, what follows from that;
 * replacing a file does not count. */
void cli_mappings_unchanged(const char *so);

#endif
