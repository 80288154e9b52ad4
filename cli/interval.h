/* SPDX-License-Identifier: MIT
 *
 * interval.h - what a measured rate says about the true one
 */
#ifndef CLI_INTERVAL_H
#define CLI_INTERVAL_H

#include <stdint.h>

struct cli_interval {
    double low, high;
};

/* Wilson's interval for `hits` of `trials` at `z` standard deviations (1.96: 95 %, 2.58: 99 %).
 * It stays within 0 and 1 and is honest near 0, where rates of filters lie. */
struct cli_interval cli_wilson(uint64_t hits, uint64_t trials, double z);

#endif
