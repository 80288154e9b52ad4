/* SPDX-License-Identifier: MIT
 *
 * recipe_options.h - the options that say how a line becomes a key, as the text of a recipe
 */
#ifndef CLI_RECIPE_OPTIONS_H
#define CLI_RECIPE_OPTIONS_H

#include "options/options.h"
#include "umbel_recipe.h"

/* The recipe of a filter, `stored` (a canonical text), with what the options add; free it.  A field
 * given now replaces the stored one, because other input may have the key elsewhere; what is done
 * to keys can be extended, but not replaced. */
char *cli_recipe_text(const cli_settings *s, const char *stored);

/* The recipe of --time-key for lines whose keys have the recipe `stored`; free it. */
char *cli_time_text(const cli_settings *s, const char *stored);

/* Whether both recipes split a text into the same records. */
bool cli_recipe_same_records(const umbel_recipe *a, const umbel_recipe *b);

/* The first option given that changes keys; OPT_END: none. */
cli_option_id cli_changes_given(const cli_settings *s);

/* `--sha1 or --ntlm`, for messages. */
void cli_digest_options(char *out, size_t cap);

#endif
