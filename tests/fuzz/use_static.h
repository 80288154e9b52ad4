/* SPDX-License-Identifier: MIT
 *
 * use_static.h - static filters beside the exact set of their keys
 */
#ifndef USE_STATIC_H
#define USE_STATIC_H

#include "core/bytes.h"
#include "target.h"

/* The input chooses parameters, keys, a way to build, and perhaps an allocation that fails. */
void use_static(umbeli_reader *input);

#endif
