/* SPDX-License-Identifier: MIT
 *
 * draw.h - random bytes: the one place where the command gets what nobody can predict
 */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include <stddef.h>

/* Fills `bytes`, at most 256, with what the system's generator gives; exits if it gives nothing. */
void cli_draw(void *bytes, size_t len);

#endif
