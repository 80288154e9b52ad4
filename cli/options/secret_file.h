/* SPDX-License-Identifier: MIT
 *
 * secret_file.h - --secret-file: the 16 secret bytes of keyed filters
 */
#ifndef CLI_SECRET_FILE_H
#define CLI_SECRET_FILE_H

#include "options/options.h"

/* Fills s->secret from --secret-file, if that was given: 16 bytes as they are, or 32 hexadecimal
 * digits and a newline.  Ends the program for anything else, and warns when everyone may read the
 * file. */
void cli_secret_read(cli_settings *s);

/* What was read; NULL without --secret-file. */
static inline const uint8_t *cli_secret_of(const cli_settings *s) {
    return s->secret_file ? s->secret : NULL;
}

#endif
