/* SPDX-License-Identifier: MIT
 *
 * type_methods.h - the parts of the two types that differ: how values lie in RDB files
 *
 * Loading gives NULL, after a line in the server's log, for whatever is not a valid filter.
 */
#ifndef BF_TYPE_METHODS_H
#define BF_TYPE_METHODS_H

#include "api.h"

enum { BF_CLASSIC_ENCVER = 4, BF_BLOCKED_ENCVER = 1 };

void bf_classic_save(RedisModuleIO *io, void *value);
void *bf_classic_load(RedisModuleIO *io, int encver);

void bf_blocked_save(RedisModuleIO *io, void *value);
void *bf_blocked_load(RedisModuleIO *io, int encver);

#endif
