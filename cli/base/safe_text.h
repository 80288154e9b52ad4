/* SPDX-License-Identifier: MIT
 *
 * safe_text.h - text from files and servers, printed so that it cannot control the terminal
 *
 * A question mark replaces each control character (C0, DEL, C1), each character that reorders or
 * hides the text around it (bidirectional and tag characters, line separators) and each byte that
 * is not UTF-8.  Messages and reports are printed this way; data (lines, JSON, filters) is not.
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
