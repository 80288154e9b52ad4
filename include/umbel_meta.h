/* SPDX-License-Identifier: MIT
 *
 * umbel_meta.h - what travels with a filter: its recipe, text about it, and a window's clock
 *
 *   umbel_set_recipe(hosts, "field=2 lower", NULL);
 *   umbel_set_meta(hosts, "source", "access.log", NULL);
 *
 * The library stores these in native files and acts on none of them.
 */
#ifndef UMBEL_META_H
#define UMBEL_META_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How records of input became keys, for whoever looks up records later: a line of text that
 * umbel_recipe.h describes.  The filter keeps its canonical form.  A file may have a recipe with
 * words unknown here: the text is still returned, and parsing it says which word is unknown. */
UMBEL_API umbel_err umbel_set_recipe(umbel_filter *filter, const char *text, umbel_diag *diag);
/* "line" if none was set; lives until the filter or its recipe changes. */
UMBEL_API const char *umbel_get_recipe(const umbel_filter *filter);

/* Free-form text under a name of 1 to 255 bytes (not "recipe"); NULL removes it.  At most 1024
 * names, 512 KiB in all.  umbel_meta_at gives the i-th entry in the order they were set, or false
 * after the last; the texts live until the filter or its metadata changes. */
UMBEL_API umbel_err umbel_set_meta(umbel_filter *filter, const char *name, const char *value,
                                   umbel_diag *diag);
UMBEL_API const char *umbel_get_meta(const umbel_filter *filter, const char *name); /* or NULL   */
UMBEL_API bool umbel_meta_at(const umbel_filter *filter, size_t i, const char **name,
                             const char **value);

/* A window that forgets by the clock: a manual one (umbel_params.window.manual) whose metadata say
 * when to advance it.  `umbel uniq --window 24h/1h` and BF.RESERVE's WINDOW write the same
 * metadata.  Nothing here reads the clock: the caller passes the time, in seconds since 1970. */
typedef struct umbel_clock {
    uint64_t step;        /* seconds that a generation lasts; 0: it does not follow the clock     */
    uint64_t generations; /* steps that are remembered completely                                 */
    uint64_t advanced;    /* when the newest generation began                                     */
    uint64_t reserved[5];
} umbel_clock;

/* The clock of a window.  umbel_get_clock gives all zeros for other filters; UMBEL_EINVAL, with
 * step 0: the metadata are wrong. */
UMBEL_API umbel_err umbel_get_clock(const umbel_filter *filter, umbel_clock *out, umbel_diag *diag);
UMBEL_API umbel_err umbel_set_clock(umbel_filter *filter, const umbel_clock *clock,
                                    umbel_diag *diag);

/* How often to call umbel_advance now: once for each step that has ended, at most generations + 1
 * times, which forgets everything.  Moves clock->advanced accordingly.  If the time was set back,
 * nothing is forgotten: if by at most one step, the window waits; if by more, the step begins
 * again. */
UMBEL_API uint64_t umbel_clock_steps(umbel_clock *clock, uint64_t now);

/* Duration and step as text, such as 7d/1d; `out` has UMBEL_QUANTITY bytes. */
UMBEL_API char *umbel_clock_text(const umbel_clock *clock, char *out);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_META_H */
