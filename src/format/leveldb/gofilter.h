/* SPDX-License-Identifier: MIT
 *
 * gofilter.h - the schemes of two Go key-value stores
 */
#ifndef UMBELI_GOFILTER_H
#define UMBELI_GOFILTER_H

#include "kind/classic/classic.h"

extern const umbeli_scheme umbeli_scheme_corekv, umbeli_scheme_badger;

#endif
