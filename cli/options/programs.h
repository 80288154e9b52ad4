/* SPDX-License-Identifier: MIT
 *
 * programs.h - commands that are programs of their own
 *
 * push, serve and table need libraries that take several times as long to load as a lookup, so
 * umbel starts umbel-push, umbel-serve and umbel-table for them (program.c).  With
 * UMBEL_ONE_PROGRAM they are inside umbel, as all others are.
 */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "options/options.h"

int cli_run_push(const cli_settings *s);
int cli_run_serve(const cli_settings *s);
int cli_run_table(const cli_settings *s);

#ifdef UMBEL_ONE_PROGRAM
#define CLI_APART(run) run
#else
#define CLI_APART(run) NULL
#endif

/* Becomes the program umbel-NAME, with the command's own arguments: argv[0] is its name. */
_Noreturn void cli_become(const char *name, char **argv);

/* The first thing in main: files and messages from here on go where they should. */
void cli_begin(void);

/* What main does with a command's settings once they are parsed; returns the exit status. */
int cli_run(int (*run)(const cli_settings *s), cli_settings *s);

#endif
