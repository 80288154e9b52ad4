/* SPDX-License-Identifier: MIT
 *
 * names.h - under which names the server knows this module
 *
 * Usually RedisBloom's: module bf, commands BF.*, type MBbloom--.  With `prefix UM` among the
 * arguments of loadmodule they are um and UM.*, so that RedisBloom can be loaded beside it and
 * keeps its own.  `prefix BF prefix UM` is for moving from there to RedisBloom's place: the same
 * commands under both names, and RedisBloom's data.
 */
#ifndef BF_NAMES_H
#define BF_NAMES_H

#include "api.h"

enum { BF_PREFIXES_MAX = 4, BF_PREFIX_MAX = 16 };

/* Reads `prefix NAME` among the arguments of loadmodule.  REDISMODULE_ERR, after a line in the log,
 * if one is not a prefix. */
int bf_names_read(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* The argument of that name, which only bf_names_read understands. */
bool bf_names_are(const char *argument);

/* How many prefixes there are, at least one, and each in small letters.  The first is the name of
 * the module. */
size_t bf_prefixes(void);
const char *bf_prefix(size_t i);

/* Whether it takes RedisBloom's place: then one of the prefixes is bf, and it is the first. */
bool bf_names_redisblooms(void);

/* "BF.ADD", "bf.add" or "bf-merge" under the first prefix, in the same case.  Stays valid. */
const char *bf_named(const char *plain);

#endif
