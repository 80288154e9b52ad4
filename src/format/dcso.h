/* SPDX-License-Identifier: MIT
 *
 * dcso.h - DCSO's scheme
 */
#ifndef UMBELI_DCSO_H
#define UMBELI_DCSO_H

#include "kind/classic/classic.h"

extern const umbeli_scheme umbeli_scheme_dcso;

#endif
