/* SPDX-License-Identifier: MIT
 *
 * treat.h - how a line becomes a key
 */
#ifndef CLI_TREAT_H
#define CLI_TREAT_H

#include "umbel.h"

/* How a key's text becomes its bytes, for systems whose keys are not text. */
enum cli_coding {
    CODING_TEXT,     /* as it is */
    CODING_INT32_LE, /* a whole number in so many bytes */
    CODING_INT64_LE,
    CODING_INT32_BE
};

struct cli_treatment {
    umbel_treatment recorded; /* what the filter remembers */
    bool crlf;                /* of the input, not of the keys: not recorded */
    enum cli_coding coding;
};

/* True when every key is just its line. */
bool cli_treats_nothing(const struct cli_treatment *t);

/* Bytes of scratch that one line of `len` bytes may need. */
size_t cli_treat_room(const struct cli_treatment *t, size_t len);

/* The key of a line.  It lies in the line, or in *scratch, which is then moved on.  False when the
 * line is no number and the coding wants one. */
bool cli_treat(const struct cli_treatment *t, const uint8_t *line, size_t len, uint8_t **scratch,
               umbel_key *key);

#endif
