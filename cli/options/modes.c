/* SPDX-License-Identifier: MIT */
#include "options/modes.h"

#include <stdio.h>

#include "base/error.h"
#include "options/options.h"
#include "umbel_recipe.h"

static const uint8_t group_begins[CLI_GROUPS + 1] = {
    [GROUP_SHOW] = SHOW_LINES,   [GROUP_FORM] = FORM_TEXT,         [GROUP_INPUT] = INPUT_LINES,
    [GROUP_TEXTS] = TEXTS_PLAIN, [GROUP_ANSWERS] = ANSWERS_FILTER, [GROUP_KEEP] = KEEP_FIRST,
    [GROUP_TALLY] = TALLY_NONE,  [GROUP_STATE] = STATE_NONE,       [GROUP_WINDOW] = WINDOW_NONE,
    [GROUP_TO] = TO_ONE_KEY,     [GROUP_TRUST] = TRUST_ANYONE,     [GROUP_SIGN] = SIGN_FILES,
    [CLI_GROUPS] = CLI_MODES};

#define M(mode) (UINT64_C(1) << (mode))
#define EACH_LINE (M(SHOW_LINES) | M(SHOW_KEYS) | M(SHOW_MARK) | M(SHOW_ANNOTATED))
#define SELECTED (M(SHOW_LINES) | M(SHOW_KEYS) | M(SHOW_COUNT))
#define IN_A_FILTER (M(KEEP_FIRST) | M(KEEP_REPEATS) | M(TALLY_NONE))

/* An option with a mode chooses it.  `needs` are modes of one or more groups: in each of these
 * groups one of them must be chosen. */
static const struct {
    uint8_t option, mode; /* CLI_MODES: none */
    uint64_t needs;
    const char *hint; /* beside what it contradicts; NULL: give only one of them */
} rules[] = {
    {OPT_ONLY_MATCHING, SHOW_KEYS, M(FORM_TEXT), NULL},
    {OPT_MARK, SHOW_MARK, 0, NULL},
    {OPT_ANNOTATE, SHOW_ANNOTATED, M(FORM_TEXT), NULL},
    {OPT_COUNT, SHOW_COUNT, 0, NULL},
    {OPT_FILES, SHOW_FILES, M(FORM_TEXT), NULL},
    {OPT_OTHER_FILES, SHOW_OTHER_FILES, M(FORM_TEXT), NULL},
    {OPT_QUIET_MATCH, SHOW_STATUS, M(FORM_TEXT), NULL},
    {OPT_JSON_LINES, FORM_JSON, M(SHOW_LINES) | M(SHOW_MARK), NULL},
    {OPT_INVERT, CLI_MODES,
     M(SHOW_LINES) | M(SHOW_COUNT) | M(SHOW_FILES) | M(SHOW_OTHER_FILES) | M(SHOW_STATUS), NULL},
    {OPT_LINE_NUMBER, CLI_MODES, EACH_LINE, NULL},
    {OPT_WITH_FILENAME, CLI_MODES, EACH_LINE | M(SHOW_COUNT), NULL},
    {OPT_MAX_COUNT, CLI_MODES, SELECTED | M(SHOW_ANNOTATED), NULL},
    {OPT_VERIFY_WITH, ANSWERS_VERIFIED, 0, NULL},
    {OPT_ALSO, CLI_MODES, M(ANSWERS_FILTER), NULL},
    {OPT_FOLLOW_FILTER, CLI_MODES, M(ANSWERS_FILTER), NULL},
    {OPT_DIGESTS, TEXTS_DIGESTS, M(INPUT_LINES), NULL},
    {OPT_GIVEN_KEY, CLI_MODES, M(TEXTS_PLAIN), NULL},

    {OPT_ASK, INPUT_ASKED, M(SHOW_LINES) | M(SHOW_COUNT) | M(SHOW_STATUS) | M(FORM_TEXT), NULL},
    {OPT_CHECK_KEY, CLI_MODES, M(INPUT_LINES) | M(TEXTS_PLAIN), NULL},
    {OPT_INVERT, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_LINE_NUMBER, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_WITH_FILENAME, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_MAX_COUNT, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_LINE_BUFFERED, CLI_MODES, M(INPUT_LINES) | IN_A_FILTER, NULL},
    {OPT_THREADS, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_NULL, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_SKIP_EMPTY, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_FIELD, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_DELIMITER, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_JSON_KEY, CLI_MODES, M(INPUT_LINES), NULL},
    {OPT_MAX_LINE, CLI_MODES, M(INPUT_LINES), NULL},

    {OPT_REPEATS, KEEP_REPEATS, M(TALLY_NONE), NULL},
    {OPT_REPEATED, KEEP_DUPLICATED, 0, "--repeats prints every repetition, as -d did before 0.4"},
    {OPT_ALL_REPEATED, KEEP_ALL_DUPLICATED, M(TALLY_NONE), NULL},
    {OPT_UNIQUE, KEEP_ONCE, 0, NULL},
    {OPT_COUNTS, TALLY_EACH, 0, NULL},
    {OPT_TOP, TALLY_TOP, M(KEEP_FIRST), NULL},
    {OPT_KEYS, CLI_MODES, IN_A_FILTER, NULL},
    {OPT_FPR, CLI_MODES, IN_A_FILTER, NULL},
    {OPT_BYTES, CLI_MODES, IN_A_FILTER, NULL},
    {OPT_KIND, CLI_MODES, IN_A_FILTER | M(WINDOW_NONE), NULL},
    {OPT_SEED, CLI_MODES, IN_A_FILTER, NULL},
    {OPT_STRICT, CLI_MODES, IN_A_FILTER, NULL},
    {OPT_STATE, STATE_KEPT, IN_A_FILTER, NULL},
    {OPT_WINDOW, WINDOW_GIVEN, IN_A_FILTER, NULL},
    {OPT_TIME_KEY, CLI_MODES, IN_A_FILTER, NULL},
    {OPT_SAVE_EVERY, CLI_MODES, M(STATE_KEPT), NULL},
    {OPT_LOCK_WAIT, CLI_MODES, M(STATE_KEPT), NULL},
    {OPT_SHARDS, TO_SHARDS, 0, NULL},
    {OPT_SHARD_KEYS, CLI_MODES, M(TO_SHARDS), NULL},
    {OPT_META, CLI_MODES, M(TO_SHARDS), NULL},

    {OPT_TRUSTED, TRUST_KEYS, 0, NULL},
    {OPT_NOT_BEFORE, CLI_MODES, M(TRUST_KEYS), NULL},
    {OPT_GENERATE, SIGN_NEW_KEYS, 0, NULL},
    {OPT_NUMBER, CLI_MODES, M(SIGN_FILES), NULL},
    {OPT_NO_PASSWORD, CLI_MODES, M(SIGN_NEW_KEYS), NULL},
};
enum { RULES = sizeof rules / sizeof *rules };

static cli_group group_of(cli_mode mode) {
    cli_group g = GROUP_SHOW;
    while (mode >= group_begins[g + 1]) g++;
    return g;
}

void cli_modes_begin(cli_settings *s) {
    for (int g = 0; g < CLI_GROUPS; g++) s->mode[g] = group_begins[g];
}

/* The options of the command that choose one of these modes, for a hint. */
static void choosing(const cli_settings *s, uint64_t modes, char *out, size_t cap) {
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < RULES; i++) {
        if (rules[i].mode == CLI_MODES || !(modes & M(rules[i].mode))) continue;
        if (!cli_takes(s->command, rules[i].option) || used + 40 > cap) continue;
        used += (size_t)snprintf(out + used, cap - used, "%s--%.32s", used ? " or " : "",
                                 cli_option_of(rules[i].option)->name);
    }
}

static _Noreturn void refuse(const cli_settings *s, cli_option_id a, cli_option_id b) {
    const char *hint = "give only one of them";
    for (int i = 0; i < RULES; i++) {
        if ((rules[i].option == a || rules[i].option == b) && rules[i].hint) hint = rules[i].hint;
    }
    cli_die(s->command->name, hint, "--%s and --%s contradict each other", cli_option_of(a)->name,
            cli_option_of(b)->name);
}

/* One of the group is needed, and another, or none, was chosen. */
static void need(const cli_settings *s, cli_option_id id, cli_group g, uint64_t modes,
                 const uint8_t *chooser) {
    char hint[160];
    if (modes & M(s->mode[g])) return;
    if (chooser[g] != OPT_END) refuse(s, id, chooser[g]);
    choosing(s, modes, hint, sizeof hint);
    if (!*hint) return; /* of another command, which has the option as well */
    cli_die(s->command->name, NULL, "--%s needs %s", cli_option_of(id)->name, hint);
}

void cli_modes_settle(cli_settings *s) {
    uint8_t chooser[CLI_GROUPS] = {0}; /* the options that chose */
    for (int i = 0; i < RULES; i++) {
        cli_option_id id = rules[i].option;
        if (rules[i].mode == CLI_MODES || !cli_given(s, id)) continue;
        cli_group g = group_of(rules[i].mode);
        if (chooser[g] != OPT_END) refuse(s, chooser[g], id);
        chooser[g] = (uint8_t)id;
        s->mode[g] = rules[i].mode;
    }
    for (int i = 0; i < RULES; i++) {
        if (!cli_given(s, rules[i].option)) continue;
        for (cli_group g = 0; g < CLI_GROUPS; g++) {
            uint64_t all = M(group_begins[g + 1]) - M(group_begins[g]);
            uint64_t wanted = rules[i].needs & all;
            if (wanted) need(s, rules[i].option, g, wanted, chooser);
        }
    }
    umbel_word word;
    for (uint32_t i = 0; i < CLI_WORDS && umbel_recipe_word(i, &word); i++) {
        bool of_records = word.group <= UMBEL_WORD_FIELDS; /* which a typed key is not */
        if (of_records) cli_exclude(s, OPT_ASK, (cli_option_id)(OPTION_COUNT + i));
    }
}
