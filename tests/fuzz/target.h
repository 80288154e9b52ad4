/* SPDX-License-Identifier: MIT
 *
 * target.h - what every fuzz target has
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What libFuzzer calls, and replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Ends the program, with these words, when something is not as it must be. */
void insist(bool true_always, const char *what);

/* Memory that is there, or the program ends; never NULL, not even for 0 bytes. */
void *some_bytes(size_t len);

#endif
