/* SPDX-License-Identifier: MIT
 *
 * filter_options.h - kinds, formats and what their options say
 */
#ifndef CLI_FILTER_OPTIONS_H
#define CLI_FILTER_OPTIONS_H

#include "options/options.h"
#include "umbel.h"

/* The kind or format of that name; UMBEL_AUTO or `fallback` when name is NULL.  Ends the program
 * with the names there are when it is none. */
umbel_kind cli_kind_named(const char *name);
umbel_format cli_format_named(const char *name, const char *option, umbel_format fallback);

enum { CLI_NAMES = 512 };

/* All names that there are, for hints and completions; `out` has CLI_NAMES bytes. */
char *cli_kind_names(const char *separator, char *out);
char *cli_format_names(const char *separator, char *out);
char *cli_type_names(const char *separator, char *out);

/* What the options say about the filter to make, or about one whose bytes do not say it. */
umbel_params cli_params_of(const cli_settings *s);
umbel_opts cli_opts_of(const cli_settings *s);

/* What lines denote: --type, or Guava's --funnel, or what the format's keys always are. */
umbel_type cli_type_of(const cli_settings *s);

/* Refuses what does not fit into 32 bits. */
uint32_t cli_option_u32(cli_option_id id, uint64_t value);

/* Fills s->secret from --secret-file, if that was given: 16 bytes as they are, or 32 hexadecimal
 * digits and a newline.  Exits for anything else, and warns when everyone may read the file. */
void cli_secret_read(cli_settings *s);

/* What was read; NULL without --secret-file. */
static inline const uint8_t *cli_secret_of(const cli_settings *s) {
    return s->secret_file ? s->secret : NULL;
}

#endif
