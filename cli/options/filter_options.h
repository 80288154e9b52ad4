/* SPDX-License-Identifier: MIT
 *
 * filter_options.h - the options that describe a filter: kind, format, type, secret
 */
#ifndef CLI_FILTER_OPTIONS_H
#define CLI_FILTER_OPTIONS_H

#include "options/options.h"
#include "umbel_foreign.h"
#include "umbel_text.h"

/* For options of TYPE_KIND, TYPE_FORMAT and TYPE_TYPE: the value with this name (exits if there is
 * none; `shown` is the option as it was written), and all names, for hints, pages and completions.
 */
enum { CLI_NAMES = 512 };
int cli_value_named(cli_option_type type, const char *shown, const char *name);
char *cli_names(cli_option_type type, const char *separator, char *out);
cli_window cli_window_named(const char *shown, const char *text);
cli_window cli_every_named(const char *shown, const char *text);

#define CLI_SEE_PLAN "umbel plan shows what is possible"
#define CLI_DEFAULT_FPR 0.01 /* without -p; uniq has its own */

/* A filter as the options describe it, native or of another system. */
typedef struct cli_filter_params {
    umbel_format format; /* NATIVE unless --format is given */
    umbel_kind kind;
    uint64_t capacity;
    double fpr;
    uint64_t bytes, seed;
    uint32_t hashes, bits_per_key, variant, expansion;
    bool nonscaling;
} cli_filter_params;

cli_filter_params cli_params_of(const cli_settings *s);

/* Exits unless --universe is for this kind, given or not. */
void cli_need_universe_kind(umbel_kind kind);

static inline bool cli_is_built_once(umbel_kind kind) {
    umbel_traits traits;
    umbel_kind_traits(kind, &traits);
    return traits.built_once;
}

static inline bool cli_is_foreign(const cli_filter_params *p) {
    return p->format != UMBEL_FMT_NATIVE;
}

/* The parameters as the library takes them, to make a filter or to say what a file is decoded as.
 */
umbel_params cli_native_params(const cli_filter_params *p);
umbel_foreign cli_foreign_params(const cli_filter_params *p);
umbel_opts cli_opts_of(const cli_settings *s);

/* For a filter of another system whose plan has a rate_alike: the next number of keys whose plan
 * has none, as `; -n KEYS avoids it`; empty if none is near.  `out` has CLI_AVOIDED bytes. */
enum { CLI_AVOIDED = UMBEL_QUANTITY + 32 };
char *cli_alike_avoided(umbel_foreign foreign, char *out);

/* The seed for a filter of this format; exits if it is negative and such filters have none. */
uint64_t cli_seed_of(const cli_settings *s, umbel_format format);

/* Reads --secret-file, if given: 16 raw bytes, or 32 hexadecimal digits and a newline.  Exits for
 * anything else, and warns if everyone can read the file. */
void cli_secret_read(cli_settings *s);

#endif
