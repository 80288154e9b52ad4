/* SPDX-License-Identifier: MIT
 *
 * line_key.h - how a line becomes a key
 */
#ifndef CLI_LINE_KEY_H
#define CLI_LINE_KEY_H

#include "umbel_foreign.h"
#include "umbel_meta.h"

/* Which part of a line is its key, and how that is changed. */
typedef struct cli_key_rule {
    umbel_key_rule recorded; /* stored with the filter */
    bool csv;                /* fields may be quoted; stored as metadata, key.csv */
    bool missing_empty;      /* a line without the field has an empty key; likewise */
    const char *column;      /* the name of the field in files with a header, or NULL; likewise */
    bool header;             /* the first line of each file names the fields: not stored */
    bool crlf;               /* a property of the input, not of the keys: not stored */
    umbel_type type;         /* what the text stands for, with foreign formats */
} cli_key_rule;

/* What separates the fields of CSV. */
uint8_t cli_csv_delimiter(const cli_key_rule *rule);

/* True if every key is its whole line. */
bool cli_key_is_line(const cli_key_rule *rule);

/* Bytes of scratch that the keys of `lines` lines with `len` bytes in total may need. */
size_t cli_line_key_room(const cli_key_rule *rule, size_t lines, size_t len);

/* The key of a line: a part of the line, or of *scratch, which is then advanced.  Its data is NULL
 * if the line does not have the field.  Exits if the text is not a value of the type. */
umbel_key cli_line_key(const cli_key_rule *rule, const uint8_t *line, size_t len,
                       uint8_t **scratch);

/* The number of the field with this name in a header, from 1; 0: there is none. */
uint32_t cli_find_column(const cli_key_rule *rule, const uint8_t *header, size_t len);

#endif
