/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* struct winsize */
#include "base/wrap.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, USUAL = 80, WIDEST_TEXT = 100, WIDEST = 200 };

int cli_width(FILE *to) {
    struct winsize size;
    int fd = fileno(to);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || !size.ws_col) return USUAL;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
}

void cli_wrapped(const char *text, int column, int indent, FILE *to) {
    int width = cli_width(to);
    if (width > WIDEST_TEXT) width = WIDEST_TEXT;
    bool first = true;
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (!first && column + 1 + len > width) {
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

void cli_print_sentence(const char *what, ...) {
    char text[1024];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    cli_wrapped(text, 0, 0, stdout);
}

static struct {
    char *text;
    size_t len;
} sentence;

FILE *cli_sentence(void) {
    FILE *to = isatty(STDERR_FILENO) ? open_memstream(&sentence.text, &sentence.len) : NULL;
    return to ? to : stderr;
}

void cli_sentence_end(FILE *to) {
    fputs(to == stderr ? "\n" : "", to);
    if (to == stderr) return;
    if (fclose(to) == 0 && sentence.text) cli_wrapped(sentence.text, 0, 2, stderr);
    free(sentence.text);
    sentence.text = NULL;
}

/* In the order of precedence, as for setlocale. */
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
