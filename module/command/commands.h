/* SPDX-License-Identifier: MIT
 *
 * commands.h - the commands: one function each, defined in bf_*.c; module.c has the table
 */
#ifndef BF_COMMANDS_H
#define BF_COMMANDS_H

#include "api.h"

typedef int bf_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
bf_command bf_cmd_reserve, bf_cmd_add, bf_cmd_madd, bf_cmd_insert, bf_cmd_exists, bf_cmd_mexists,
    bf_cmd_remove, bf_cmd_count, bf_cmd_clear, bf_cmd_advance, bf_cmd_merge, bf_cmd_card,
    bf_cmd_info, bf_cmd_debug, bf_cmd_stats, bf_cmd_scandump, bf_cmd_loadchunk, bf_cmd_load;

/* ---- command_args.c: their arguments as COMMAND DOCS shows them ---- */

/* The lists end with an element whose name is NULL. */
extern RedisModuleCommandArg bf_args_reserve[], bf_args_insert[], bf_args_item[], bf_args_items[],
    bf_args_key[], bf_args_info[], bf_args_scandump[], bf_args_loadchunk[], bf_args_load[],
    bf_args_merge[], bf_args_advance[];

#endif
