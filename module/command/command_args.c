/* SPDX-License-Identifier: MIT
 *
 * command_args.c - the arguments of each command
 */
#include "command/commands.h"

/* clang-format off */
#define ARG(type_, name_) .name = name_, .type = REDISMODULE_ARG_TYPE_##type_, .key_spec_index = -1
#define KEY .name = "key", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0
#define OPTIONAL .flags = REDISMODULE_CMD_ARG_OPTIONAL
#define MULTIPLE .flags = REDISMODULE_CMD_ARG_MULTIPLE
#define OPTION(type_, name_, token_) { ARG(type_, name_), .token = token_, OPTIONAL }
#define WORD(name_, token_) { ARG(PURE_TOKEN, name_), .token = token_ }
#define OPTIONAL_WORD(name_, token_) { ARG(PURE_TOKEN, name_), .token = token_, OPTIONAL }
#define END { .name = NULL }

static RedisModuleCommandArg layouts[] = {
    WORD("blocked", "BLOCKED"), WORD("classic", "CLASSIC"), END
};

static RedisModuleCommandArg expansions[] = {
    { ARG(INTEGER, "factor") }, WORD("auto", "AUTO"), END
};

#define EXPANSION { ARG(ONEOF, "expansion"), .token = "EXPANSION", OPTIONAL, .subargs = expansions }
#define LAYOUT { ARG(ONEOF, "layout"), .token = "LAYOUT", OPTIONAL, .subargs = layouts }
#define MAKING \
    EXPANSION, \
    OPTIONAL_WORD("nonscaling", "NONSCALING"), \
    LAYOUT, \
    OPTIONAL_WORD("counting", "COUNTING"), \
    OPTION(STRING, "window", "WINDOW"), \
    OPTION(INTEGER, "seconds", "TTL"), \
    OPTION(DOUBLE, "ratio", "TIGHTENING"), \
    OPTION(STRING, "seed", "SEED"), \
    OPTION(INTEGER, "scale-to", "VALIDATESCALETO")

RedisModuleCommandArg bf_args_reserve[] = {
    { KEY }, { ARG(DOUBLE, "error") }, { ARG(INTEGER, "capacity") },
    OPTIONAL_WORD("ifnotexists", "IFNOTEXISTS"), MAKING, END
};

static RedisModuleCommandArg insert_items[] = {
    WORD("items", "ITEMS"), { ARG(STRING, "item"), MULTIPLE }, END
};
RedisModuleCommandArg bf_args_insert[] = {
    { KEY },
    OPTION(INTEGER, "capacity", "CAPACITY"),
    OPTION(DOUBLE, "error", "ERROR"),
    OPTIONAL_WORD("nocreate", "NOCREATE"),
    MAKING,
    { ARG(BLOCK, "items"), OPTIONAL, .subargs = insert_items },
    END
};

RedisModuleCommandArg bf_args_key[] = { { KEY }, END };
RedisModuleCommandArg bf_args_item[] = { { KEY }, { ARG(STRING, "item") }, END };
RedisModuleCommandArg bf_args_items[] = { { KEY }, { ARG(STRING, "item"), MULTIPLE }, END };

static RedisModuleCommandArg info_fields[] = {
    WORD("capacity", "CAPACITY"), WORD("size", "SIZE"), WORD("filters", "FILTERS"),
    WORD("items", "ITEMS"), WORD("expansion", "EXPANSION"), WORD("error", "ERROR"),
    WORD("tightening", "TIGHTENING"), WORD("maxscaledcapacity", "MAXSCALEDCAPACITY"),
    WORD("layout", "LAYOUT"), WORD("window", "WINDOW"),
    WORD("exceptions", "EXCEPTIONS"), END
};
RedisModuleCommandArg bf_args_info[] = {
    { KEY }, { ARG(ONEOF, "field"), OPTIONAL, .subargs = info_fields }, END
};

RedisModuleCommandArg bf_args_scandump[] = { { KEY }, { ARG(INTEGER, "iterator") }, END };
RedisModuleCommandArg bf_args_loadchunk[] = {
    { KEY }, { ARG(INTEGER, "iterator") }, { ARG(STRING, "data") }, END
};
RedisModuleCommandArg bf_args_load[] = { { KEY }, { ARG(STRING, "data") }, END };

RedisModuleCommandArg bf_args_advance[] = {
    { KEY }, { ARG(INTEGER, "generations") }, { ARG(UNIX_TIME, "time") }, END
};

RedisModuleCommandArg bf_args_merge[] = {
    { .name = "destination", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0 },
    { .name = "source", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 1, MULTIPLE },
    END
};
/* clang-format on */
