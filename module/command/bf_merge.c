/* SPDX-License-Identifier: MIT
 *
 * bf_merge.c - BF.MERGE destination source [source ...]
 *
 * Adds all keys of the sources.  A missing destination is created as a copy of the first source.
 * Either all sources are merged or nothing changes.  Large filters are merged in a thread:
 * merging.c.
 */
#include <stdio.h>

#include "command/commands.h"
#include "command/create.h"
#include "command/merging.h"
#include "command/open_key.h"
#include "command/reply.h"
#include "config.h"
#include "counters.h"
#include "names.h"
#include "storage/types.h"
#include "value/value_memory.h"

int bf_merge_reply_error(RedisModuleCtx *ctx, const bf_merge *m) {
    char text[256], why[200];
    if (m->error == UMBEL_ENOMEM || m->error == UMBEL_ELIMIT) {
        return bf_reply_make_error(ctx, m->error, NULL);
    }
    snprintf(text, sizeof text, "ERR these filters cannot be merged: %s",
             umbel_explain(m->error, &m->diag, why, sizeof why));
    return RedisModule_ReplyWithError(ctx, text);
}

/* The result is made separately, so that a later source can still be refused. */
void bf_merge_make(bf_merge *m) {
    const bf_value *destination = m->values[0];
    if (destination) m->error = bf_value_copy(destination, &m->result);
    for (int i = 1; i < m->count && !m->error; i++) {
        if (!m->result) {
            m->error = bf_value_copy(m->values[i], &m->result);
        } else if (m->values[i] != destination) {
            m->error = bf_value_merge(m->result, m->values[i], &m->diag);
        }
    }
    if (!m->error && m->limit && bf_value_memory(m->result) > m->limit) m->error = UMBEL_ELIMIT;
    if (m->error) {
        bf_value_free(m->result);
        m->result = NULL;
    }
}

/* A single source is merged completely or not at all: no copy is needed if both together are within
 * the limit. */
static bool in_place(const bf_merge *m) {
    if (!m->values[0] || m->count != 2) return false;
    return m->limit == 0 ||
           bf_value_memory(m->values[0]) + bf_value_memory(m->values[1]) <= m->limit;
}

/* Most of the time is spent on fresh memory, which a merge in place does not need. */
bool bf_merge_takes_long(const bf_merge *m, uint64_t bytes) {
    uint64_t sum = 0;
    for (int i = 0; i < m->count; i++) {
        if (m->values[i]) sum += bf_value_bytes(m->values[i]);
    }
    return (in_place(m) ? sum / 4 : sum) >= bytes;
}

static void merge_in_place(RedisModuleCtx *ctx, bf_merge *m) {
    bf_key key;
    if (m->values[1] == m->values[0]) return;
    bf_key_open(&key, ctx, m->names[0], BF_WRITE);
    if (key.value == m->values[0]) m->error = bf_value_merge(key.edit, m->values[1], &m->diag);
    bf_key_close(&key);
}

/* A large classic filter is replicated as a whole, mostly after the command, where the slow log
 * does not count it, while clients wait.  The server calls this when it serves them again. */
static void account_for_pause(RedisModuleCtx *ctx, void *data) {
    enum { LONG = 100 };
    long long *began = data, pause = RedisModule_Milliseconds() - *began;
    RedisModule_Free(began);
    if (pause <= 0) return;
    RedisModule_LatencyAddSample(bf_named("bf-merge"), pause);
    if ((uint64_t)pause > bf_counters[BF_MERGE_PAUSE]) {
        bf_counters[BF_MERGE_PAUSE] = (uint64_t)pause;
    }
    if (pause >= LONG) {
        RedisModule_Log(
            ctx, "warning",
            "%s: replicating the classic filter as a whole kept clients waiting for %lld ms",
            bf_named("BF.MERGE"), pause);
    }
}

bool bf_merge_put(RedisModuleCtx *ctx, bf_merge *m) {
    bf_key key;
    void *old = NULL;
    long long began = RedisModule_Milliseconds();
    bool existed = m->values[0] != NULL;
    bf_key_open(&key, ctx, m->names[0], BF_WRITE);
    if (key.value != m->values[0] || key.foreign) {
        bf_key_close(&key);
        return false;
    }
    if (!existed) {
        bf_key_put(&key, m->result);
    } else if (m->result) { /* keeps the key's time to live */
        RedisModule_ModuleTypeReplaceValue(key.opened, bf_type_of(m->result), m->result, &old);
        key.value = m->result;
        bf_value_drop(old);
    }
    m->result = NULL;
    if (bf_replicate_contents(&key, existed)) {
        long long *since = RedisModule_Calloc(1, sizeof *since);
        *since = began;
        RedisModule_CreateTimer(ctx, 0, account_for_pause, since);
    } else {
        RedisModule_Replicate(ctx, bf_named("BF.MERGE"), "v", m->names, (size_t)m->count);
    }
    bf_count(BF_MERGES, 1);
    bf_key_changed(&key, "bf.merge");
    bf_key_close(&key);
    return true;
}

const char *bf_merge_open(RedisModuleCtx *ctx, bf_merge *m) {
    for (int i = 0; i < m->count; i++) {
        bf_key key;
        bf_key_open(&key, ctx, m->names[i], BF_READ);
        bf_key_close(&key);
        if (key.foreign) return BF_WRONG_TYPE;
        if (!key.value && i > 0) return BF_NOT_FOUND;
        m->values[i] = key.value;
    }
    return NULL;
}

static int merge_now(RedisModuleCtx *ctx, bf_merge *m) {
    bf_key key;
    bf_key_open(&key, ctx, m->names[0], BF_WRITE);
    bf_key_close(&key); /* opening settled any other merge of it */
    const char *wrong = bf_merge_open(ctx, m);
    if (wrong) return RedisModule_ReplyWithError(ctx, wrong);
    if (in_place(m)) {
        merge_in_place(ctx, m);
    } else {
        bf_merge_make(m);
    }
    if (m->error) return bf_merge_reply_error(ctx, m);
    if (bf_merge_put(ctx, m)) return RedisModule_ReplyWithSimpleString(ctx, "OK");
    bf_value_free(m->result); /* the destination has just expired */
    m->result = NULL;
    return merge_now(ctx, m);
}

static int merge(RedisModuleCtx *ctx, RedisModuleString **names, int count, bool synchronously) {
    const bf_value **values = RedisModule_Calloc((size_t)count, sizeof *values);
    bf_merge m = {.names = names, .values = values, .count = count, .limit = bf_config_limit(ctx)};
    if (synchronously || !bf_merging_start(ctx, &m)) merge_now(ctx, &m);
    RedisModule_Free((void *)values);
    return REDISMODULE_OK;
}

int bf_merge_synchronously(RedisModuleCtx *ctx, RedisModuleString **names, int count) {
    return merge(ctx, names, count, true);
}

int bf_cmd_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);
    return merge(ctx, argv + 1, argc - 1, false);
}
