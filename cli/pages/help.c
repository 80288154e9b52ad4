/* SPDX-License-Identifier: MIT
 *
 * help.c - `umbel COMMAND --help`: examples and common options first, details last
 */
#include <string.h>

#include "base/wrap.h"
#include "options/filter_options.h"
#include "pages/pages.h"

enum { HELP_AT = 28 };

/* Text indented by two blanks. */
static void indented(const char *text, FILE *to) {
    while (*text) {
        size_t len = strcspn(text, "\n");
        fprintf(to, len ? "  %.*s\n" : "\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void option_line(cli_option_id id, FILE *to) {
    const cli_option *o = &cli_options[id];
    char left[64], letters[16] = "    ";
    if (*o->letters) snprintf(letters, sizeof letters, "-%c, ", *o->letters);
    int n = snprintf(left, sizeof left, "  %s--%s%s%s", letters, o->name, o->argument ? " " : "",
                     o->argument ? o->argument : "");
    fprintf(to, "%-*s", HELP_AT, left);
    if (n >= HELP_AT) fprintf(to, "\n%*s", HELP_AT, "");
    char help[2 * CLI_NAMES];
    cli_wrapped(cli_option_help(o, help, sizeof help), HELP_AT, HELP_AT, to);
}

char *cli_option_help(const cli_option *o, char *out, size_t cap) {
    char names[CLI_NAMES];
    bool words = o->choices && o->choices[0] >= 'A' && o->choices[0] <= 'Z';
    const char *values = words ? cli_values_of(o, ", ", names) : "";
    snprintf(out, cap, "%s%s%s", o->help, *values ? "; one of " : "", values);
    return out;
}

/* One paragraph; returns where the next begins. */
static const char *paragraph(const char *text, FILE *to) {
    size_t len = strcspn(text, "\n");
    char one[2048];
    snprintf(one, sizeof one, "%.*s", (int)len, text);
    cli_wrapped(one, 0, 0, to);
    text += len;
    return text + strspn(text, "\n");
}

static void command_list(FILE *to) {
    fputs("\nCommands\n", to);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(to, "  %-10s %s\n", (*c)->name, (*c)->summary);
    }
    fputs("\n`umbel help COMMAND` shows examples and all options of a command.\n", to);
}

void cli_help(const cli_command *c, FILE *to) {
    bool top = c == &cli_umbel;
    fprintf(to, "%s%s - %s\n\nExamples\n", top ? "" : "umbel ", c->name, c->summary);
    indented(c->examples, to);
    fprintf(to, "\nUsage\n  umbel%s%s %s\n\n", top ? "" : " ", top ? "" : c->name, c->synopsis);
    const char *more = paragraph(c->text, to);
    if (top) command_list(to);
    fputs("\nOptions\n", to);
    for (const uint8_t *id = c->options; *id; id++) {
        if (cli_is_heading(*id)) {
            fprintf(to, "\n%s\n", cli_options[*id].help);
        } else {
            option_line(*id, to);
        }
    }
    if (*more) fputs("\nMore\n", to);
    for (const char *sep = ""; *more; sep = "\n") {
        fputs(sep, to);
        more = paragraph(more, to);
    }
    char exits[256];
    snprintf(exits, sizeof exits, "Exit status: %s.", c->exits);
    fputc('\n', to);
    cli_wrapped(exits, 0, 0, to);
}
