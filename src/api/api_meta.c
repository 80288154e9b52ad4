/* SPDX-License-Identifier: MIT
 *
 * api_meta.c - what travels with a filter: its recipe and named texts
 */
#include <string.h>

#include "core/diag.h"
#include "core/filter.h"
#include "umbel_recipe.h"

umbel_err umbel_set_recipe(umbel_filter *filter, const char *text, umbel_diag *diag) {
    umbel_recipe *recipe = NULL;
    umbel_err e = umbel_recipe_parse(text, &recipe, diag);
    if (e) return e;
    e = umbeli_recipe_set(filter, umbel_recipe_text(recipe), diag);
    umbel_recipe_free(recipe);
    return e;
}

const char *umbel_get_recipe(const umbel_filter *filter) {
    const char *text = umbeli_meta_get(filter, UMBELI_META_RECIPE);
    return text ? text : "line";
}

umbel_err umbel_set_meta(umbel_filter *filter, const char *name, const char *value,
                         umbel_diag *diag) {
    if (strcmp(name, UMBELI_META_RECIPE) == 0) {
        return umbeli_invalid(diag, "recipe: not metadata, but the recipe of the filter");
    }
    if (value) return umbeli_meta_set(filter, name, strlen(name), value, strlen(value), diag);
    umbeli_meta_remove(filter, name);
    return UMBEL_OK;
}

const char *umbel_get_meta(const umbel_filter *filter, const char *name) {
    return strcmp(name, UMBELI_META_RECIPE) == 0 ? NULL : umbeli_meta_get(filter, name);
}

bool umbel_meta_at(const umbel_filter *filter, size_t i, const char **name, const char **value) {
    for (size_t k = 0; k < filter->meta_count; k++) {
        const umbeli_meta_entry *entry = &filter->meta[k];
        if (strcmp(entry->name, UMBELI_META_RECIPE) == 0) continue;
        if (i-- > 0) continue;
        *name = entry->name;
        *value = entry->value;
        return true;
    }
    return false;
}
