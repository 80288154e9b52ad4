/* SPDX-License-Identifier: MIT
 *
 * help.c - `umbel help COMMAND`, which fits a screen, `umbel help COMMAND --all`, and topics
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wrap.h"
#include "command/command.h"
#include "options/filter_options.h"
#include "pages/pages.h"

enum { HELP_AT = 28, NARROW_AT = 8 };

/* As much of a command as fits, up to a blank outside quotes, so that the shell reads the parts as
 * one; a comment has apostrophes, not quotes. */
static size_t fitting(const char *text, size_t len, size_t room, bool comment) {
    size_t best = 0;
    char quote = 0;
    if (len <= room) return len;
    for (size_t i = 0; i < len && (i < room - 2 || !best); i++) {
        if (!comment && !quote && (text[i] == '\'' || text[i] == '"')) {
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
            n = fitting(text, len, width - strlen(lead), comment);
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
    cli_wrapped(
        "`umbel help COMMAND` shows a command, `umbel help keys`, `formats` and `files` what many "
        "have in common.",
        0, 0, to);
}

static void beginning(const cli_command *c, const char *examples, FILE *to) {
    bool top = c == &cli_umbel;
    char text[512];
    snprintf(text, sizeof text, "%s%s - %s", top ? "" : "umbel ", c->name, c->summary);
    cli_wrapped(text, 0, 2, to);
    fputs("\nExamples\n", to);
    indented(examples, to);
    snprintf(text, sizeof text, "umbel%s%s %s", top ? "" : " ", top ? "" : c->name, c->synopsis);
    fputs("\nUsage\n  ", to);
    cli_wrapped(text, 2, 6, to);
}

static void ending(const cli_command *c, FILE *to) {
    char exits[256];
    snprintf(exits, sizeof exits, "Exit status: %s.", c->exits);
    fputc('\n', to);
    cli_wrapped(exits, 0, 0, to);
}

void cli_help_all(const cli_command *c, FILE *to) {
    beginning(c, c->examples, to);
    fputc('\n', to);
    const char *more = paragraph(c->text, to);
    if (c == &cli_umbel) command_list(to);
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
    ending(c, to);
}

/* ---- One screen --------------------------------------------------------------------------- */

enum { SCREEN = 40, COMMON = 12, EXAMPLES = 5 };

/* The first examples, each a comment and its commands. */
static char *first_examples(const char *all, int n) {
    const char *at = all;
    while (*at && (n -= *at == '#' && at != all) > 0) {
        const char *next = strchr(at, '\n');
        at = next ? next + 1 : at + strlen(at);
    }
    char *text = malloc((size_t)(at - all) + 1);
    if (!text) abort();
    memcpy(text, all, (size_t)(at - all));
    text[at - all] = '\0';
    return text;
}

static bool takes_lines(const cli_command *c) {
    return cli_takes(c, OPT_HEADING_LINES);
}

static void short_page(const cli_command *c, int examples, int options, FILE *to) {
    char *few = first_examples(c->examples, examples), text[256];
    int all = 0;
    beginning(c, few, to);
    free(few);
    fputs("\nOptions\n", to);
    for (const uint8_t *id = cli_options_of(c); *id; id++) {
        if (!cli_is_heading(*id) && all++ < options) option_line(*id, to);
    }
    fputc('\n', to);
    snprintf(text, sizeof text, "%s%sMore: man umbel-%s, umbel help %s --all%s.",
             all > options ? "These are the usual ones. " : "",
             takes_lines(c) ? "What is the key of a line: umbel help keys. " : "", c->name, c->name,
             cli_takes(c, OPT_FORMAT) ? ", umbel help formats" : "");
    cli_wrapped(text, 0, 0, to);
    ending(c, to);
}

static int lines_of(const cli_command *c, int examples, int options) {
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    int lines = 0;
    if (!to) return 0;
    short_page(c, examples, options, to);
    if (fclose(to) || !text) return 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++) lines++;
    free(text);
    return lines;
}

void cli_help(const cli_command *c, FILE *to) {
    int examples = EXAMPLES, options = COMMON;
    if (c == &cli_umbel) {
        cli_help_all(c, to);
        return;
    }
    while (examples > 2 && lines_of(c, examples, options) > SCREEN) examples--;
    while (options > 1 && lines_of(c, examples, options) > SCREEN) options--;
    short_page(c, examples, options, to);
}

/* ---- Topics ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
    cli_option_id from; /* the heading of its options; OPT_END: none */
} topics[] = {
    {"keys",
     "The key of a line is the whole line, or what these options select and change. They are stored "
     "with the filter as its recipe, and applied by every command that reads lines for it; "
     "umbel-recipe(7) has the words. A line without a key is never used as one: a warning says how "
     "many there are, and the exit status is 3.",
     OPT_HEADING_LINES},
    {"formats",
     "A filter is umbel's own unless --format names another system's, whose size and hashes it then "
     "has. Formats with a magic number are recognised; for others, the parameters have to be given. "
     "umbel convert --to FORMAT rewrites a filter, where both can hold the same bits.",
     OPT_HEADING_FOREIGN},
    {"files",
     "FILEs are lines, read one after the other; none, or -, is standard input. What is compressed "
     "with gzip, zstd, bzip2, xz or lz4 is read as if it were not. Of many files check, uniq and "
     "count skip one that cannot be read, say so, go on and end with status 2; build, add and remove "
     "end there and change nothing. Lines and reports go to standard output, everything else to "
     "standard error; --json=FILE puts a report with all that was wrong into FILE. A filter is "
     "replaced in one step, under a lock, PATH.umbel-lock: --wait SECONDS limits how long a command "
     "waits for another.",
     OPT_END}};

bool cli_help_topic(const char *name, FILE *to) {
    size_t n = sizeof topics / sizeof *topics, i = 0;
    while (i < n && strcmp(topics[i].name, name) != 0) i++;
    if (i == n) return false;
    paragraph(topics[i].text, to);
    const uint8_t *id = cli_options_of(&cli_command_build);
    while (topics[i].from && *id && *id != topics[i].from) id++;
    if (topics[i].from) fputs("\nOptions\n", to);
    while (topics[i].from && *id && *++id && !cli_is_heading(*id)) option_line(*id, to);
    return true;
}
