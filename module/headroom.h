/* SPDX-License-Identifier: MIT
 *
 * headroom.h - whether the machine has memory, before a large filter touches it
 */
#ifndef BF_HEADROOM_H
#define BF_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Allocations from this size on are worth the question. */
#define BF_LARGE ((size_t)64 << 20)

/* Kernels promise more than they have and kill the process that takes them at their word, so that a
 * large allocation succeeds and its first use ends the server.  True where nothing is known. */
bool bf_headroom(size_t bytes);

#endif
