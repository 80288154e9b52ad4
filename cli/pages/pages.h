/* SPDX-License-Identifier: MIT
 *
 * pages.h - help, man pages and shell completions, generated from the tables
 */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include <stdio.h>

#include "options/options.h"

/* The list in main.c, terminated by NULL. */
extern const cli_command *const cli_commands[];

/* umbel itself as a command, for its help and its man page. */
extern const cli_command cli_umbel;

void cli_help(const cli_command *c, FILE *to);
void cli_help_all(const cli_command *c, FILE *to);

/* False: no such topic. */
bool cli_help_topic(const char *name, FILE *to);
void cli_man_page(const cli_command *c, FILE *to);
bool cli_completion(const char *shell, FILE *to);

/* The help of an option and the names that it takes, in `out`. */
char *cli_option_help(const cli_option *o, char *out, size_t cap);

/* The values that an option takes, separated by `separator`: "" for a file, NULL for anything;
 * `room` has CLI_NAMES bytes. */
const char *cli_values_of(const cli_option *o, const char *separator, char *room);

#endif
