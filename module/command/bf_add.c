/* SPDX-License-Identifier: MIT
 *
 * bf_add.c - BF.ADD key item
 *            BF.MADD key item [item ...]
 *            BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING]
 *                      [LAYOUT blocked|classic] [COUNTING] [WINDOW n|DURATION/STEP] [TTL seconds]
 *                      [TIGHTENING r] [SEED s] [VALIDATESCALETO n] [ITEMS item [item ...]]
 */
#include <string.h>

#include "command/commands.h"
#include "command/create.h"
#include "command/items.h"
#include "command/merging.h"
#include "command/reply.h"
#include "config.h"
#include "names.h"

/* ---- Adding items, replying, replicating ---- */

typedef struct outcome {
    size_t asked, done;
    bool some_new; /* at least one item is */
    bool verbatim; /* the command has nothing but these items */
    umbel_err err; /* why not all were done */
} outcome;

/* Counting filters and windows also record keys that they already have. */
static bool has_changed(const bf_key *key, const outcome *o) {
    return o->some_new || (o->done && (key->value->counting || key->value->window));
}

/* Only changes are replicated and notified. */
static void publish(const bf_key *key, RedisModuleString **items, const outcome *o,
                    const bf_params *created) {
    bool changed = key->value && has_changed(key, o);
    if (created && o->done > 0) {
        bf_replicate_insertion(key, created, items, o->done);
    } else if (created) {
        bf_replicate_creation(key, created);
    } else if (changed && o->verbatim && o->done == o->asked) {
        RedisModule_ReplicateVerbatim(key->ctx);
    } else if (changed) {
        RedisModule_Replicate(key->ctx, bf_named("BF.MADD"), "sv", key->name, items, o->done);
    }
    if (created) bf_key_changed(key, "bf.reserve");
    if (changed) bf_key_changed(key, "bf.add");
}

/* Adds one item and replies whether it is new.  `created`: what the filter was just created with,
 * or NULL if it already existed. */
static void add_item(bf_key *key, RedisModuleString *name, const bf_params *created) {
    umbel_key item = bf_item_key(name);
    uint8_t was_new = 0;
    outcome o = {.asked = 1, .verbatim = true};
    o.done = bf_value_add_one(key->edit, &item, &was_new);
    if (!o.done) {
        o.err = bf_value_add(key->edit, &item, 1, bf_config_limit(key->ctx), &was_new, &o.done);
    }
    o.some_new = !o.err && was_new;
    if (o.err) {
        bf_reply_add_error(key->ctx, o.err, key->value);
    } else {
        RedisModule_ReplyWithBool(key->ctx, was_new);
    }
    publish(key, &name, &o, created);
}

static void add_all(bf_key *key, RedisModuleString **items, uint8_t *was_new, outcome *o) {
    uint64_t limit = bf_config_limit(key->ctx);
    umbel_key keys[BF_BATCH];
    while (o->done < o->asked && !o->err) {
        size_t at = o->done, n = bf_batch_fill(items + at, o->asked - at, keys), done = 0;
        if (bf_batch_pauses(at)) bf_key_yield(key, BF_WRITE);
        if (!key->edit) {
            o->err = UMBEL_EABSENT;
            break;
        }
        o->err = bf_value_add(key->edit, keys, n, limit, was_new + at, &done);
        o->done += done;
    }
    o->some_new = memchr(was_new, 1, o->done) != NULL;
}

/* Adds the items in order and replies an array: whether each is new, and after those that were
 * added the error that stopped it, if one did. */
static void add_items(bf_key *key, RedisModuleString **items, size_t count, bool verbatim,
                      const bf_params *created) {
    enum { USUAL = 1024 };
    uint8_t few[USUAL], *was_new = count <= USUAL ? few : RedisModule_TryAlloc(count);
    outcome o = {.asked = count, .verbatim = verbatim, .err = was_new ? UMBEL_OK : UMBEL_ENOMEM};
    if (was_new) add_all(key, items, was_new, &o);

    RedisModule_ReplyWithArray(key->ctx, (long)o.done + (o.err != UMBEL_OK));
    for (size_t i = 0; i < o.done; i++) RedisModule_ReplyWithBool(key->ctx, was_new[i]);
    if (o.err) bf_reply_add_error(key->ctx, o.err, key->value);
    if (was_new != few) RedisModule_Free(was_new);
    publish(key, items, &o, created);
}

/* ---- Commands ---- */

/* Opens the key for writing and creates the filter if it has none: as the options say if they were
 * `parsed`, otherwise as the settings do.  *created is then what it was created with, otherwise
 * NULL.  False after an error reply, and the key is closed. */
static bool open_or_create(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name,
                           bf_options *options, bool parsed, const bf_params **created) {
    bf_key_open(key, ctx, name, BF_WRITE);
    *created = NULL;
    if (key->value) return true;
    if (!parsed) bf_options_init(options, ctx);
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
    if (bf_merging_wait(ctx, argv[1], bf_cmd_add)) return REDISMODULE_OK;
    if (!open_or_create(&key, ctx, argv[1], &options, false, &created)) return REDISMODULE_OK;
    add_item(&key, argv[2], created);
    bf_key_close(&key);
    return REDISMODULE_OK;
}

int bf_cmd_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    bf_options options;
    const bf_params *created;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (bf_merging_wait(ctx, argv[1], bf_cmd_madd)) return REDISMODULE_OK;
    if (!open_or_create(&key, ctx, argv[1], &options, false, &created)) return REDISMODULE_OK;
    add_items(&key, argv + 2, (size_t)argc - 2, true, created);
    bf_key_close(&key);
    return REDISMODULE_OK;
}

/* RedisBloom compares only the first letters, and clients may rely on it. */
static bf_word word_of(const RedisModuleString *text) {
    bf_word word = bf_word_of(text);
    if (word != BF_WORD_UNKNOWN && word != BF_WORD_IFNOTEXISTS) return word;
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

/* RedisBloom 2 checked ranges after the last word, which may repeat a number. */
static bool is_bad(const bf_options *options, bf_flaw flaw) {
    return flaw == BF_NO_NUMBER || (flaw && !options->replayed);
}

static const char *parse_word(bf_options *o, bf_word word, const RedisModuleString *value) {
    switch (word) {
    case BF_WORD_ERROR: return is_bad(o, bf_options_error(o, value)) ? "Bad error rate" : NULL;
    case BF_WORD_CAPACITY: return is_bad(o, bf_options_capacity(o, value)) ? "Bad capacity" : NULL;
    case BF_WORD_EXPANSION:
        return is_bad(o, bf_options_expansion(o, value)) ? "Bad expansion" : NULL;
    case BF_WORD_NOCREATE: o->no_create = true; return NULL;
    default: return bf_options_parse(o, word, value);
    }
}

/* *items is the index of the first item, argc if there are none.  False after an error reply. */
static bool parse_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                         bf_options *options, int *items) {
    bf_options_init(options, ctx);
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
    if (bf_merging_wait(ctx, argv[1], bf_cmd_insert)) return REDISMODULE_OK;
    if (!parse_insert(ctx, argv, argc, &options, &items)) return REDISMODULE_OK;
    if (!open_or_create(&key, ctx, argv[1], &options, true, &created)) return REDISMODULE_OK;
    add_items(&key, argv + items, (size_t)(argc - items), false, created);
    bf_key_close(&key);
    return REDISMODULE_OK;
}
