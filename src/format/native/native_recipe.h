/* SPDX-License-Identifier: MIT
 *
 * native_recipe.h - recipes in native files, also in those of versions that had none
 */
#ifndef UMBELI_NATIVE_RECIPE_H
#define UMBELI_NATIVE_RECIPE_H

#include "core/filter.h"

/* What headers could say before there were recipes. */
typedef struct umbeli_key_rule {
    uint32_t field;    /* the key is this field of the line, from 1; 0: the whole line */
    uint8_t delimiter; /* between fields; 0: runs of white space */
    bool trim, lower, upper;
} umbeli_key_rule;

/* What is wrong with it, as text, or NULL. */
const char *umbeli_key_rule_wrong(const umbeli_key_rule *rule);

/* The rule that says the same as a recipe; false: none does. */
bool umbeli_native_rule_of(const char *recipe, umbeli_key_rule *rule);

/* The filter has all metadata of its file: compares its recipe with the key rule, or makes one from
 * that and from metadata such as key.csv.  recipe_only: the file says that no rule can express it.
 * UMBEL_ECORRUPT if they contradict each other. */
umbel_err umbeli_native_read_recipe(umbel_filter *f, const umbeli_key_rule *rule, bool recipe_only,
                                    umbel_diag *diag);

#endif
