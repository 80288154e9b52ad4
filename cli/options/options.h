/* SPDX-License-Identifier: MIT
 *
 * options.h - every option of every command, defined once
 *
 * A command lists the options it takes by id.  Parsing, --help, the man pages and the shell
 * completions all read one table, made of option_list.h.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/modes.h"
#include "umbel_foreign.h"

typedef enum cli_option_id {
    OPT_END = 0,
#define OPTION(id, ...) OPT_##id,
#define FLAG(id, ...) OPT_##id,
#define CHOICE(id, ...) OPT_##id,
#define HEADING(id, ...) OPT_##id,
#define WORDS(id) OPT_##id,
#include "options/option_list.h"
#undef OPTION
#undef FLAG
#undef CHOICE
#undef HEADING
#undef WORDS
    OPTION_COUNT /* then one for each word of recipes, in the order of umbel_recipe_word */
} cli_option_id;

enum { CLI_WORDS = 32, OPTIONS_AND_WORDS = OPTION_COUNT + CLI_WORDS };

/* What the text of an option becomes, and the type of its field in cli_settings. */
typedef enum cli_option_type {
    TYPE_FLAG,     /* bool */
    TYPE_TEXT,     /* const char * */
    TYPE_OPTIONAL, /* likewise; the value is attached by = or, if there is none, "-" */
    TYPE_COUNT,    /* uint64_t, a number of keys and the like, at least 1 */
    TYPE_COUNT32,  /* uint32_t, likewise */
    TYPE_SIZE,     /* uint64_t, bytes, at least 1 */
    TYPE_NUMBER,   /* uint64_t, at least 0 */
    TYPE_SEED,     /* uint64_t; below 0: negative_seed */
    TYPE_RATE,     /* double */
    TYPE_KIND,     /* umbel_kind */
    TYPE_FORMAT,   /* umbel_format */
    TYPE_TYPE,     /* umbel_type */
    TYPE_BYTE,     /* uint8_t, one character */
    TYPE_EVERY,    /* cli_window: keys are lines, or a step */
    TYPE_WINDOW,
    TYPE_LIST, /* cli_text_list: the option may be repeated */
    TYPE_PAIRS /* cli_text_list of alternating names and values; likewise */
} cli_option_type;

typedef struct cli_option {
    const char *letters;  /* the first is the one shown; "" for none */
    const char *name;     /* without the dashes */
    const char *argument; /* as shown; NULL for flags */
    const char *choices; /* for completions: "FILE", "KIND", "FORMAT", "TYPE" or words; NULL: any */
    cli_option_type type;
    size_t field; /* where in cli_settings the value goes; 0: given[] says it */
    const char *help;
} cli_option;

const cli_option *cli_option_of(cli_option_id id);

/* A heading has a help text but no name. */
static inline bool cli_is_heading(cli_option_id id) {
    return !*cli_option_of(id)->name;
}

typedef struct cli_text_list {
    const char **at;
    size_t count;
} cli_text_list;

/* --window: a number of keys, or steps of the clock. */
typedef struct cli_window {
    uint64_t keys;        /* 0: by the clock */
    uint64_t step;        /* seconds */
    uint64_t generations; /* steps that are remembered completely */
} cli_window;

enum { CLI_GENERATIONS_MAX = 255 };

typedef struct cli_settings cli_settings;

/* A command: its pages, the options that it takes, and what it does. */
typedef struct cli_command {
    const char *name;
    const char *summary;               /* one line, for lists */
    const char *synopsis;              /* after the name */
    const char *examples;              /* lines of shell, `# comment` above each */
    const char *text;                  /* paragraphs, an empty line between them */
    const char *exits;                 /* what the exit status means */
    bool prints_lines;                 /* of its input, unless the mode says otherwise */
    const uint8_t *options;            /* see cli_options_of */
    int (*run)(const cli_settings *s); /* NULL: umbel itself, or a program of its own */
} cli_command;

struct cli_settings {
    bool given[OPTIONS_AND_WORDS];
    const cli_command *command;
    cli_mode mode[CLI_GROUPS]; /* what the command does */
    const char **args;         /* everything that is not an option, in order */
    int nargs;

    bool negative_seed;
    uint64_t keys, universe, bytes, seed, filter, max_line, max_memory, database, wait;
    uint64_t max_count;
    uint32_t hashes, bits_per_key, expansion, threads, columns, shards;
    double fpr;
    umbel_kind kind;               /* AUTO unless given */
    umbel_format format, from, to; /* ANY unless given */
    umbel_type type;               /* STRING unless given */
    uint32_t variant;              /* the bits of --variant */
    uint8_t delimiter;             /* 0: not given */
    cli_window window, save_every;
    const char *json; /* where the report goes */
    const char *output, *base, *tmp, *state, *time_key, *present, *absent, *recipe;
    const char *check, *column, *column_type, *index;
    const char *redis, *redis_key, *prefix, *auth_file, *secret_file;
    const char *cacert, *cert, *cert_key, *sni;
    const uint8_t *secret; /* the 16 bytes in --secret-file; NULL without it */
    cli_text_list also, meta, variants, given_keys, fields, json_keys, socketmap, http, never;
    cli_text_list trusted; /* public keys */
    uint64_t not_before, number;
    const char *signing_key, *password_file;
    bool no_password;
    cli_text_list added, removed, kept;
    const char *rewrite, *answer, *socket_mode;
    uint64_t max_connections, request_memory;
    bool squid, anywhere;
    const char *verify_with;
    uint32_t top;
    bool exact;
    bool line_number, with_filename, line_buffered, follow_filter, unchecked;
    bool words[CLI_WORDS]; /* the flags for words of recipes */
    bool digests, same_rule, names;
    bool force, nonscaling, null, skip_empty;
    bool invert, quiet, silent, strict, plot, cluster, help, version;
};

/* The options that a command takes, OPT_END last: its list, with the flags for words in place of
 * OPT_WORDS.  Valid until the next call. */
const uint8_t *cli_options_of(const cli_command *c);

static inline bool cli_given(const cli_settings *s, cli_option_id id) {
    return s->given[id];
}

/* Reads argv[1..] of a command.  Options may appear anywhere; `--` ends them.  Exits with a message
 * if something is unknown, incomplete, invalid, or given twice where one value would be lost. */
void cli_parse(const cli_command *command, int argc, char **argv, cli_settings *out);

/* For cli_parse: one option, `shown` as it was written; value is NULL for flags. */
void cli_option_put(cli_settings *s, cli_option_id id, const char *shown, const char *value);

/* Settles what depends on several options or on a file: --variant within its format, the secret.
 * Afterwards a command needs no option's text except names and files. */
void cli_settle(cli_settings *s);
void cli_settings_free(cli_settings *s);

/* Whether this command has the option. */
bool cli_takes(const cli_command *c, cli_option_id id);

/* modes.c: the choices without options, and those that the given options make; exits if they
 * contradict each other. */
void cli_modes_begin(cli_settings *s);
void cli_modes_settle(cli_settings *s);

/* Refuses two options that contradict each other. */
void cli_exclude(const cli_settings *s, cli_option_id a, cli_option_id b);

/* Refuses fewer than `min` or more than `max` arguments (-1: no limit). */
void cli_expect_args(const cli_settings *s, int min, int max);

/* Parses a number of keys or DURATION/STEP, such as 24h/1h, which has one generation per step,
 * rounded up, perhaps more than CLI_GENERATIONS_MAX.  False, and nothing changes, for any other
 * text and for a step longer than the duration. */
bool cli_window_parse(const char *text, cli_window *out);

/* The smallest round step that divides the duration into at most CLI_GENERATIONS_MAX. */
uint64_t cli_window_min_step(uint64_t duration);

/* `-n, --keys` without the argument, for messages and pages; `out` has 48 bytes. */
char *cli_option_text(cli_option_id id, char *out);

/* hints.c: what to suggest for an option of another program, or of an older umbel, that `command`
 * does not take, or from the name of a command (command is NULL); NULL: nothing is known. */
const char *cli_hint_for(const char *command, const char *typed);

/* What a mistyped word was probably meant to be: the best candidate so far, at first {word, NULL,
 * 0}. */
typedef struct cli_suggestion {
    const char *word;
    const char *best; /* NULL: nothing is close enough */
    size_t distance;
} cli_suggestion;

/* Considers one more candidate: few letters inserted, left out, replaced or swapped, or the word is
 * its beginning. */
void cli_suggest(cli_suggestion *s, const char *candidate);

#endif
