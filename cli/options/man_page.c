/* SPDX-License-Identifier: MIT
 *
 * man_page.c - `umbel help --man COMMAND`: the same tables as roff
 */
#include <ctype.h>
#include <string.h>

#include "command/command.h"

/* Hyphens as typed, no backslash and no leading dot or quote that roff would act upon. */
static void put_text(const char *text, size_t len, FILE *to) {
    for (size_t i = 0; i < len; i++) {
        bool line_start = i == 0 || text[i - 1] == '\n';
        if (line_start && (text[i] == '.' || text[i] == '\'')) fputs("\\&", to);
        switch (text[i]) {
        case '-': fputs("\\-", to); break;
        case '\\': fputs("\\e", to); break;
        default: fputc(text[i], to);
        }
    }
}

static void put_string(const char *text, FILE *to) {
    put_text(text, strlen(text), to);
}

static void paragraphs(const char *text, FILE *to) {
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, "\n");
        if (len) {
            fputs(".PP\n", to);
            put_text(p, len, to);
            fputc('\n', to);
        }
        p += len + (p[len] == '\n');
    }
}

/* `# comment` lines become text, the others commands in a fixed font. */
static void examples(const char *text, FILE *to) {
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, "\n");
        if (*p == '#') {
            fputs(".PP\n", to);
            put_text(p + 2, len - 2, to);
            fputs("\n", to);
        } else {
            fputs(".PP\n.nf\n.RS\n", to);
            put_text(p, len, to);
            fputs("\n.RE\n.fi\n", to);
        }
        p += len + (p[len] == '\n');
    }
}

static void option(cli_option_id id, FILE *to) {
    const cli_option *o = &cli_options[id];
    fputs(".TP\n", to);
    for (const char *l = o->letters; *l; l++) fprintf(to, "\\fB\\-%c\\fR, ", *l);
    fputs("\\fB\\-\\-", to);
    put_string(o->name, to);
    fputs("\\fR", to);
    if (o->argument) {
        fputs(" \\fI", to);
        put_string(o->argument, to);
        fputs("\\fR", to);
    }
    fputc('\n', to);
    put_string(o->help, to);
    fputs(".\n", to);
}

static void title(const cli_command *c, bool whole, FILE *to) {
    fputs(".\\\" Made by `umbel help --man`; change the tables in cli/, not this page.\n.TH ", to);
    fputs(whole ? "UMBEL" : "UMBEL\\-", to);
    for (const char *p = c->name; *p && !whole; p++) fputc(toupper((unsigned char)*p), to);
    fprintf(to, " 1 \"\" \"umbel %s\" \"User Commands\"\n.SH NAME\n", umbel_version());
    put_string(whole ? "" : "umbel-", to);
    put_string(c->name, to);
    fputs(" \\- ", to);
    put_string(c->summary, to);
    fputs("\n.SH SYNOPSIS\n.B umbel", to);
    if (!whole) fprintf(to, " %s", c->name);
    fputc('\n', to);
    put_string(c->synopsis, to);
    fputc('\n', to);
}

static void see_also(const cli_command *c, bool whole, FILE *to) {
    fputs(".SH SEE ALSO\n", to);
    const char *comma = "";
    if (!whole) {
        fputs(".BR umbel (1)", to);
        comma = ",\n";
    }
    for (const cli_command *const *other = cli_commands; *other; other++) {
        if (*other == c) continue;
        fprintf(to, "%s.BR umbel\\-%s (1)", comma, (*other)->name);
        comma = ",\n";
    }
    fputc('\n', to);
}

void cli_man_page(const cli_command *c, FILE *to) {
    bool whole = c == &cli_umbel;
    title(c, whole, to);
    fputs(".SH DESCRIPTION\n", to);
    paragraphs(c->text, to);
    if (whole) {
        fputs(".SH COMMANDS\n", to);
        for (const cli_command *const *other = cli_commands; *other; other++) {
            fprintf(to, ".TP\n.B %s\n", (*other)->name);
            put_string((*other)->summary, to);
            fputc('\n', to);
        }
    }
    fputs(".SH OPTIONS\n", to);
    for (const uint8_t *id = c->options; *id; id++) option(*id, to);
    fputs(".SH EXIT STATUS\n", to);
    put_string(c->exits, to);
    fputs(".\n.SH EXAMPLES\n", to);
    examples(c->examples, to);
    if (whole) {
        fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours, also on terminals.\n", to);
    }
    see_also(c, whole, to);
}
