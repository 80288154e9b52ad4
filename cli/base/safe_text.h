/* SPDX-License-Identifier: MIT
 *
 * safe_text.h - what files, names and servers say, printed so that it cannot command a terminal
 *
 * Shown as a question mark each: control characters (C0, DEL, C1), those that reorder or hide the
 * text around them (bidirectional and tag characters, line separators), and bytes that are not
 * UTF-8.  Everything for people is printed through these; data (lines, JSON, filters) is not.
 */
#ifndef CLI_SAFE_TEXT_H
#define CLI_SAFE_TEXT_H

#include <stdarg.h>
#include <stdio.h>

/* Returns the number of characters. */
int cli_put_safe(const char *text, FILE *to);

/* Formats like printf; the newline at the end is the caller's. */
void cli_print_safe(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_vprint_safe(FILE *to, const char *format, va_list args);

#endif
