/* SPDX-License-Identifier: MIT
 *
 * leveldb.h - LevelDB's scheme
 */
#ifndef UMBELI_LEVELDB_H
#define UMBELI_LEVELDB_H

#include "kind/classic/classic.h"

extern const umbeli_scheme umbeli_scheme_leveldb;

#endif
