/* SPDX-License-Identifier: MIT
 *
 * recipe_options.c - the options that say how a line becomes a key, as the text of a recipe
 *
 * The library knows the words, and which of them exclude each other (umbel_recipe_word).  Most have
 * a flag; four options with a syntax of their own become the others.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "options/recipe_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The words of a text, by row; NULL where there is none. */
typedef struct words {
    char *at[CLI_WORDS];
} words;

static umbel_word row_of(unsigned i) {
    umbel_word row = {0};
    umbel_recipe_word(i, &row);
    return row;
}

/* The row of a word of `len` bytes. */
static unsigned row_named(const char *word, size_t len) {
    umbel_word row;
    for (unsigned i = 0; i < CLI_WORDS && umbel_recipe_word(i, &row); i++) {
        size_t name = strlen(row.name);
        bool valued = row.name[name - 1] == '=';
        if ((valued ? len >= name : len == name) && memcmp(word, row.name, name) == 0) return i;
    }
    return CLI_WORDS;
}

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

static words words_of(const char *text) {
    words w = {{NULL}};
    while (*text) {
        size_t len = word_length(text);
        unsigned i = row_named(text, len);
        if (i < CLI_WORDS) w.at[i] = cli_strndup(text, len);
        text += len + (text[len] == ' ');
    }
    return w;
}

static void drop(words *w, unsigned i) {
    free(w->at[i]);
    w->at[i] = NULL;
}

static void free_words(words *w) {
    for (unsigned i = 0; i < CLI_WORDS; i++) drop(w, i);
}

static void drop_group(words *w, umbel_word_group group) {
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        if (w->at[i] && row_of(i).group == group) drop(w, i);
    }
}

/* In the order of the rows, which is that of canonical texts. */
static char *text_of(const words *w) {
    char *text = NULL;
    FILE *to = open_text(&text);
    const char *between = "";
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        if (!w->at[i]) continue;
        fprintf(to, "%s%s", between, w->at[i]);
        between = " ";
    }
    close_text(to, &text);
    return text;
}

/* ---- Options with a syntax of their own ---- */

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

/* ---- What the options say ---- */

static cli_option_id option_of(unsigned row) {
    static const struct {
        const char *word;
        cli_option_id option;
    } own[] = {{"field=", OPT_FIELD},
               {"column=", OPT_FIELD},
               {"json=", OPT_JSON_KEY},
               {"delimiter=", OPT_DELIMITER},
               {"type=", OPT_TYPE}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(own[i].word, row_of(row).name) == 0) return own[i].option;
    }
    return (cli_option_id)(OPTION_COUNT + row);
}

static void give(words *w, const char *word) {
    w->at[row_named(word, strlen(word))] = cli_strndup(word, strlen(word));
}

static words words_given(const cli_settings *s) {
    words w = {{NULL}};
    char text[64];
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        umbel_word row = row_of(i);
        snprintf(text, sizeof text, "%s%s", row.name, row.value ? row.value : "");
        if (s->words[i]) give(&w, text);
    }
    if (s->fields.count || s->json_keys.count) {
        char *selection = selection_of(s);
        give(&w, selection);
        free(selection);
    }
    snprintf(text, sizeof text, "delimiter=0x%02x", s->delimiter);
    if (s->delimiter) give(&w, text);
    snprintf(text, sizeof text, "type=%s", umbel_type_name(s->type));
    if (s->type != UMBEL_TYPE_STRING) give(&w, text);
    return w;
}

static void exclude(const cli_settings *s, const words *w) {
    cli_exclude(s, OPT_FIELD, OPT_JSON_KEY);
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        umbel_word row = row_of(i);
        if (!w->at[i]) continue;
        if (s->recipe) cli_exclude(s, OPT_RECIPE, option_of(i));
        if (row.traits & UMBEL_RECIPE_CRLF) cli_exclude(s, option_of(i), OPT_NULL);
        if (row.group == UMBEL_WORD_FIELDS && row.part) cli_exclude(s, option_of(i), OPT_JSON_KEY);
        for (unsigned k = 0; row.group >= UMBEL_WORD_SELECT && k < i; k++) {
            bool same = w->at[k] && row_of(k).group == row.group;
            if (same) cli_exclude(s, option_of(k), option_of(i));
        }
    }
}

/* What is done to keys can be extended, but not replaced. */
static void refuse_other_keys(const cli_settings *s, const words *stored, const words *w) {
    for (unsigned i = 0; i < CLI_WORDS * CLI_WORDS; i++) {
        unsigned has = i / CLI_WORDS, gets = i % CLI_WORDS;
        umbel_word_group group = row_of(has).group;
        if (!stored->at[has] || !w->at[gets] || group < UMBEL_WORD_TRIM) continue;
        if (row_of(gets).group != group || !strcmp(stored->at[has], w->at[gets])) continue;
        cli_die(s->command->name, "its own recipe is applied automatically; umbel info shows it",
                "the filter's keys are made differently: %s", stored->at[has]);
    }
}

/* A list of domains has forms of its own for its lines, so no other word can select a part. */
static void settle_selection(words *w, const words *given) {
    unsigned line = row_named("line", 4);
    bool selected = false;
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        umbel_word row = row_of(i);
        if (given->at[i] && row.traits & UMBEL_RECIPE_PARENTS && !w->at[i]) drop(w, line);
        bool other = given->at[i] && row.group == UMBEL_WORD_SELECT;
        if (other) drop_group(w, UMBEL_WORD_SELECT), drop_group(w, UMBEL_WORD_FIELDS);
        selected |= other || (w->at[i] && row.group == UMBEL_WORD_SELECT && i != line);
    }
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        char shown[48];
        if (!given->at[i] || !row_of(i).part || selected) continue;
        cli_die(cli_option_text(option_of(i), shown), "-k N selects one", "no field is selected");
    }
}

/* Whether the words but one are a recipe. */
static bool parses_without(const words *all, unsigned one) {
    words w = *all;
    bool selects = false;
    umbel_recipe *recipe = NULL;
    w.at[one] = NULL;
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        umbel_word row = row_of(i);
        selects |= w.at[i] && (row.group == UMBEL_WORD_SELECT || row.traits & UMBEL_RECIPE_PARENTS);
    }
    char whole[] = "line";
    if (!selects) w.at[row_named(whole, 4)] = whole;
    char *text = text_of(&w);
    bool parses = umbel_recipe_parse(text, &recipe, NULL) == UMBEL_OK;
    umbel_recipe_free(recipe);
    free(text);
    return parses;
}

/* If the words do not make a recipe, names two options, one of which has to go. */
static void refuse_pair(const cli_settings *s, const words *w, const words *given) {
    if (parses_without(w, CLI_WORDS - 1)) return; /* there are fewer words */
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        for (unsigned k = 0; k < i && given->at[i]; k++) {
            if (given->at[k] && parses_without(w, i) && parses_without(w, k)) {
                cli_exclude(s, option_of(k), option_of(i));
            }
        }
    }
}

char *cli_recipe_text(const cli_settings *s, const char *stored) {
    words w = words_of(stored), given = words_given(s);
    exclude(s, &given);
    refuse_other_keys(s, &w, &given);
    settle_selection(&w, &given);
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        if (given.at[i]) drop(&w, i), w.at[i] = given.at[i];
    }
    refuse_pair(s, &w, &given);
    char *text = s->recipe ? cli_strndup(s->recipe, strlen(s->recipe)) : text_of(&w);
    free_words(&w);
    return text;
}

/* Nothing that changes keys changes times. */
char *cli_time_text(const cli_settings *s, const char *stored) {
    cli_settings time = {.given_keys = {0}};
    words w = words_of(stored);
    bool json = *s->time_key == '.';
    *(json ? &time.json_keys : &time.fields) = (cli_text_list){(const char **)&s->time_key, 1};
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        umbel_word row = row_of(i);
        bool of_fields = row.group == UMBEL_WORD_FIELDS && !(json && row.part);
        if (w.at[i] && !of_fields) drop(&w, i);
    }
    char *selection = selection_of(&time);
    give(&w, selection);
    free(selection);
    char *text = text_of(&w);
    free_words(&w);
    return text;
}

cli_option_id cli_changes_given(const cli_settings *s) {
    words w = words_given(s);
    cli_option_id changes = s->recipe ? OPT_RECIPE : OPT_END;
    for (unsigned i = 0; i < CLI_WORDS; i++) {
        if (w.at[i] && row_of(i).group >= UMBEL_WORD_TRIM) changes = option_of(i);
    }
    free_words(&w);
    return changes;
}

void cli_digest_options(char *out, size_t cap) {
    size_t used = 0;
    *out = '\0';
    for (unsigned i = 0; i < CLI_WORDS && used < cap; i++) {
        umbel_word row = row_of(i);
        if (!(row.traits & UMBEL_RECIPE_DIGEST)) continue;
        used += (size_t)snprintf(out + used, cap - used, "%s--%s", used ? " or " : "", row.option);
    }
}

/* ---- Two recipes ---- */

bool cli_recipe_same_records(const umbel_recipe *a, const umbel_recipe *b) {
    const uint32_t traits = UMBEL_RECIPE_CSV | UMBEL_RECIPE_HEADER;
    uint32_t first = umbel_recipe_traits(a) & traits, other = umbel_recipe_traits(b) & traits;
    words x = words_of(umbel_recipe_text(a)), y = words_of(umbel_recipe_text(b));
    unsigned i = row_named("delimiter=", 10);
    bool same_delimiter = x.at[i] && y.at[i] ? strcmp(x.at[i], y.at[i]) == 0 : x.at[i] == y.at[i];
    free_words(&x), free_words(&y);
    return first == other && (same_delimiter || !(first & UMBEL_RECIPE_CSV));
}
