/* SPDX-License-Identifier: MIT
 *
 * open_key.h - one key of the server, opened for a command
 */
#ifndef BF_OPEN_KEY_H
#define BF_OPEN_KEY_H

#include "api.h"
#include "value/value.h"

typedef struct bf_slot {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    RedisModuleKey *key;
    bf_value *value; /* NULL: there is none */
    bool foreign;    /* the key holds something else */
} bf_slot;

/* Mode is REDISMODULE_READ, or that and REDISMODULE_WRITE.  Close every slot that was opened. */
void bf_slot_open(bf_slot *slot, RedisModuleCtx *ctx, RedisModuleString *name, int mode);
void bf_slot_close(bf_slot *slot);

/* Opens for a command that needs a filter.  Without one it replies why, and there is nothing to
 * close. */
bool bf_slot_open_filter(bf_slot *slot, RedisModuleCtx *ctx, RedisModuleString *name, int mode);

/* Puts a value where there is none; from now on the server owns it. */
void bf_slot_put(bf_slot *slot, bf_value *value);

/* Tells everybody who watches the key or listens for events.  Opening for writing does not: many
 * writes change nothing. */
void bf_slot_changed(const bf_slot *slot, const char *event);

/* Lets the server look after other clients within a long command, where it can; the value may be
 * elsewhere afterwards, or gone. */
void bf_slot_yield(bf_slot *slot, int mode);

#endif
