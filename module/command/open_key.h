/* SPDX-License-Identifier: MIT
 *
 * open_key.h - a key of the server, opened for a command
 */
#ifndef BF_OPEN_KEY_H
#define BF_OPEN_KEY_H

#include "api.h"
#include "value/value.h"

typedef struct bf_key {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    RedisModuleKey *opened;
    const bf_value *value; /* NULL: there is none */
    bf_value *edit;        /* the same if the key is open for writing, otherwise NULL */
    bool foreign;          /* the key holds another type */
    bool expires;          /* it was just created with a time to live */
} bf_key;

/* Opening for writing settles a merge that reads the value.  A window that goes by the clock first
 * forgets what is too old, unless a merge still reads it.  Close every key that was opened. */
enum { BF_READ = REDISMODULE_READ, BF_WRITE = REDISMODULE_READ | REDISMODULE_WRITE };
void bf_key_open(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name, int mode);
void bf_key_close(bf_key *key);

/* Opens the key for reading and changes nothing at all. */
void bf_key_look(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name);

/* Opens the key for a command that needs a filter.  False after an error reply, and there is
 * nothing to close. */
bool bf_key_open_filter(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name, int mode);

/* Puts a value into an empty key; the server takes ownership. */
void bf_key_put(bf_key *key, bf_value *value);

/* Signals clients that WATCH the key and sends the keyspace event.  Opening for writing does
 * neither: many writes change nothing. */
void bf_key_changed(const bf_key *key, const char *event);

/* Whether other clients may be served before the command is over.  Transactions, scripts,
 * replicated commands and those that have already waited must not be interrupted: asked to yield
 * there, a server aborts. */
bool bf_key_may_yield(RedisModuleCtx *ctx);

/* Lets the server serve other clients during a long command, where possible; afterwards the value
 * may have moved or be gone. */
void bf_key_yield(bf_key *key, int mode);

#endif
