/* SPDX-License-Identifier: MIT
 *
 * use_static.h - static filters compared with the exact set of their keys
 */
#ifndef USE_STATIC_H
#define USE_STATIC_H

#include "core/bytes.h"
#include "target.h"

/* The input chooses parameters, keys, a way to build, and possibly a failing allocation. */
void use_static(umbeli_reader *input);

#endif
