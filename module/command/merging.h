/* SPDX-License-Identifier: MIT
 *
 * merging.h - merging large filters in a background thread: merging.c says how
 */
#ifndef BF_MERGING_H
#define BF_MERGING_H

#include "command/open_key.h"

/* One BF.MERGE: its keys and its outcome. */
typedef struct bf_merge {
    RedisModuleString **names; /* the destination and the sources */
    const bf_value **values;   /* what they hold; the first is NULL if the destination is new */
    int count;
    uint64_t limit; /* for the result; 0: none */
    umbel_err error;
    umbel_diag diag;
    bf_value *result; /* NULL: none yet, or the key has it */
} bf_merge;

/* ---- The steps: bf_merge.c ---- */

/* Looks up what the keys hold.  NULL, or an error reply. */
const char *bf_merge_open(RedisModuleCtx *ctx, bf_merge *m);

/* Bytes of filters whose merge takes about 20 ms. */
#define BF_MERGE_LONG ((long long)32 << 20)

/* Whether the merge takes longer than one of this many bytes. */
bool bf_merge_takes_long(const bf_merge *m, uint64_t bytes);

/* Makes the result, or sets the error.  Touches neither keys nor the values it reads, and asks the
 * server for nothing but memory, so that any thread may do it. */
void bf_merge_make(bf_merge *m);

/* Gives the result to the destination, and tells replicas and listeners.  False: the destination
 * holds something else by now. */
bool bf_merge_put(RedisModuleCtx *ctx, bf_merge *m);

int bf_merge_reply_error(RedisModuleCtx *ctx, const bf_merge *m);

/* The whole command, with what the keys hold now. */
int bf_merge_synchronously(RedisModuleCtx *ctx, RedisModuleString **names, int count);

/* ---- In the background: merging.c ---- */

/* Leaves a merge that takes long, or has to wait for another, to a thread that answers the client
 * in the end.  False if it is better done synchronously, or the client cannot wait. */
bool bf_merging_start(RedisModuleCtx *ctx, bf_merge *m);

/* Call at the beginning of a command that writes to the key.  True: the key is being merged, and
 * the command will run when that is over. */
bool bf_merging_wait(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleCmdFunc command);

/* Registers the settings that tests need: merging.c. */
int bf_merging_register(RedisModuleCtx *ctx);

/* Before the key changes: ends the merge that reads or makes it and returns whether there was one;
 * the key may then hold something else. */
bool bf_merging_settle(const bf_key *key);

#endif
