/* SPDX-License-Identifier: MIT
 *
 * filter_recipe.h - how lines become keys of a filter: its recipe, and what the options say
 */
#ifndef CLI_FILTER_RECIPE_H
#define CLI_FILTER_RECIPE_H

#include "options/options.h"
#include "umbel_recipe.h"

/* The recipe of this text; exits if it is none, naming `where` it is from. */
umbel_recipe *cli_recipe_named(const char *where, const char *text);

/* The recipe that the options alone give.  Free it, like those below. */
umbel_recipe *cli_recipe_given(const cli_settings *s);

/* The recipe stored with a filter, alone or with what the options add.  Exits if it has a word that
 * this version does not know: lines looked up in another way would get a wrong "no". */
umbel_recipe *cli_recipe_stored(const umbel_filter *f, const char *name);
umbel_recipe *cli_recipe_of(const umbel_filter *f, const char *name, const cli_settings *s);

/* Whether the filter's keys differ from the lines: clients of a server must then do the same. */
bool cli_changes_keys(const umbel_filter *f);

/* Exits if the keys of two filters are made differently. */
void cli_need_same_keys(const umbel_filter *a, const umbel_filter *b, const char *name);

/* Stores the recipe and --meta in a new filter. */
void cli_filter_set_meta(umbel_filter *f, const cli_settings *s, const umbel_recipe *recipe);

#endif
