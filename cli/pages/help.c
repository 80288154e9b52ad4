/* SPDX-License-Identifier: MIT
 *
 * help.c - `umbel COMMAND --help`: examples and common options first, details last
 */
#include <string.h>

#include "base/wrap.h"
#include "options/filter_options.h"
#include "pages/pages.h"

enum { HELP_AT = 28, NARROW_AT = 8 };

/* As much of a command as fits, up to a blank outside quotes, so that the shell reads the parts as
 * one. */
static size_t fitting(const char *text, size_t len, size_t room) {
    size_t best = 0;
    char quote = 0;
    if (len <= room) return len;
    for (size_t i = 0; i < len && (i < room - 2 || !best); i++) {
        if (!quote && (text[i] == '\'' || text[i] == '"')) {
            quote = text[i];
        } else if (quote == text[i]) {
            quote = 0;
        } else if (!quote && text[i] == ' ' && i > 2) {
            best = i;
        }
    }
    return best ? best : len;
}

/* Shell commands, indented by two blanks and continued if they are too long. */
static void indented(const char *text, FILE *to) {
    size_t width = (size_t)cli_width(to);
    while (*text) {
        bool comment = *text == '#', first = true;
        for (size_t n, len = strcspn(text, "\n"); len; len -= n, text += n, first = false) {
            const char *lead = first ? "  " : comment ? "  # " : "      ";
            n = fitting(text, len, width - strlen(lead));
            fprintf(to, "%s%.*s%s\n", lead, (int)n, text, n < len && !comment ? " \\" : "");
            if (n < len) n++; /* the blank */
        }
        text += *text == '\n';
    }
}

static void option_line(cli_option_id id, FILE *to) {
    const cli_option *o = cli_option_of(id);
    char left[64], letters[16] = "    ";
    if (*o->letters) snprintf(letters, sizeof letters, "-%c, ", *o->letters);
    int n = snprintf(left, sizeof left, "  %s--%s%s%s", letters, o->name,
                     o->argument && o->type != TYPE_OPTIONAL ? " " : "",
                     o->argument ? o->argument : "");
    int at = cli_width(to) < 64 ? NARROW_AT : HELP_AT;
    fprintf(to, "%-*s", at, left);
    if (n >= at) fprintf(to, "\n%*s", at, "");
    char help[2 * CLI_NAMES];
    cli_wrapped(cli_option_help(o, help, sizeof help), at, at, to);
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
        fprintf(to, "  %-10s ", (*c)->name);
        cli_wrapped((*c)->summary, 13, 13, to);
    }
    fputc('\n', to);
    cli_wrapped("`umbel help COMMAND` shows examples and all options of a command.", 0, 0, to);
}

void cli_help(const cli_command *c, FILE *to) {
    bool top = c == &cli_umbel;
    char text[512];
    snprintf(text, sizeof text, "%s%s - %s", top ? "" : "umbel ", c->name, c->summary);
    cli_wrapped(text, 0, 2, to);
    fputs("\nExamples\n", to);
    indented(c->examples, to);
    snprintf(text, sizeof text, "umbel%s%s %s", top ? "" : " ", top ? "" : c->name, c->synopsis);
    fputs("\nUsage\n  ", to);
    cli_wrapped(text, 2, 6, to);
    fputc('\n', to);
    const char *more = paragraph(c->text, to);
    if (top) command_list(to);
    fputs("\nOptions\n", to);
    for (const uint8_t *id = cli_options_of(c); *id; id++) {
        if (cli_is_heading(*id)) {
            fprintf(to, "\n%s\n", cli_option_of(*id)->help);
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
