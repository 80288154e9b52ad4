/* SPDX-License-Identifier: MIT
 *
 * open_key.h - one key of the server, opened for a command
 */
#ifndef BF_OPEN_KEY_H
#define BF_OPEN_KEY_H

#include "api.h"
#include "value/value.h"

typedef struct bf_key {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    RedisModuleKey *opened;
    bf_value *value; /* NULL: there is none */
    bool foreign;    /* the key holds something else */
} bf_key;

/* Mode is REDISMODULE_READ, or that and REDISMODULE_WRITE.  Close every key that was opened. */
void bf_key_open(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name, int mode);
void bf_key_close(bf_key *key);

/* Opens for a command that needs a filter.  Without one it replies why, and there is nothing to
 * close. */
bool bf_key_open_filter(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name, int mode);

/* Puts a value where there is none; from now on the server owns it. */
void bf_key_put(bf_key *key, bf_value *value);

/* Signals clients that watch the key and sends the keyspace event.  Opening for writing does not:
 * many writes change nothing. */
void bf_key_changed(const bf_key *key, const char *event);

/* Lets the server serve other clients within a long command, where it can; the value may have moved
 * afterwards, or be gone. */
void bf_key_yield(bf_key *key, int mode);

#endif
