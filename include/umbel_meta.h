/* SPDX-License-Identifier: MIT
 *
 * umbel_meta.h - what travels with a filter: how lines became its keys, and text about it
 *
 *   umbel_set_key_rule(hosts, &(umbel_key_rule){.field = 2, .lower = true}, NULL);
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

/* How lines of text became keys, for whoever looks up lines later, as the umbel command does. */
typedef struct umbel_key_rule {
    uint32_t field;    /* the key is this field of the line, from 1; 0: the whole line            */
    uint8_t delimiter; /* between fields; 0: runs of white space                                  */
    bool trim;         /* white space at both ends is removed                                     */
    bool lower, upper; /* ASCII letters are lowercased, or uppercased                             */
} umbel_key_rule;

UMBEL_API umbel_err umbel_set_key_rule(umbel_filter *filter, const umbel_key_rule *rule,
                                       umbel_diag *diag);
UMBEL_API void umbel_get_key_rule(const umbel_filter *filter, umbel_key_rule *rule);

/* Free-form text under a name of 1 to 255 bytes; NULL removes it.  At most 1024 names, 512 KiB in
 * all.  umbel_meta_at gives the i-th entry in the order they were set,
 * false past the last; the texts live until the filter or its metadata changes. */
UMBEL_API umbel_err umbel_set_meta(umbel_filter *filter, const char *name, const char *value,
                                   umbel_diag *diag);
UMBEL_API bool umbel_meta_at(const umbel_filter *filter, size_t i, const char **name,
                             const char **value);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_META_H */
