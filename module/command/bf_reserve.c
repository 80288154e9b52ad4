/* SPDX-License-Identifier: MIT
 *
 * bf_reserve.c - BF.RESERVE key error capacity [EXPANSION n] [NONSCALING] [IFNOTEXISTS]
 *                [LAYOUT blocked|classic] [COUNTING] [WINDOW n|DURATION/STEP] [TTL seconds]
 *                [TIGHTENING r] [SEED s] [VALIDATESCALETO n]
 */
#include "command/commands.h"
#include "command/create.h"
#include "command/merging.h"
#include "command/reply.h"

/* RedisBloom accepts up to seven arguments and ignores unknown ones among them, and so do we. */
enum { REDISBLOOM_ARGC = 7 };

static const char *parse_error(bf_options *options, const RedisModuleString *value) {
    switch (bf_options_error(options, value)) {
    case BF_FINE: return NULL;
    case BF_NO_NUMBER: return "ERR bad error rate";
    default: return "ERR error rate must be in the range (0.000000, 1.000000)";
    }
}

static const char *parse_capacity(bf_options *options, const RedisModuleString *value) {
    switch (bf_options_capacity(options, value)) {
    case BF_FINE: return NULL;
    case BF_NO_NUMBER: return "ERR bad capacity";
    default: return "ERR capacity must be in the range [1, 1073741824]";
    }
}

/* RedisBloom checks whether the filter is to grow at all before it checks the range. */
static const char *parse_expansion(bf_options *options, const RedisModuleString *value) {
    bf_flaw flaw = bf_options_expansion(options, value);
    if (flaw == BF_NO_NUMBER) return "ERR bad expansion";
    if (options->expands && options->nonscaling) return "Nonscaling filters cannot expand";
    return flaw ? "ERR expansion must be in the range [0, 32768]" : NULL;
}

/* Not an option, or one of BF.INSERT. */
static bool is_unknown(bf_word word) {
    return word == BF_WORD_UNKNOWN || word == BF_WORD_ITEMS || word == BF_WORD_NOCREATE ||
           word == BF_WORD_CAPACITY || word == BF_WORD_ERROR;
}

static const char *parse_word(bf_options *options, bf_word word, const RedisModuleString *value) {
    switch (word) {
    case BF_WORD_EXPANSION: return parse_expansion(options, value);
    case BF_WORD_IFNOTEXISTS: options->if_not_exists = true; return NULL;
    default: return bf_options_parse(options, word, value);
    }
}

static const char *parse(bf_options *options, RedisModuleString **argv, int argc) {
    bool expansion = false;
    options->nonscaling = options->params.expansion == 0;
    for (int i = 4; i < argc; i++) {
        if (bf_word_of(argv[i]) == BF_WORD_NONSCALING) options->nonscaling = true;
    }
    const char *wrong = parse_error(options, argv[2]);
    if (!wrong) wrong = parse_capacity(options, argv[3]);
    for (int i = 4; i < argc && !wrong; i++) {
        bf_word word = bf_word_of(argv[i]);
        bool has_value = bf_word_has_value(word), again = word == BF_WORD_EXPANSION && expansion;
        if (is_unknown(word) || again) {
            if (argc > REDISBLOOM_ARGC) wrong = "Unknown argument received";
            continue;
        }
        if (has_value && i + 1 == argc) {
            return word == BF_WORD_EXPANSION ? "ERR no expansion" : "ERR syntax error";
        }
        expansion = expansion || word == BF_WORD_EXPANSION;
        wrong = parse_word(options, word, has_value ? argv[i + 1] : NULL);
        i += has_value;
    }
    return wrong;
}

int bf_cmd_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_options options;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    if (bf_merging_wait(ctx, argv[1], bf_cmd_reserve)) return REDISMODULE_OK;
    bf_options_init(&options, ctx);
    const char *wrong = parse(&options, argv, argc);
    if (wrong) return RedisModule_ReplyWithError(ctx, wrong);

    bf_key key;
    bf_key_open(&key, ctx, argv[1], BF_WRITE);
    if (key.foreign) {
        RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    } else if (key.value && !options.if_not_exists) {
        RedisModule_ReplyWithError(ctx, BF_EXISTS);
    } else if (key.value) {
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    } else if (bf_create(&key, &options)) {
        bf_replicate_creation(&key, &options.params);
        bf_key_changed(&key, "bf.reserve");
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}
