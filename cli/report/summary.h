/* SPDX-License-Identifier: MIT
 *
 * summary.h - what a filter is, in one line or in all detail
 */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "options/options.h"
#include "report/report.h"
#include "umbel.h"

/* One line on standard error: keys, bytes, bits a key, promised and live rate.  With --json the
 * detail on standard output instead, unless the filter itself went there. */
void cli_summary(const umbel_filter *f, const cli_settings *s, uint64_t lines);

/* Everything that umbel_describe knows, and what travels with the filter. */
void cli_describe(cli_report *r, const umbel_filter *f);

#endif
