/* SPDX-License-Identifier: MIT
 *
 * umbel_never.h - good keys that a filter which exists must not find: the exceptions that
 * umbel_builder_never gives to one that is built
 *
 * A companion of umbel.h, with a version of its own (docs/abi.md).  The rules of umbel.h hold here
 * as well.
 */
#ifndef UMBEL_NEVER_H
#define UMBEL_NEVER_H

#include "umbel_recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UMBEL_NEVER_VERSION 1

/* Ask about all good keys, then show every key that goes into the filter, then finish.  params and
 * opts have the filter's kind, seed and secret.  Takes 8 bytes per good key, 24 if the kind is auto
 * or classic, and up to three times that while more come. */
typedef struct umbel_never umbel_never;
UMBEL_API umbel_err umbel_never_new(const umbel_params *params, const umbel_opts *opts,
                                    umbel_never **out, umbel_diag *diag);
UMBEL_API umbel_err umbel_never_ask(umbel_never *never, const umbel_key *good, size_t n,
                                    umbel_diag *diag);
UMBEL_API umbel_err umbel_never_show(umbel_never *never, const umbel_key *members, size_t n,
                                     umbel_diag *diag);
UMBEL_API umbel_err umbel_never_finish(umbel_never *never, umbel_filter *filter,
                                       umbel_build_report *report, umbel_diag *diag);
UMBEL_API void umbel_never_free(umbel_never *never);

/* umbel_never_ask for good keys that will be looked up under this recipe, as
 * umbel_builder_never_lookups does it. */
UMBEL_API umbel_err umbel_never_lookups(umbel_never *never, const umbel_recipe *recipe,
                                        const umbel_key *good, size_t n, umbel_diag *diag);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_NEVER_H */
