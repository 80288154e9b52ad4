/* SPDX-License-Identifier: MIT
 *
 * filter_options.h - the options that describe a filter: kind, format, type, secret
 */
#ifndef CLI_FILTER_OPTIONS_H
#define CLI_FILTER_OPTIONS_H

#include "options/options.h"
#include "umbel.h"

/* The kind or format with this name; UMBEL_AUTO or `fallback` if name is NULL.  Exits with the list
 * of names if there is none. */
umbel_kind cli_kind_named(const char *name);
umbel_format cli_format_named(const char *name, const char *option, umbel_format fallback);

#define CLI_SEE_PLAN "umbel plan shows what is possible"

enum { CLI_NAMES = 512 };

/* All names, for hints and completions; `out` has CLI_NAMES bytes. */
char *cli_kind_names(const char *separator, char *out);
char *cli_format_names(const char *separator, char *out);
char *cli_type_names(const char *separator, char *out);

/* The filter to make as the options describe it, or what its bytes do not record. */
umbel_params cli_params_of(const cli_settings *s);
umbel_opts cli_opts_of(const cli_settings *s);

/* What lines stand for: --type, or Guava's --funnel, or the only type of the format's keys. */
umbel_type cli_type_of(const cli_settings *s);

/* An option's value, refused if it does not fit into 32 bits. */
uint32_t cli_option_u32(cli_option_id id, uint64_t value);

/* Fills s->secret from --secret-file, if given: 16 raw bytes, or 32 hexadecimal digits and a
 * newline.  Exits for anything else, and warns if everyone can read the file. */
void cli_secret_read(cli_settings *s);

/* The secret that was read; NULL without --secret-file. */
static inline const uint8_t *cli_secret_of(const cli_settings *s) {
    return s->secret_file ? s->secret : NULL;
}

#endif
