/* SPDX-License-Identifier: MIT
 *
 * rate_table.h - planned and live rates of other systems' filters against measured ones
 */
#ifndef RATE_TABLE_H
#define RATE_TABLE_H

#include <stdint.h>

#include "every_format.h"

/* Fills filters of the form, as every_format made it, and looks up absent keys; returns 0 if
 * both the plan and the live rate are within 5% of what was found, or within what chance explains
 * among two million lookups, and if the bytes tell the number of keys.  Prints a line
 * "# name | keys | rate | bits | hashes | plan | live | found | what that is known to". */
int rate_row_wrong(const format_form *form);

#endif
