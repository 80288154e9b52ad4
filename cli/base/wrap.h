/* SPDX-License-Identifier: MIT
 *
 * wrap.h - text and plots within the width of a terminal
 */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdbool.h>
#include <stdio.h>

enum { CLI_WIDTH = 80 };

/* Text wrapped at CLI_WIDTH, with a newline at its end.  `column` characters of the first line are
 * printed already; other lines begin at `indent`. */
void cli_wrapped(const char *text, int column, int indent, FILE *to);

/* A sentence on standard output, wrapped. */
void cli_say(const char *what, ...) __attribute__((format(printf, 1, 2)));

/* Whether the locale's characters are UTF-8. */
bool cli_utf8(void);

/* A bar of `cells` characters, in eighths of one where the locale has block characters. */
void cli_bar(double cells, FILE *to);

#endif
