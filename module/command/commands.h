/* SPDX-License-Identifier: MIT
 *
 * commands.h - the commands: one function each, defined in bf_*.c; module.c has the table
 */
#ifndef BF_COMMANDS_H
#define BF_COMMANDS_H

#include "api.h"

int bf_cmd_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_remove(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_clear(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_advance(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_stats(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_cmd_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* ---- command_args.c: their arguments as COMMAND DOCS shows them ---- */

/* Lists end with an element whose name is NULL. */
extern RedisModuleCommandArg bf_args_reserve[], bf_args_insert[], bf_args_item[], bf_args_items[],
    bf_args_key[], bf_args_info[], bf_args_scandump[], bf_args_loadchunk[], bf_args_load[],
    bf_args_merge[], bf_args_advance[];

#endif
