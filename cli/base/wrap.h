/* SPDX-License-Identifier: MIT
 *
 * wrap.h - text and plots within the width of a terminal
 */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdbool.h>
#include <stdio.h>

/* Columns of the terminal that the stream is, within 40 and 200; 80 if it is none. */
int cli_width(FILE *to);

/* Text wrapped at the width, at most 100, with a newline at its end.  `column` characters of the
 * first line are printed already; other lines begin at `indent`. */
void cli_wrapped(const char *text, int column, int indent, FILE *to);

/* A sentence on standard output, wrapped. */
void cli_say(const char *what, ...) __attribute__((format(printf, 1, 2)));

/* A sentence on standard error that is put together from parts: what is printed between the two is
 * wrapped on a terminal, and one line otherwise.  One thread at a time. */
FILE *cli_sentence(void);
void cli_sentence_end(FILE *sentence);

/* Whether the locale's characters are UTF-8. */
bool cli_utf8(void);

/* A bar of `cells` characters, in eighths of one where the locale has block characters. */
void cli_bar(double cells, FILE *to);

#endif
