/* SPDX-License-Identifier: MIT
 *
 * line_key.h - how a line becomes a key
 */
#ifndef CLI_LINE_KEY_H
#define CLI_LINE_KEY_H

#include "umbel.h"

typedef struct cli_key_rule {
    umbel_treatment recorded; /* what the filter remembers */
    bool crlf;                /* of the input, not of the keys: not recorded */
    umbel_type type;          /* what the text denotes: given with a foreign format */
} cli_key_rule;

/* True when every key is just its line. */
bool cli_key_is_line(const cli_key_rule *t);

/* Bytes of scratch that the keys of `lines` lines with `len` bytes together may need. */
size_t cli_line_key_room(const cli_key_rule *t, size_t lines, size_t len);

/* The key of a line.  It lies in the line, or in *scratch, which is then moved on.  Ends the
 * program when the text denotes no value of the type. */
umbel_key cli_line_key(const cli_key_rule *t, const uint8_t *line, size_t len, uint8_t **scratch);

#endif
