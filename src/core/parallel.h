/* SPDX-License-Identifier: MIT
 *
 * parallel.h - fork and join
 */
#ifndef UMBELI_PARALLEL_H
#define UMBELI_PARALLEL_H

#include <stdint.h>

/* Calls work(ctx, t) once for every t in [0, threads), one of them in the calling thread, and
 * returns when all are done.  The share of a thread that cannot be started is done by the calling
 * thread; without thread support, all of them are. */
void umbeli_parallel(uint32_t threads, void (*work)(void *ctx, uint32_t t), void *ctx);

/* Lets other threads run, for loops that wait for one of them. */
void umbeli_yield(void);

#endif
