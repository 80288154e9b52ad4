/* SPDX-License-Identifier: MIT
 *
 * treat.h - how a line becomes a key
 */
#ifndef CLI_TREAT_H
#define CLI_TREAT_H

#include "umbel.h"

struct cli_treatment {
    umbel_treatment recorded; /* what the filter remembers */
    bool crlf;                /* of the input, not of the keys: not recorded */
};

/* True when every key is just its line. */
bool cli_treats_nothing(const struct cli_treatment *t);

/* True when keys may need room of their own: as many bytes as the lines have together. */
bool cli_treats_case(const struct cli_treatment *t);

/* The key of a line.  It lies in the line, or in *scratch, which is then moved on. */
umbel_key cli_treat(const struct cli_treatment *t, const uint8_t *line, size_t len,
                    uint8_t **scratch);

#endif
