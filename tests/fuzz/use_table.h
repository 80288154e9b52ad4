/* SPDX-License-Identifier: MIT
 *
 * use_table.h - what the fuzz targets of all three systems do with a table
 */
#ifndef USE_TABLE_H
#define USE_TABLE_H

#include "target.h"
#include "umbel_table.h"

/* Opens the bytes and, if that works, inspects every location, fault and filter, and looks up keys.
 * Aborts when an answer contradicts itself. */
void use_table(const uint8_t *bytes, size_t len, const umbel_table_hints *hints);

#endif
