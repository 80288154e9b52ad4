/* SPDX-License-Identifier: MIT
 *
 * native_recipe.h - recipes in native files, also in those of versions that had none
 */
#ifndef UMBELI_NATIVE_RECIPE_H
#define UMBELI_NATIVE_RECIPE_H

#include "core/filter.h"
#include "umbel_meta.h"

/* The key rule of files before 0.3 that says the same as a recipe; false: none does. */
bool umbeli_native_rule_of(const char *recipe, umbel_key_rule *rule);

/* Gives the filter the recipe that says the same as this rule. */
umbel_err umbeli_native_take_rule(umbel_filter *f, const umbel_key_rule *rule, umbel_diag *diag);

/* The filter has all metadata of its file: compares its recipe with the key rule, or makes one of
 * that and of metadata such as key.csv.  recipe_only: the file says that no rule can express it.
 * UMBEL_ECORRUPT if they contradict each other. */
umbel_err umbeli_native_take_recipe(umbel_filter *f, const umbel_key_rule *rule, bool recipe_only,
                                    umbel_diag *diag);

#endif
