/* SPDX-License-Identifier: MIT
 *
 * misfits.h - lines of which no key could be made are never passed over in silence
 */
#ifndef CLI_MISFITS_H
#define CLI_MISFITS_H

#include "lines/pipeline.h"

/* Warns of them, saying what was done with them ("skipped"), and returns the exit status of a
 * command that would otherwise end with `status`. */
int cli_misfits_status(const cli_lines *read, const umbel_recipe *recipe, const char *done,
                       int status);

#endif
