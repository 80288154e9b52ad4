/* SPDX-License-Identifier: MIT
 *
 * command_args.h - the arguments of each command as COMMAND DOCS shows them
 *
 * Lists end with an element whose name is NULL.
 */
#ifndef BF_COMMAND_ARGS_H
#define BF_COMMAND_ARGS_H

#include "api.h"

extern RedisModuleCommandArg bf_args_reserve[], bf_args_insert[], bf_args_item[], bf_args_items[],
    bf_args_key[], bf_args_info[], bf_args_scandump[], bf_args_loadchunk[], bf_args_load[],
    bf_args_merge[];

#endif
