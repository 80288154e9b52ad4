/* SPDX-License-Identifier: MIT
 *
 * options.c - reading the command line against the table
 */
#include "options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "umbel_recipe.h"

static const cli_option options[OPTION_COUNT] = {
    [OPT_END] = {.letters = "", .name = "", .help = ""},
#define OPTION(id, letters, name, argument, choices, type, member, help)                         \
    [OPT_##id] = {letters, name, argument, choices, TYPE_##type, offsetof(cli_settings, member), \
                  help},
#define FLAG(id, letters, name, member, help) \
    [OPT_##id] = {letters, name, NULL, NULL, TYPE_FLAG, offsetof(cli_settings, member), help},
#define CHOICE(id, letters, name, help) \
    [OPT_##id] = {letters, name, NULL, NULL, TYPE_FLAG, 0, help},
#define HEADING(id, text) [OPT_##id] = {"", "", NULL, NULL, TYPE_FLAG, 0, text},
#define WORDS(id) [OPT_##id] = {"", "", NULL, NULL, TYPE_FLAG, 0, ""},
#include "options/option_list.h"
};

/* ---- Flags for words of recipes ---- */

/* As in uniq(1) and grep(1). */
static bool is_case(const char *option) {
    return option && strcmp(option, "lower") == 0;
}

/* The rows of words that are a flag; of others the name is NULL. */
static const cli_option *words(void) {
    static cli_option flags[CLI_WORDS];
    static bool made;
    umbel_word word;
    for (uint32_t i = 0; !made && i < CLI_WORDS && umbel_recipe_word(i, &word); i++) {
        flags[i] = (cli_option){.name = word.option,
                                .letters = is_case(word.option) ? "i" : "",
                                .type = TYPE_FLAG,
                                .field = offsetof(cli_settings, words) + i,
                                .help = word.help};
    }
    made = true;
    return flags;
}

const cli_option *cli_option_of(cli_option_id id) {
    return id < OPTION_COUNT ? &options[id] : &words()[id - OPTION_COUNT];
}

const uint8_t *cli_options_of(const cli_command *c) {
    static uint8_t all[UINT8_MAX];
    size_t n = 0;
    for (const uint8_t *id = c->options; *id; id++) {
        if (*id != OPT_WORDS) all[n++] = *id;
        for (unsigned i = 0; *id == OPT_WORDS && i < CLI_WORDS; i++) {
            if (words()[i].name) all[n++] = (uint8_t)(OPTION_COUNT + i);
        }
    }
    all[n] = OPT_END;
    return all;
}

char *cli_option_text(cli_option_id id, char *out) {
    const cli_option *o = cli_option_of(id);
    char *p = out;
    if (*o->letters) p += sprintf(p, "-%c, ", *o->letters);
    sprintf(p, "--%.32s", o->name);
    return out;
}

/* The option of this command with this letter or this name (of `len` bytes); OPT_END: none. */
static cli_option_id find(const cli_command *c, char letter, const char *name, size_t len) {
    for (const uint8_t *id = cli_options_of(c); *id; id++) {
        const cli_option *o = cli_option_of(*id);
        if (letter && strchr(o->letters, letter)) return *id;
        if (name && len && strlen(o->name) == len && memcmp(o->name, name, len) == 0) return *id;
    }
    return OPT_END;
}

/* ---- Typos ---- */

enum { LONGEST = 40 };

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many letters are inserted, left out, replaced or swapped with their neighbours. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t rows[3][LONGEST + 1]; /* the last three rows of the table */
    for (size_t j = 0; j <= b_len; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t other = a[i - 1] != b[j - 1];
            now[j] = min(min(last[j] + 1, now[j - 1] + 1), last[j - 1] + other);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = min(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[a_len % 3][b_len];
}

void cli_suggest(cli_suggestion *s, const char *candidate) {
    size_t len = strlen(s->word), other = strlen(candidate);
    if (len < 2 || len > LONGEST || other > LONGEST) return;
    size_t d = distance(s->word, len, candidate, other), most = len > 8 ? 3 : len > 4 ? 2 : 1;
    if (len > 2 && strncmp(s->word, candidate, len) == 0) d = min(d, 1);
    if (d > most || d >= len || (s->best && d >= s->distance)) return;
    s->best = candidate;
    s->distance = d;
}

static _Noreturn void unknown(const cli_command *c, const char *arg) {
    char hint[96];
    bool top = strcmp(c->name, "umbel") == 0;
    snprintf(hint, sizeof hint, "umbel %.20s%s--help lists its options", top ? "" : c->name,
             top ? "" : " ");
    if (arg[0] == '-' && arg[1] == '-') {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
        cli_suggestion meant = {name, NULL, 0};
        for (const uint8_t *id = cli_options_of(c); *id; id++)
            cli_suggest(&meant, cli_option_of(*id)->name);
        if (meant.best) snprintf(hint, sizeof hint, "did you mean '--%.32s'?", meant.best);
    }
    const char *known = cli_hint_for(top ? NULL : c->name, arg);
    /* Do not quote the value, which may be a secret. */
    cli_die(top ? NULL : c->name, known ? known : hint, "unknown option %.*s",
            (int)strcspn(arg, "="), arg);
}

typedef struct arg_cursor {
    int argc, at;
    char **argv;
} arg_cursor;

/* The value, attached to the option or in the next argument. */
static const char *value_of(arg_cursor *c, const cli_option *o, const char *shown,
                            const char *attached) {
    if (attached) return attached;
    if (c->at + 1 >= c->argc) cli_die(shown, NULL, "needs a value: %s", o->argument);
    return c->argv[++c->at];
}

static void long_option(cli_settings *s, arg_cursor *c) {
    const char *arg = c->argv[c->at], *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) - 2 : strlen(arg) - 2;
    cli_option_id id = find(s->command, 0, arg + 2, len);
    if (id == OPT_END) unknown(s->command, arg);
    const cli_option *o = cli_option_of(id);
    char shown[48];
    snprintf(shown, sizeof shown, "--%.40s", o->name);
    if (o->type == TYPE_FLAG && equals) cli_die(shown, NULL, "takes no value");
    const char *attached = equals ? equals + 1 : o->type == TYPE_OPTIONAL ? "-" : NULL;
    if (equals && !*attached && o->type == TYPE_OPTIONAL) cli_die(shown, NULL, "=FILE is empty");
    cli_option_put(s, id, shown, o->type == TYPE_FLAG ? NULL : value_of(c, o, shown, attached));
}

static void short_options(cli_settings *s, arg_cursor *c) {
    for (const char *p = c->argv[c->at] + 1; *p; p++) {
        char shown[3] = {'-', *p, '\0'};
        cli_option_id id = find(s->command, *p, NULL, 0);
        if (id == OPT_END) unknown(s->command, shown);
        const cli_option *o = cli_option_of(id);
        if (o->type == TYPE_FLAG) {
            cli_option_put(s, id, shown, NULL);
        } else {
            cli_option_put(s, id, shown, value_of(c, o, shown, p[1] ? p + 1 : NULL));
            return;
        }
    }
}

bool cli_takes(const cli_command *c, cli_option_id id) {
    const uint8_t *at = c->options;
    while (*at != OPT_END && *at != id) at++;
    return *at == id;
}

void cli_parse(const cli_command *command, int argc, char **argv, cli_settings *out) {
    *out = (cli_settings){.command = command, .threads = 1};
    cli_modes_begin(out);
    out->args = cli_alloc((size_t)argc * sizeof *out->args);
    bool options_end = false;
    for (arg_cursor c = {argc, 1, argv}; c.at < argc; c.at++) {
        char *arg = argv[c.at];
        if (options_end || arg[0] != '-' || arg[1] == '\0') {
            out->args[out->nargs++] = arg;
        } else if (strcmp(arg, "--") == 0) {
            options_end = true;
        } else if (arg[1] == '-') {
            long_option(out, &c);
        } else {
            short_options(out, &c);
        }
    }
    cli_modes_settle(out);
}

void cli_settings_free(cli_settings *s) {
    free(s->args);
    for (size_t i = 0; i < s->meta.count; i += 2) free((char *)(uintptr_t)s->meta.at[i]);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const cli_option *option = cli_option_of((cli_option_id)id);
        if (option->type != TYPE_LIST && option->type != TYPE_PAIRS) continue;
        cli_text_list *list = (void *)((char *)s + option->field);
        free(list->at);
        list->at = NULL; /* two options may share a list */
    }
}

void cli_exclude(const cli_settings *s, cli_option_id a, cli_option_id b) {
    if (!cli_given(s, a) || !cli_given(s, b)) return;
    cli_die(s->command->name, "give only one of them", "--%s and --%s contradict each other",
            cli_option_of(a)->name, cli_option_of(b)->name);
}

void cli_expect_args(const cli_settings *s, int min, int max) {
    char hint[160];
    snprintf(hint, sizeof hint, "umbel %.20s %.120s", s->command->name, s->command->synopsis);
    if (s->nargs < min) cli_die(s->command->name, hint, "missing argument");
    if (max >= 0 && s->nargs > max) {
        cli_die(s->command->name, hint, "unexpected argument '%s'", s->args[max]);
    }
}
