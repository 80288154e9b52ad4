/* SPDX-License-Identifier: MIT
 *
 * recipe_options.c - the options that say how a line becomes a key, as the text of a recipe
 *
 * The library knows what the words mean.  Here they are divided into those that select a part of a
 * line, which an option may replace, and those that say what is done to it.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "options/recipe_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "umbel_recipe.h"

typedef struct words {
    char *selection; /* field=, column= or json=; NULL: the whole line */
    char *delimiter; /* delimiter=, or NULL */
    char *meaning;   /* domain, sha1, ntlm or type=; NULL: bytes */
    bool csv, header, crlf, trim, lower, upper, missing_empty;
} words;

/* ---- Texts ---- */

static FILE *open_text(char **text) {
    static size_t len;
    FILE *to = open_memstream(text, &len);
    if (!to) cli_die(NULL, NULL, "out of memory");
    return to;
}

/* When memory runs out, fclose may succeed and leave no text. */
static void close_text(FILE *to, char *const *text) {
    bool failed = ferror(to);
    failed |= fclose(to) != 0;
    if (failed || !*text) cli_die(NULL, NULL, "out of memory");
}

/* Up to the next blank that is not in quotes. */
static size_t word_length(const char *text) {
    bool quoted = false;
    size_t n = 0;
    for (; text[n] && (quoted || text[n] != ' '); n++) {
        if (quoted && text[n] == '\\' && text[n + 1]) {
            n++;
        } else if (text[n] == '"') {
            quoted = !quoted;
        }
    }
    return n;
}

static bool begins(const char *word, const char *with) {
    return strncmp(word, with, strlen(with)) == 0;
}

static void sort_word(words *w, const char *word, size_t len) {
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"csv", &w->csv},     {"header", &w->header},
                 {"crlf", &w->crlf},   {"trim", &w->trim},
                 {"lower", &w->lower}, {"upper", &w->upper},
                 {"line", NULL},       {"missing=empty", &w->missing_empty}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strlen(flags[i].name) != len || memcmp(flags[i].name, word, len) != 0) continue;
        if (flags[i].flag) *flags[i].flag = true;
        return;
    }
    bool part = begins(word, "field=") || begins(word, "column=") || begins(word, "json=");
    char **to = part ? &w->selection : begins(word, "delimiter=") ? &w->delimiter : &w->meaning;
    *to = cli_strndup(word, len);
}

static words words_of(const char *text) {
    words w = {0};
    while (*text) {
        size_t len = word_length(text);
        if (len) sort_word(&w, text, len);
        text += len + (text[len] == ' ');
    }
    return w;
}

static void free_words(words *w) {
    free(w->selection), free(w->delimiter), free(w->meaning);
}

static char *text_of(const words *w) {
    char *text = NULL;
    FILE *to = open_text(&text);
    bool domain = w->meaning && strcmp(w->meaning, "domain") == 0 && !w->selection;
    fprintf(to, "%s%s", w->csv ? "csv " : "",
            w->selection ? w->selection
            : domain     ? "domain"
                         : "line");
    if (w->delimiter) fprintf(to, " %s", w->delimiter);
    fprintf(to, "%s%s%s%s%s", w->header ? " header" : "", w->crlf ? " crlf" : "",
            w->trim ? " trim" : "", w->lower ? " lower" : "", w->upper ? " upper" : "");
    if (w->meaning && !domain) fprintf(to, " %s", w->meaning);
    if (w->missing_empty) fputs(" missing=empty", to);
    close_text(to, &text);
    return text;
}

/* ---- Options ---- */

/* 2, or 1,7, or 2-4, or -1: nobody names a column like that. */
static bool is_list(const char *text) {
    return text[strspn(text, "0123456789,-")] == '\0' && strpbrk(text, "0123456789");
}

static void put_name(const char *name, FILE *to) {
    size_t len = umbel_recipe_quote(name, NULL, 0);
    char *quoted = cli_alloc(len + 1);
    umbel_recipe_quote(name, quoted, len + 1);
    fputs(quoted, to);
    free(quoted);
}

/* -k and --json-key may be repeated. */
static char *selection_of(const cli_settings *s) {
    const cli_text_list *list = s->fields.count ? &s->fields : &s->json_keys;
    bool numbers = s->fields.count && is_list(list->at[0]);
    char *text = NULL;
    FILE *to = open_text(&text);
    fputs(!s->fields.count ? "json=" : numbers ? "field=" : "column=", to);
    for (size_t i = 0; i < list->count; i++) {
        if (i) fputc(',', to);
        if (s->fields.count && is_list(list->at[i]) != numbers) {
            cli_die("-k", "--recipe 'column=...' takes a name made of digits",
                    "'%s' and '%s' are a number and a name", list->at[0], list->at[i]);
        }
        if (s->fields.count && !numbers) {
            put_name(list->at[i], to);
        } else {
            fputs(list->at[i], to);
        }
    }
    close_text(to, &text);
    return text;
}

static char *delimiter_of(uint8_t c) {
    char text[32];
    if (c == '\t' || c == ' ' || c == ',') {
        snprintf(text, sizeof text, "delimiter=%s",
                 c == '\t'  ? "tab"
                 : c == ' ' ? "space"
                            : "comma");
    } else if (c > ' ' && c < 0x7f && c != '"' && c != '\\') {
        snprintf(text, sizeof text, "delimiter=%c", c);
    } else {
        snprintf(text, sizeof text, "delimiter=0x%02x", c);
    }
    return cli_strndup(text, strlen(text));
}

/* --domains, --sha1, --ntlm or --type; NULL if none is given. */
static char *meaning_of(const cli_settings *s) {
    const cli_option_id ids[] = {OPT_DOMAINS, OPT_SHA1, OPT_NTLM, OPT_TYPE};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < i; k++) cli_exclude(s, ids[k], ids[i]);
    }
    char text[64] = "";
    if (s->type != UMBEL_TYPE_STRING) {
        snprintf(text, sizeof text, "type=%s", umbel_type_name(s->type));
    } else if (s->domains || s->sha1 || s->ntlm) {
        snprintf(text, sizeof text, "%s", s->domains ? "domain" : s->sha1 ? "sha1" : "ntlm");
    }
    return *text ? cli_strndup(text, strlen(text)) : NULL;
}

static void select_given(words *w, const cli_settings *s) {
    cli_exclude(s, OPT_FIELD, OPT_JSON_KEY);
    cli_exclude(s, OPT_CSV, OPT_JSON_KEY);
    cli_exclude(s, OPT_DELIMITER, OPT_JSON_KEY);
    if (s->fields.count || s->json_keys.count) {
        free(w->selection), free(w->delimiter);
        w->selection = selection_of(s);
        w->delimiter = NULL;
        w->csv = w->header = false;
    }
    if (s->delimiter) {
        free(w->delimiter);
        w->delimiter = delimiter_of(s->delimiter);
    }
    w->csv |= s->csv;
    w->header |= s->header;
    w->missing_empty |= s->missing_empty;
    if (w->selection) return;
    if (s->delimiter) cli_die("-t", "-k N selects one", "no field is selected");
    if (s->csv) cli_die("--csv", "-k N selects one", "no field is selected");
    if (s->missing_empty) cli_die("--missing-empty", "-k N selects one", "no field is selected");
}

static void normalise_given(words *w, const cli_settings *s) {
    char *meaning = meaning_of(s);
    cli_exclude(s, OPT_LOWER, OPT_UPPER);
    cli_exclude(s, OPT_CRLF, OPT_NULL);
    w->crlf |= s->crlf;
    w->trim |= s->trim;
    w->lower |= s->lower;
    w->upper |= s->upper;
    bool other = meaning && w->meaning && strcmp(meaning, w->meaning) != 0;
    if ((w->lower && w->upper) || other) {
        cli_die(s->command->name, "its own recipe is applied automatically; umbel info shows it",
                "the filter's keys are made differently: %s",
                other      ? w->meaning
                : s->lower ? "upper"
                           : "lower");
    }
    if (!meaning) return;
    free(w->meaning);
    w->meaning = meaning;
}

char *cli_recipe_text(const cli_settings *s, const char *stored) {
    static const uint8_t others[] = {
        OPT_FIELD, OPT_DELIMITER, OPT_CSV,     OPT_HEADER, OPT_CRLF, OPT_TRIM, OPT_LOWER,
        OPT_UPPER, OPT_JSON_KEY,  OPT_DOMAINS, OPT_SHA1,   OPT_NTLM, OPT_TYPE, OPT_MISSING_EMPTY};
    if (s->recipe) {
        for (size_t i = 0; i < sizeof others; i++) cli_exclude(s, OPT_RECIPE, others[i]);
        return cli_strndup(s->recipe, strlen(s->recipe));
    }
    words w = words_of(stored);
    select_given(&w, s);
    normalise_given(&w, s);
    char *text = text_of(&w);
    free_words(&w);
    return text;
}

/* ---- Two recipes ---- */

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool cli_recipe_same_records(const char *a, const char *b) {
    words x = words_of(a), y = words_of(b);
    bool names = x.selection && begins(x.selection, "column=");
    bool other_names = y.selection && begins(y.selection, "column=");
    bool same = x.csv == y.csv && (x.header || names) == (y.header || other_names) &&
                (!x.csv || same_text(x.delimiter, y.delimiter));
    free_words(&x), free_words(&y);
    return same;
}
