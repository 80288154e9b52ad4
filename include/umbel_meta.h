/* SPDX-License-Identifier: MIT
 *
 * umbel_meta.h - what travels with a filter: its recipe, and text about it
 *
 *   umbel_set_recipe(hosts, "field=2 lower", NULL);
 *   umbel_set_meta(hosts, "source", "access.log", NULL);
 *
 * The library stores both in native files and applies neither.
 */
#ifndef UMBEL_META_H
#define UMBEL_META_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How records of input became keys, for whoever looks up records later: a line of text that
 * umbel_recipe.h describes.  The filter keeps its canonical form.  A file may have a recipe that is
 * unknown here: the text is still returned, and parsing it says which word is unknown. */
UMBEL_API umbel_err umbel_set_recipe(umbel_filter *filter, const char *text, umbel_diag *diag);
/* "line" if none was set; lives until the filter or its recipe changes. */
UMBEL_API const char *umbel_get_recipe(const umbel_filter *filter);

/* Free-form text under a name of 1 to 255 bytes other than "recipe"; NULL removes it.  At most 1024
 * names, 512 KiB in all.  umbel_meta_at gives the i-th entry in the order they were set, false past
 * the last; the texts live until the filter or its metadata changes. */
UMBEL_API umbel_err umbel_set_meta(umbel_filter *filter, const char *name, const char *value,
                                   umbel_diag *diag);
UMBEL_API const char *umbel_get_meta(const umbel_filter *filter, const char *name); /* or NULL   */
UMBEL_API bool umbel_meta_at(const umbel_filter *filter, size_t i, const char **name,
                             const char **value);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_META_H */
