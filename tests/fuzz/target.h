/* SPDX-License-Identifier: MIT
 *
 * target.h - what every fuzz target has
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called by libFuzzer, and by replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Aborts with this message unless the condition holds. */
void insist(bool true_always, const char *what);

/* Allocates, or aborts; never NULL, not even for 0 bytes. */
void *some_bytes(size_t len);

#endif
