/* SPDX-License-Identifier: MIT
 *
 * modes.h - what a command does, as one choice per group
 *
 * An option may choose, and it may need what others choose.  Options of one group exclude each
 * other, and those that need another choice are refused; the messages, which name both options,
 * follow from the table in modes.c.
 */
#ifndef CLI_MODES_H
#define CLI_MODES_H

#include <stdint.h>

/* The first of a group is what a command does without an option. */
typedef enum cli_mode {
    SHOW_LINES, /* what is printed of the lines that a command selects */
    SHOW_KEYS,
    SHOW_MARK, /* all lines, marked */
    SHOW_ANNOTATED,
    SHOW_COUNT,
    SHOW_FILES,
    SHOW_OTHER_FILES,
    SHOW_STATUS,
    FORM_TEXT,
    FORM_JSON,
    INPUT_LINES,
    INPUT_ASKED,
    TEXTS_PLAIN,
    TEXTS_DIGESTS,
    ANSWERS_FILTER,
    ANSWERS_VERIFIED,
    KEEP_FIRST, /* which lines uniq prints */
    KEEP_REPEATS,
    KEEP_DUPLICATED,
    KEEP_ALL_DUPLICATED,
    KEEP_ONCE,
    TALLY_NONE,
    TALLY_EACH,
    TALLY_TOP,
    STATE_NONE,
    STATE_KEPT,
    WINDOW_NONE,
    WINDOW_GIVEN,
    TO_ONE_KEY, /* what umbel push makes on the server */
    TO_SHARDS,
    TRUST_ANYONE,
    TRUST_KEYS,
    SIGN_FILES,
    SIGN_NEW_KEYS,
    CLI_MODES
} cli_mode;

typedef enum cli_group {
    GROUP_SHOW,
    GROUP_FORM,
    GROUP_INPUT,
    GROUP_TEXTS,
    GROUP_ANSWERS,
    GROUP_KEEP,
    GROUP_TALLY,
    GROUP_STATE,
    GROUP_WINDOW,
    GROUP_TO,
    GROUP_TRUST,
    GROUP_SIGN,
    CLI_GROUPS
} cli_group;

#endif
