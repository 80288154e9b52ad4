/* SPDX-License-Identifier: MIT
 *
 * help.c - `umbel COMMAND --help`: examples first
 */
#include <string.h>

#include "command.h"

/* Text with two blanks before each line. */
static void indented(const char *text, FILE *to) {
    while (*text) {
        size_t len = strcspn(text, "\n");
        fprintf(to, len ? "  %.*s\n" : "\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

/* Words, wrapped at `width` with `indent` blanks from the second line on. */
static void wrapped(const char *text, int column, int indent, int width, FILE *to) {
    while (*text) {
        size_t len = strcspn(text, " ");
        if (column + (int)len > width && column > indent) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        }
        fprintf(to, "%.*s", (int)len, text);
        column += (int)len;
        text += len;
        if (*text == ' ') {
            if (column < width) fputc(' ', to);
            column++;
            text++;
        }
    }
    fputc('\n', to);
}

static void option_line(enum cli_option_id id, FILE *to) {
    const struct cli_option *o = &cli_options[id];
    char left[64], letters[16] = "    ";
    if (*o->letters) snprintf(letters, sizeof letters, "-%c, ", *o->letters);
    int n = snprintf(left, sizeof left, "  %s--%s%s%s", letters, o->name, o->argument ? " " : "",
                     o->argument ? o->argument : "");
    fprintf(to, "%-28s", left);
    if (n >= 28) fprintf(to, "\n%28s", "");
    wrapped(o->help, 28, 28, 96, to);
}

static void command_list(FILE *to) {
    fputs("\nCommands\n", to);
    for (const struct cli_command *const *c = cli_commands; *c; c++) {
        fprintf(to, "  %-10s %s\n", (*c)->name, (*c)->summary);
    }
    fputs("\n`umbel help COMMAND` shows examples and every option of a command.\n", to);
}

void cli_help(const struct cli_command *c, FILE *to) {
    bool whole = c == &cli_umbel;
    fprintf(to, "%s%s - %s\n\nExamples\n", whole ? "" : "umbel ", c->name, c->summary);
    indented(c->examples, to);
    fprintf(to, "\nUsage\n  umbel%s%s %s\n\n", whole ? "" : " ", whole ? "" : c->name, c->synopsis);
    for (const char *p = c->text; *p;) {
        size_t len = strcspn(p, "\n");
        char paragraph[2048];
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)len, p);
        wrapped(paragraph, 0, 0, 96, to);
        p += len + (p[len] == '\n');
    }
    if (whole) command_list(to);
    fputs("\nOptions\n", to);
    for (const uint8_t *id = c->options; *id; id++) option_line(*id, to);
    fprintf(to, "\nExit status: %s.\n", c->exits);
}
