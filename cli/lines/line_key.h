/* SPDX-License-Identifier: MIT
 *
 * line_key.h - how a line becomes a key
 */
#ifndef CLI_LINE_KEY_H
#define CLI_LINE_KEY_H

#include "umbel_foreign.h"

/* Which part of a line is its key, and how that is changed. */
typedef struct cli_key_rule {
    umbel_key_rule recorded; /* stored with the filter */
    bool crlf;               /* a property of the input, not of the keys: not stored */
    umbel_type type;         /* what the text stands for, with foreign formats */
} cli_key_rule;

/* True if every key is its whole line. */
bool cli_key_is_line(const cli_key_rule *rule);

/* Bytes of scratch that the keys of `lines` lines with `len` bytes in total may need. */
size_t cli_line_key_room(const cli_key_rule *rule, size_t lines, size_t len);

/* The key of a line: a part of the line, or of *scratch, which is then advanced.  Exits if the text
 * is not a value of the type. */
umbel_key cli_line_key(const cli_key_rule *rule, const uint8_t *line, size_t len,
                       uint8_t **scratch);

#endif
