/* SPDX-License-Identifier: MIT
 *
 * counted_steps.h - the work done so far: basic blocks of what is compiled to be counted, and a
 *                   step for every 16 bytes that the C library's memory functions go through for it
 */
#ifndef COUNTED_STEPS_H
#define COUNTED_STEPS_H

#include <stdint.h>

/* In all threads: the same number in every run, give or take the last lot of each. */
uint64_t steps_taken(void);

#endif
