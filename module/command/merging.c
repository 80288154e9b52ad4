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
 *   - Commands of the module cannot change a value that is being read (bf_value_edit).  They wait
 *     like the merge's own client (bf_merging_wait) and run when it is over.  Within transactions
 *     and scripts, where no client may wait, they settle the merge first (bf_merging_settle): the
 *     server waits for the thread, and the destination gets the result before the command
 *     continues.  In both cases replicas and the append-only file get the commands in that order.
 *   - The server deletes, renames, overwrites, evicts and flushes keys without asking.  The thread
 *     holds what it reads (bf_value_hold), so nothing that it reads is ever freed.  In the end, the
 *     keys are looked up again: if one of them holds anything else by now, the result is thrown
 *     away and the merge is done synchronously, with what the keys hold then.
 *
 * Reading is free: nothing changes, so lookups, dumps, copies, snapshots of a forked child and so
 * on need no care.  Windows that go by the clock, which otherwise forget when they are read, forget
 * after the merge, and so do those on replicas and in the append-only file.
 *
 * The thread knows nothing of keys and asks the server for nothing but memory (server_memory.c);
 * UnblockClient is its last call.
 *
 * A merge that shares a key with a running one waits for it, and begins when that is over.
 *
 * A merge is done synchronously for small filters, where no client may wait, on replicas, which
 * have to follow their primary in order, and without memory for a copy of the destination, if one
 * source can go right into it.
 *
 * If the client leaves or is killed, its merge is cancelled and nothing changes.  The same happens
 * when the server becomes a replica, which disconnects blocked clients.
 *
 * Tests need merges that last.  Two settings are for them, hidden, and out of reach for clients
 * unless the server has enable-protected-configs: bf.background-merge-from, the bytes from which a
 * merge is one for a thread, and bf.hold-merges, with which threads do not begin until it is off,
 * or the server waits for them.
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
    bool wanted; /* the server waits for it; under the lock, like the next */
    bool made;   /* the thread has ended */
    waiter *first, **last;
    struct merging *behind; /* merges that wait for it */
} merging;

/* Only the thread that serves clients uses the list.  No value is in two merges of it: the second
 * merge waits for the first. */
static merging *running;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;

/* For tests. */
static long long background_from = BF_MERGE_LONG;
static int holding; /* whether threads do not begin; under the lock */

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
        bf_key_look(&key, ctx, names[i]);
        bf_key_close(&key);
        m = merging_of(&key);
    }
    return m;
}

/* ---- The thread ---- */

static void *make(void *arg) {
    merging *m = arg;
    pthread_mutex_lock(&lock);
    while (holding && !m->wanted) pthread_cond_wait(&news, &lock);
    pthread_mutex_unlock(&lock);
    bf_merge_make(&m->merge);
    pthread_mutex_lock(&lock);
    m->made = true;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&lock);
    RedisModule_UnblockClient(m->client, m);
    return NULL;
}

static void wait_for_thread(merging *m) {
    pthread_mutex_lock(&lock);
    m->wanted = true;
    pthread_cond_broadcast(&news);
    while (!m->made) pthread_cond_wait(&news, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- The end ---- */

static void let_go(const merging *m) {
    for (int i = 0; i < m->merge.count; i++) {
        if (m->merge.values[i]) bf_value_let_go(m->merge.values[i]);
    }
}

/* Ends the merge, so that nobody finds it to settle.  What it reads is held until the destination
 * has the result: a window that forgets before that would forget twice. */
static void leave(merging *m) {
    merging **at = &running;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    bf_count(BF_MERGES_RUNNING, -1);
}

/* Whether the keys still hold what the thread has read. */
static bool unchanged(RedisModuleCtx *ctx, const bf_merge *m) {
    bool same = true;
    for (int i = 0; i < m->count && same; i++) {
        bf_key key;
        bf_key_look(&key, ctx, m->names[i]);
        same = key.value == m->values[i] && !key.foreign;
        bf_key_close(&key);
    }
    return same;
}

static void settle(RedisModuleCtx *ctx, merging *m) {
    int db = RedisModule_GetSelectedDb(ctx);
    wait_for_thread(m);
    RedisModule_SelectDb(ctx, m->db);
    leave(m);
    if (is_replica(ctx) || !unchanged(ctx, &m->merge)) {
        m->stage = OVERTAKEN;
    } else if (m->merge.error) {
        m->stage = m->merge.error == UMBEL_ENOMEM ? SYNCHRONOUS : FAILED;
    } else {
        m->stage = bf_merge_put(ctx, &m->merge) ? PUT : OVERTAKEN;
    }
    let_go(m);
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
    if (m->stage == RUNNING) {
        leave(m);
        let_go(m);
    }
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
    RedisModule_Free((void *)m->merge.values);
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
    leave(m);
    let_go(m);
    m->stage = SYNCHRONOUS;
    RedisModule_UnblockClient(m->client, m);
}

/* Whether it is one for a thread. */
static bool opens_for_long(RedisModuleCtx *ctx, bf_merge *merge) {
    return !bf_merge_open(ctx, merge) && bf_merge_takes_long(merge, (uint64_t)background_from);
}

static void begin(RedisModuleCtx *ctx, merging *m) {
    merging *other = merging_of_any(ctx, m->merge.names, m->merge.count);
    if (other) {
        merging **last = &other->behind;
        while (*last) last = &(*last)->next;
        *last = m;
    } else if (opens_for_long(ctx, &m->merge)) {
        start_thread(m);
    } else {
        m->stage = SYNCHRONOUS;
        RedisModule_UnblockClient(m->client, m);
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
    if (!merging_of_any(ctx, merge->names, merge->count) && !opens_for_long(ctx, merge)) {
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
    bf_key_look(&key, ctx, argv[1]);
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

/* ---- For tests ---- */

static long long get_from(const char *name, void *privdata) {
    (void)name, (void)privdata;
    return background_from;
}

static int set_from(const char *name, long long value, void *privdata, RedisModuleString **err) {
    (void)name, (void)privdata, (void)err;
    background_from = value;
    return REDISMODULE_OK;
}

static int get_holding(const char *name, void *privdata) {
    (void)name, (void)privdata;
    return holding;
}

static int set_holding(const char *name, int value, void *privdata, RedisModuleString **err) {
    (void)name, (void)privdata, (void)err;
    pthread_mutex_lock(&lock);
    holding = value;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&lock);
    return REDISMODULE_OK;
}

int bf_merging_register(RedisModuleCtx *ctx) {
    static const char *words[] = {"no", "yes"};
    static const int values[] = {0, 1};
    const unsigned hidden = REDISMODULE_CONFIG_HIDDEN | REDISMODULE_CONFIG_PROTECTED;
    return RedisModule_RegisterNumericConfig(ctx, "background-merge-from", BF_MERGE_LONG,
                                             hidden | REDISMODULE_CONFIG_MEMORY, 0, INT64_MAX,
                                             get_from, set_from, NULL, NULL) ||
           RedisModule_RegisterEnumConfig(ctx, "hold-merges", 0, hidden, words, values, 2,
                                          get_holding, set_holding, NULL, NULL);
}
