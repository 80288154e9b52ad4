/* SPDX-License-Identifier: MIT
 *
 * add_items.c - items into a filter, the reply, and the news of it
 *
 * Only what changed something is replicated and announced.
 */
#include "command/add_items.h"

#include <string.h>

#include "command/create.h"
#include "command/reply.h"
#include "config.h"

/* What became of the items. */
typedef struct outcome {
    size_t asked, done;
    bool some_new;
    umbel_err err; /* why not all were done */
} outcome;

/* Counting filters and windows also note keys that they have. */
static bool has_changed(const bf_key *key, const outcome *o) {
    if (o->some_new || o->done == 0) return o->some_new;
    bf_params params;
    bf_value_params(key->value, &params);
    return params.counting || params.window;
}

static void publish(const bf_key *key, RedisModuleString **items, const outcome *o,
                    const bf_params *created) {
    bool changed = key->value && has_changed(key, o);
    if (created && o->done > 0)
        bf_replicate_insertion(key->ctx, key->name, created, items, o->done);
    else if (created)
        bf_replicate_creation(key->ctx, key->name, created);
    else if (changed && o->done == o->asked)
        RedisModule_ReplicateVerbatim(key->ctx);
    else if (changed)
        RedisModule_Replicate(key->ctx, "BF.MADD", "sv", key->name, items, o->done);
    if (created) bf_key_changed(key, "bf.reserve");
    if (changed) bf_key_changed(key, "bf.add");
}

void bf_add_item(bf_key *key, RedisModuleString *item, const bf_params *created) {
    umbel_key one = bf_item_key(item);
    uint8_t was_new = 0;
    outcome o = {.asked = 1};
    o.err = bf_value_add(key->value, &one, 1, bf_config_limit(key->ctx), &was_new, &o.done);
    o.some_new = !o.err && was_new;
    if (o.err)
        bf_reply_add_error(key->ctx, o.err, key->value);
    else
        RedisModule_ReplyWithBool(key->ctx, was_new);
    publish(key, &item, &o, created);
}

static void add_all(bf_key *key, RedisModuleString **items, uint8_t *was_new, outcome *o) {
    uint64_t limit = bf_config_limit(key->ctx);
    umbel_key keys[BF_BATCH];
    while (o->done < o->asked && !o->err) {
        size_t at = o->done, some = bf_batch_take(items + at, o->asked - at, keys), done = 0;
        if (bf_batch_pauses(at)) bf_key_yield(key, REDISMODULE_READ | REDISMODULE_WRITE);
        if (!key->value) {
            o->err = UMBEL_EABSENT;
            break;
        }
        o->err = bf_value_add(key->value, keys, some, limit, was_new + at, &done);
        o->done += done;
    }
    o->some_new = memchr(was_new, 1, o->done) != NULL;
}

void bf_add_items(bf_key *key, RedisModuleString **items, size_t count, const bf_params *created) {
    enum { USUAL = 1024 };
    uint8_t few[USUAL], *was_new = count <= USUAL ? few : RedisModule_TryAlloc(count);
    outcome o = {.asked = count, .err = was_new ? UMBEL_OK : UMBEL_ENOMEM};
    if (was_new) add_all(key, items, was_new, &o);

    RedisModule_ReplyWithArray(key->ctx, (long)o.done + (o.err != UMBEL_OK));
    for (size_t i = 0; i < o.done; i++) RedisModule_ReplyWithBool(key->ctx, was_new[i]);
    if (o.err) bf_reply_add_error(key->ctx, o.err, key->value);
    if (was_new != few) RedisModule_Free(was_new);
    publish(key, items, &o, created);
}
