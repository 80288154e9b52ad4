/* SPDX-License-Identifier: MIT
 *
 * module.c - the entry point that the server calls when it loads umbel.so: the table of commands
 *            and everything else that is registered with the server
 */
#include <stdio.h>

#include "api.h"
#include "command/commands.h"
#include "command/create.h"
#include "command/merging.h"
#include "config.h"
#include "names.h"
#include "storage/types.h"
#include "umbel.h"
#include "value/server_memory.h"

#define SINCE "0.1.0"

/* How a command uses its first key, as ACL read and write permissions see it. */
enum {
    LOOKS = REDISMODULE_CMD_KEY_RO,
    READS = REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS,
    ADDS = REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT,
    UPDATES = REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE,
    DELETES = REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_DELETE
};

typedef struct command {
    const char *name; /* after the prefix */
    RedisModuleCmdFunc run;
    const char *flags, *categories;
    int arity; /* -n: at least n */
    uint64_t key_use;
    int last_key; /* 1; -1: all arguments from the second on are keys that are read */
    RedisModuleCommandArg *args;
    const char *complexity, *summary;
} command;

#define WRITE "write deny-oom", "write"
#define SHRINK "write", "write"
#define READ "readonly fast", "read fast"
#define READ_ALL "readonly", "read slow"

/* clang-format off */
static const command commands[] = {
    { "reserve", bf_cmd_reserve, WRITE, -4, ADDS, 1, bf_args_reserve, "O(n) in the bytes allocated",
      "Creates an empty filter with the given false-positive rate and capacity" },
    { "add", bf_cmd_add, WRITE, 3, ADDS, 1, bf_args_item, "O(k) in the layers",
      "Adds an item, creating the filter if the key does not exist" },
    { "madd", bf_cmd_madd, WRITE, -3, ADDS, 1, bf_args_items, "O(k * n) in layers and items",
      "Adds items, creating the filter if the key does not exist" },
    { "insert", bf_cmd_insert, WRITE, -2, ADDS, 1, bf_args_insert, "O(k * n) in layers and items",
      "Adds items, creating the filter with the given properties if the key does not exist" },
    { "exists", bf_cmd_exists, READ, 3, READS, 1, bf_args_item, "O(k) in the layers",
      "Checks whether an item was added; a yes may be a false positive, at the filter's rate" },
    { "mexists", bf_cmd_mexists, READ, -3, READS, 1, bf_args_items, "O(k * n) in layers and items",
      "Checks for each item whether it was added" },
    { "remove", bf_cmd_remove, SHRINK, -3, DELETES, 1, bf_args_items, "O(n) in the items",
      "Removes items from a counting filter" },
    { "count", bf_cmd_count, READ, -3, READS, 1, bf_args_items, "O(k * n) in layers and items",
      "Returns how often each item was added, up to 15 in a counting filter" },
    { "clear", bf_cmd_clear, SHRINK, 2, DELETES, 1, bf_args_key, "O(n) in the bytes of the filter",
      "Removes all items and keeps the filter" },
    { "advance", bf_cmd_advance, SHRINK, 4, DELETES, 1, bf_args_advance, "O(n) in the bytes of the generations",
      "Forgets the oldest generations of a window that goes by the clock" },
    { "merge", bf_cmd_merge, WRITE, -3, ADDS, -1, bf_args_merge, "O(n) in the bytes of the filters",
      "Adds all items of other filters that have the same properties" },
    { "card", bf_cmd_card, READ, 2, LOOKS, 1, bf_args_key, "O(1)",
      "Returns the number of items added" },
    { "info", bf_cmd_info, READ, -2, LOOKS, 1, bf_args_info, "O(1)",
      "Returns capacity, size and other figures of a filter" },
    { "debug", bf_cmd_debug, READ, 2, LOOKS, 1, bf_args_key, "O(k) in the layers",
      "Returns figures of each layer" },
    { "stats", bf_cmd_stats, READ_ALL, 2, LOOKS, 1, bf_args_key, "O(n) in the bytes of the filter",
      "Returns what the bits show: live false-positive rate, fill, estimated number of items" },
    { "scandump", bf_cmd_scandump, READ, 3, READS, 1, bf_args_scandump, "O(n) in the bytes returned",
      "Dumps a filter in chunks" },
    { "loadchunk", bf_cmd_loadchunk, WRITE, 4, UPDATES, 1, bf_args_loadchunk, "O(n) in the bytes",
      "Loads a chunk of a dump" },
    { "load", bf_cmd_load, WRITE, 3, UPDATES, 1, bf_args_load, "O(n) in the bytes",
      "Loads a whole filter" },
};
/* clang-format on */

static int document(RedisModuleCommand *made, const command *c) {
    static const RedisModuleCommandInfoVersion version = {
        .version = 1,
        .sizeof_historyentry = sizeof(RedisModuleCommandHistoryEntry),
        .sizeof_keyspec = sizeof(RedisModuleCommandKeySpec),
        .sizeof_arg = sizeof(RedisModuleCommandArg),
    };
    RedisModuleCommandKeySpec keys[3] = {
        {.flags = c->key_use,
         .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
         .bs.index.pos = 1,
         .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
         .fk.range = {.lastkey = 0, .keystep = 1}},
    };
    if (c->last_key == -1) {
        keys[1] = keys[0];
        keys[1].flags = READS;
        keys[1].bs.index.pos = 2;
        keys[1].fk.range.lastkey = -1;
    }
    const RedisModuleCommandInfo info = {
        .version = &version,
        .summary = c->summary,
        .complexity = c->complexity,
        .since = SINCE,
        .arity = c->arity,
        .key_specs = keys,
        .args = c->args,
    };
    return RedisModule_SetCommandInfo(made, &info);
}

/* Servers let modules assign commands to ACL categories since 7.2, and add categories since 7.4. */
static int categorize(RedisModuleCommand *made, const char *categories, const char *own) {
    char text[64];
    if (!RedisModule_SetCommandACLCategories) return REDISMODULE_OK;
    snprintf(text, sizeof text, "%s %s", own, categories);
    return RedisModule_SetCommandACLCategories(made, text);
}

static int register_command(RedisModuleCtx *ctx, const command *c, const char *prefix,
                            const char *category) {
    char name[BF_PREFIX_MAX + 32];
    snprintf(name, sizeof name, "%s.%s", prefix, c->name);
    if (RedisModule_CreateCommand(ctx, name, c->run, c->flags, 1, c->last_key, 1)) {
        RedisModule_Log(ctx, "warning", "the command %s exists", name);
        return REDISMODULE_ERR;
    }
    RedisModuleCommand *made = RedisModule_GetCommand(ctx, name);
    return document(made, c) | categorize(made, c->categories, category);
}

/* The category of RedisBloom's commands is RedisBloom's, if that is here as well. */
static int register_commands(RedisModuleCtx *ctx) {
    int failed = 0;
    const char *category = bf_names_redisblooms() ? "bloom" : bf_prefix(0);
    if (!RedisModule_AddACLCategory || RedisModule_AddACLCategory(ctx, category)) category = "";
    for (size_t p = 0; p < bf_prefixes() && !failed; p++) {
        for (size_t i = 0; i < sizeof commands / sizeof commands[0] && !failed; i++) {
            failed = register_command(ctx, &commands[i], bf_prefix(p), category);
        }
    }
    return failed;
}

/* The name that is taken, here or by another module; false after a line in the log. */
static bool name_is_free(RedisModuleCtx *ctx, bool loaded) {
    if (!loaded && !RedisModule_IsModuleNameBusy(bf_prefix(0))) return true;
    RedisModule_Log(ctx, "warning",
                    loaded ? "umbel.so is loaded already"
                           : "a module %s is loaded already: leave it out, or load umbel.so beside "
                             "it, with commands of its own, by adding `prefix UM`",
                    bf_prefix(0));
    return false;
}

static int module_version(void) {
    return UMBEL_VERSION_MAJOR * 10000 + UMBEL_VERSION_MINOR * 100 + UMBEL_VERSION_PATCH;
}

UMBEL_API int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static bool loaded; /* a library that is loaded twice is there once */
    if (bf_api_resolve(ctx) || bf_names_read(ctx, argv, argc)) return REDISMODULE_ERR;
    if (!name_is_free(ctx, loaded)) return REDISMODULE_ERR;
    loaded = true;
    bf_memory_register();
    RedisModule_SetModuleAttribs(ctx, bf_prefix(0), module_version(), REDISMODULE_APIVER_1);
    /* A server ignores option bits that it does not know. */
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                                          REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED |
                                          REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD |
                                          VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION);
    if (bf_types_register(ctx) || register_commands(ctx) || bf_info_register(ctx) ||
        bf_replication_register(ctx) || bf_merging_register(ctx)) {
        return REDISMODULE_ERR;
    }
    if (bf_names_redisblooms() && bf_fleet_register(ctx)) return REDISMODULE_ERR;
    return bf_config_register(ctx, argv, argc);
}
