/* SPDX-License-Identifier: MIT
 *
 * mapped_guard.h - mapped filters whose file is truncated or overwritten while they are read
 *
 * umbel itself replaces files, and a mapping keeps the one that it had.  But `cp new old` empties
 * the file in place: what was mapped is gone, and touching it is SIGBUS; or other bits come in.
 */
#ifndef CLI_MAPPED_GUARD_H
#define CLI_MAPPED_GUARD_H

#include <stdbool.h>

/* From now on SIGBUS is an error message and exit status CLI_ERROR; the first call counts. */
void cli_guard_mappings(void);

/* Calls work(ctx); false if the file shrank under it, and then nothing that it computed counts.
 * What it had allocated is lost, so the program should end soon. */
bool cli_guarded(void (*work)(void *ctx), void *ctx);

/* Remembers the state of an open file that is about to be mapped; fd -1: there is none. */
void cli_mapping_watch(const char *path, int fd);

/* Exits, saying what follows from it, if one of these files was written to since; a file that has
 * been replaced was not. */
void cli_mappings_unchanged(const char *so);

#endif
