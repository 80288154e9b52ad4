/* SPDX-License-Identifier: MIT
 *
 * wrap.c - text and plots within the width of a terminal
 */
#define _POSIX_C_SOURCE 200809L
#include "base/wrap.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void cli_wrapped(const char *text, int column, int indent, FILE *to) {
    bool first = true;
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (!first && column + 1 + len > CLI_WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", len, text);
        column += len;
        first = false;
        text += len;
        text += *text == ' ';
    }
    fputc('\n', to);
}

void cli_say(const char *what, ...) {
    char text[1024];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    cli_wrapped(text, 0, 0, stdout);
}

/* The variables in the order in which they win, as setlocale reads them. */
bool cli_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (!locale || !*locale) continue;
        const char *dot = strchr(locale, '.');
        return dot && (strncasecmp(dot, ".utf-8", 6) == 0 || strncasecmp(dot, ".utf8", 5) == 0);
    }
    return false;
}

void cli_bar(double cells, FILE *to) {
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    bool blocks = cli_utf8();
    int eighths = (int)lround(8 * fmax(cells, 0));
    if (!blocks) eighths = 8 * (int)lround(fmax(cells, 0));
    for (int i = 0; i < eighths / 8; i++) fputs(blocks ? "█" : "#", to);
    fputs(parts[eighths % 8], to);
}
