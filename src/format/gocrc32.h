/* SPDX-License-Identifier: MIT
 *
 * gocrc32.h - the schemes of the CRC-32 filter: Go's int of 64 and of 32 bits
 */
#ifndef UMBELI_GOCRC32_H
#define UMBELI_GOCRC32_H

#include "kind/classic/classic.h"

extern const umbeli_scheme umbeli_scheme_gocrc32_int64, umbeli_scheme_gocrc32_int32;

#endif
