/* SPDX-License-Identifier: MIT
 *
 * bf_add.c - BF.ADD key item
 *            BF.MADD key item [item ...]
 *            BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING]
 *                      [LAYOUT blocked|classic] [COUNTING] [WINDOW n] [TIGHTENING r] [SEED s]
 *                      [VALIDATESCALETO n] [ITEMS item [item ...]]
 */
#include "command/add_items.h"
#include "command/commands.h"
#include "command/create.h"
#include "command/reply.h"

/* Opens the key and makes the filter if there is none; options->params are then what it was made
 * with and *created points there.  False after an error reply, with nothing to close. */
static bool open_or_create(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name,
                           bf_options *options, const bf_params **created) {
    bf_key_open(key, ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    *created = NULL;
    if (key->value) return true;
    if (key->foreign) {
        RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    } else if (options->no_create) {
        RedisModule_ReplyWithError(ctx, BF_NOT_FOUND);
    } else if (bf_create(key, options)) {
        *created = &options->params;
        return true;
    }
    bf_key_close(key);
    return false;
}

int bf_cmd_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    bf_options options;
    const bf_params *created;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    bf_options_init(&options);
    if (!open_or_create(&key, ctx, argv[1], &options, &created)) return REDISMODULE_OK;
    bf_add_item(&key, argv[2], created);
    bf_key_close(&key);
    return REDISMODULE_OK;
}

int bf_cmd_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    bf_options options;
    const bf_params *created;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    bf_options_init(&options);
    if (!open_or_create(&key, ctx, argv[1], &options, &created)) return REDISMODULE_OK;
    bf_add_items(&key, argv + 2, (size_t)argc - 2, created);
    bf_key_close(&key);
    return REDISMODULE_OK;
}

/* RedisBloom looks at the first letters alone, and clients may rely on it. */
static bf_word word_of(const RedisModuleString *text) {
    bf_word word = bf_word_of(text);
    if (word != BF_WORD_UNKNOWN) return word;
    size_t len = 0;
    const char *s = RedisModule_StringPtrLen(text, &len);
    switch (len > 0 ? s[0] | 0x20 : 0) {
    case 'i': return BF_WORD_ITEMS;
    case 'c': return BF_WORD_CAPACITY;
    case 'e': return len > 1 && (s[1] | 0x20) == 'r' ? BF_WORD_ERROR : BF_WORD_EXPANSION;
    case 'n': return len > 2 && (s[2] | 0x20) == 'c' ? BF_WORD_NOCREATE : BF_WORD_NONSCALING;
    default: return BF_WORD_UNKNOWN;
    }
}

static const char *parse_word(bf_options *options, bf_word word, const RedisModuleString *value) {
    switch (word) {
    case BF_WORD_ERROR: return bf_options_error(options, value) ? "Bad error rate" : NULL;
    case BF_WORD_CAPACITY: return bf_options_capacity(options, value) ? "Bad capacity" : NULL;
    case BF_WORD_EXPANSION: return bf_options_expansion(options, value) ? "Bad expansion" : NULL;
    case BF_WORD_NOCREATE: options->no_create = true; return NULL;
    default: return bf_options_take(options, word, value);
    }
}

/* *items is where they begin, argc when there are none.  False after an error reply. */
static bool parse_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                         bf_options *options, int *items) {
    bf_options_init(options);
    int i = 2;
    for (; i < argc; i++) {
        bf_word word = word_of(argv[i]);
        bool has_value = bf_word_has_value(word);
        if ((has_value || word == BF_WORD_ITEMS) && i + 1 == argc) {
            RedisModule_WrongArity(ctx);
            return false;
        }
        if (word == BF_WORD_ITEMS) break;
        const char *wrong = parse_word(options, word, has_value ? argv[i + 1] : NULL);
        if (wrong) {
            RedisModule_ReplyWithError(ctx, wrong);
            return false;
        }
        i += has_value;
    }
    *items = i < argc ? i + 1 : argc;
    return true;
}

int bf_cmd_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    bf_options options;
    const bf_params *created;
    int items = 0;
    if (argc < 2) return RedisModule_WrongArity(ctx);
    if (!parse_insert(ctx, argv, argc, &options, &items)) return REDISMODULE_OK;
    if (!open_or_create(&key, ctx, argv[1], &options, &created)) return REDISMODULE_OK;
    bf_add_items(&key, argv + items, (size_t)(argc - items), created);
    bf_key_close(&key);
    return REDISMODULE_OK;
}
