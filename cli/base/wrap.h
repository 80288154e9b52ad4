/* SPDX-License-Identifier: MIT
 *
 * wrap.h - text and plots within the width of a terminal
 */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdbool.h>
#include <stdio.h>

/* The width of the terminal, between 40 and 200; 80 if the stream is not one. */
int cli_width(FILE *to);

/* Wraps text at the width, at most 100, and ends it with a newline.  `column` characters of the
 * first line are already printed; other lines begin at `indent`. */
void cli_wrapped(const char *text, int column, int indent, FILE *to);

/* A sentence on standard output, wrapped. */
void cli_print_sentence(const char *what, ...) __attribute__((format(printf, 1, 2)));

/* A sentence on standard error, printed in parts between these calls: wrapped on a terminal, one
 * line otherwise.  One thread at a time. */
FILE *cli_sentence(void);
void cli_sentence_end(FILE *sentence);

/* Whether the locale's characters are UTF-8. */
bool cli_utf8(void);

/* A bar of `cells` characters, in eighths of one where the locale has block characters. */
void cli_bar(double cells, FILE *to);

#endif
