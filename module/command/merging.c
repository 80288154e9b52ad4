/* SPDX-License-Identifier: MIT
 *
 * merging.c - merging large filters in a background thread
 *
 * Merging gigabytes takes up to seconds, most of which goes into fresh memory for the result.  So
 * the client is blocked, a thread makes the result, and the server continues to serve others.
 *
 * The merge is atomic.  The result is a separate value: until the destination gets it, in a few
 * microseconds and on the thread that serves clients, nobody sees any of it.  At that moment every
 * source must be what the thread has read.  Two things ensure that:
 *
 *   - Commands of the module do not change a value that is being read.  They wait like the merge's
 *     own client (bf_merging_wait) and run when it is over.  Within transactions and scripts, where
 *     no client may wait, they settle the merge first (bf_merging_settle): the server waits for the
 *     thread, and the destination gets the result before the command continues.  In both cases
 *     replicas and the append-only file get the commands in that order.
 *   - The server deletes, renames, overwrites, evicts and flushes keys without asking.  The thread
 *     holds what it reads (bf_value_hold), so nothing that it reads is ever freed.  In the end, the
 *     keys are looked up again: if one of them holds anything else by now, the result is thrown
 *     away and the merge is done synchronously, with what the keys hold then.
 *
 * Reading is free: nothing changes, so lookups, dumps, copies, snapshots of a forked child and so
 * on need no care.
 *
 * A merge that shares a key with a running one waits for it, and begins when that is over.
 *
 * A merge is done synchronously for small filters, where no client may wait, on replicas, which
 * have to follow their primary in order, and without memory for a copy of the destination, if one
 * source can go right into it.
 *
 * If the client leaves or is killed, its merge is cancelled and nothing changes.  The same happens
 * when the server becomes a replica, which disconnects blocked clients.
 */
#include "command/merging.h"

#include <pthread.h>

#include "command/reply.h"
#include "config.h"
#include "counters.h"
#include "value/value_memory.h"

/* In clusters, keys may be moving to another node.  A primary that is about to step down pauses,
 * and must not write. */
#define TRY_AGAIN "TRYAGAIN a key is gone or writing is paused: nothing was done"

/* WAITING for another merge, or RUNNING, or how it ended: the result was PUT into the destination,
 * the merge FAILED and changed nothing, was OVERTAKEN by changes of its keys, or is to be
 * SYNCHRONOUS after all. */
typedef enum stage { WAITING, RUNNING, PUT, FAILED, OVERTAKEN, SYNCHRONOUS } stage;

/* A command that waits for the end of a merge. */
typedef struct waiter {
    struct waiter *next;
    RedisModuleBlockedClient *client;
    RedisModuleCmdFunc command;
} waiter;

typedef struct merging {
    struct merging *next; /* in a list: those that run, or wait for the same one */
    bf_merge merge;
    RedisModuleBlockedClient *client;
    int db;
    stage stage;
    bool made; /* the thread has ended; under the lock */
    waiter *first, **last;
    struct merging *behind; /* merges that wait for it */
} merging;

/* Only the thread that serves clients uses the list.  No value is in two merges of it: the second
 * merge waits for the first. */
static merging *running;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one_is_made = PTHREAD_COND_INITIALIZER;

static bool is_replica(RedisModuleCtx *ctx) {
    return RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE;
}

static bool may_wait(RedisModuleCtx *ctx) {
    return bf_key_may_yield(ctx) && !bf_config_replayed(ctx) && !is_replica(ctx);
}

static bool in_cluster(RedisModuleCtx *ctx) {
    return RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_CLUSTER;
}

static bool makes(RedisModuleCtx *ctx, const merging *m, const RedisModuleString *name) {
    return m->db == RedisModule_GetSelectedDb(ctx) && !m->merge.values[0] &&
           RedisModule_StringCompare(m->merge.names[0], name) == 0;
}

static bool reads(const merging *m, const bf_value *v) {
    for (int i = 0; i < m->merge.count; i++) {
        if (m->merge.values[i] == v) return true;
    }
    return false;
}

/* The merge that reads the value of this key, or is about to make the key. */
static merging *merging_of(const bf_key *key) {
    merging *m = running;
    while (m && !(key->value ? reads(m, key->value) : makes(key->ctx, m, key->name))) m = m->next;
    return m;
}

static merging *merging_of_any(RedisModuleCtx *ctx, RedisModuleString **names, int count) {
    merging *m = NULL;
    for (int i = 0; i < count && !m && running; i++) {
        bf_key key;
        bf_key_open(&key, ctx, names[i], BF_READ);
        bf_key_close(&key);
        m = merging_of(&key);
    }
    return m;
}

/* ---- The thread ---- */

static void *make(void *arg) {
    merging *m = arg;
    bf_merge_make(&m->merge);
    pthread_mutex_lock(&lock);
    m->made = true;
    pthread_cond_broadcast(&one_is_made);
    pthread_mutex_unlock(&lock);
    RedisModule_UnblockClient(m->client, m);
    return NULL;
}

static void wait_for_thread(const merging *m) {
    pthread_mutex_lock(&lock);
    while (!m->made) pthread_cond_wait(&one_is_made, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- The end ---- */

/* Ends the merge, so that nobody finds it to settle. */
static void leave(merging *m, stage end) {
    merging **at = &running;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    m->stage = end;
    bf_count(BF_MERGES_RUNNING, -1);
    for (int i = 0; i < m->merge.count; i++) {
        if (m->merge.values[i]) bf_value_let_go(m->merge.values[i]);
    }
}

/* Whether the keys still hold what the thread has read. */
static bool unchanged(RedisModuleCtx *ctx, const bf_merge *m) {
    bool same = true;
    for (int i = 0; i < m->count && same; i++) {
        bf_key key;
        bf_key_open(&key, ctx, m->names[i], BF_READ);
        same = key.value == m->values[i] && !key.foreign;
        bf_key_close(&key);
    }
    return same;
}

static void settle(RedisModuleCtx *ctx, merging *m) {
    int db = RedisModule_GetSelectedDb(ctx);
    wait_for_thread(m);
    RedisModule_SelectDb(ctx, m->db);
    if (is_replica(ctx) || !unchanged(ctx, &m->merge)) {
        leave(m, OVERTAKEN);
    } else if (m->merge.error == UMBEL_ENOMEM) {
        leave(m, SYNCHRONOUS);
    } else if (m->merge.error) {
        leave(m, FAILED);
    } else {
        leave(m, PUT);
        bf_merge_put(ctx, &m->merge);
    }
    RedisModule_SelectDb(ctx, db);
}

bool bf_merging_settle(const bf_key *key) {
    merging *m = merging_of(key);
    if (m) settle(key->ctx, m);
    return m != NULL;
}

static int answer(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    merging *m = RedisModule_GetBlockedClientPrivateData(ctx);
    bool may_write = !RedisModule_AvoidReplicaTraffic();
    if (m->stage == RUNNING && may_write) settle(ctx, m);
    switch (m->stage) {
    case PUT: return RedisModule_ReplyWithSimpleString(ctx, "OK");
    case FAILED: return bf_merge_reply_error(ctx, &m->merge);
    default: break;
    }
    if (!may_write || (m->stage == OVERTAKEN && in_cluster(ctx))) {
        return RedisModule_ReplyWithError(ctx, TRY_AGAIN);
    }
    return bf_merge_synchronously(ctx, argv + 1, argc - 1);
}

/* ---- The beginning ---- */

static void begin(RedisModuleCtx *ctx, merging *m);

static void begin_later(RedisModuleCtx *ctx, void *data) {
    merging *m = data;
    RedisModule_SelectDb(ctx, m->db);
    begin(ctx, m);
}

/* The server finally calls this even if the client is gone, and then perhaps without one in ctx. */
static void forget(RedisModuleCtx *ctx, void *privdata) {
    merging *m = privdata;
    if (m->stage == RUNNING) leave(m, FAILED);
    for (waiter *w = m->first, *next; w; w = next) {
        next = w->next;
        RedisModule_UnblockClient(w->client, w);
    }
    for (merging *b = m->behind, *next; b; b = next) {
        next = b->next;
        b->next = NULL;
        RedisModule_CreateTimer(ctx, 0, begin_later, b);
    }
    for (int i = 0; i < m->merge.count; i++) RedisModule_FreeString(ctx, m->merge.names[i]);
    RedisModule_Free(m->merge.names);
    RedisModule_Free(m->merge.values);
    bf_value_free(m->merge.result);
    RedisModule_Free(m);
}

static void start_thread(merging *m) {
    pthread_t thread;
    for (int i = 0; i < m->merge.count; i++) {
        if (m->merge.values[i]) bf_value_hold(m->merge.values[i]);
    }
    m->stage = RUNNING;
    bf_count(BF_MERGES_RUNNING, 1);
    m->next = running;
    running = m;
    if (pthread_create(&thread, NULL, make, m) == 0) {
        (void)pthread_detach(thread);
        return;
    }
    leave(m, SYNCHRONOUS);
    RedisModule_UnblockClient(m->client, m);
}

static void begin(RedisModuleCtx *ctx, merging *m) {
    merging *other = merging_of_any(ctx, m->merge.names, m->merge.count);
    if (other) {
        merging **last = &other->behind;
        while (*last) last = &(*last)->next;
        *last = m;
    } else if (bf_merge_open(ctx, &m->merge) || !bf_merge_takes_long(&m->merge)) {
        m->stage = SYNCHRONOUS;
        RedisModule_UnblockClient(m->client, m);
    } else {
        start_thread(m);
    }
}

static merging *new_merging(RedisModuleCtx *ctx, RedisModuleString **names, int count) {
    merging *m = RedisModule_Calloc(1, sizeof *m);
    m->merge.names = RedisModule_Calloc((size_t)count, sizeof *m->merge.names);
    m->merge.values = RedisModule_Calloc((size_t)count, sizeof *m->merge.values);
    m->merge.count = count;
    m->merge.limit = bf_config_limit(ctx);
    for (int i = 0; i < count; i++) {
        m->merge.names[i] = names[i];
        RedisModule_RetainString(ctx, names[i]);
    }
    m->db = RedisModule_GetSelectedDb(ctx);
    m->last = &m->first;
    return m;
}

bool bf_merging_start(RedisModuleCtx *ctx, bf_merge *merge) {
    if (!may_wait(ctx)) return false;
    if (!merging_of_any(ctx, merge->names, merge->count) &&
        (bf_merge_open(ctx, merge) || !bf_merge_takes_long(merge))) {
        return false;
    }
    merging *m = new_merging(ctx, merge->names, merge->count);
    m->client = RedisModule_BlockClient(ctx, answer, NULL, forget, 0);
    begin(ctx, m);
    return true;
}

/* ---- Those who wait ---- */

static int run(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    const waiter *w = RedisModule_GetBlockedClientPrivateData(ctx);
    bf_key key;
    bf_key_open(&key, ctx, argv[1], BF_READ);
    bf_key_close(&key);
    bool gone = !key.value && in_cluster(ctx);
    if (gone || RedisModule_AvoidReplicaTraffic()) {
        return RedisModule_ReplyWithError(ctx, TRY_AGAIN);
    }
    return w->command(ctx, argv, argc);
}

static void forget_waiter(RedisModuleCtx *ctx, void *privdata) {
    (void)ctx;
    RedisModule_Free(privdata);
}

bool bf_merging_wait(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleCmdFunc command) {
    if (!running || !may_wait(ctx)) return false;
    merging *m = merging_of_any(ctx, &name, 1);
    if (!m) return false;
    waiter *w = RedisModule_Calloc(1, sizeof *w);
    w->command = command;
    w->client = RedisModule_BlockClient(ctx, run, NULL, forget_waiter, 0);
    *m->last = w;
    m->last = &w->next;
    return true;
}
