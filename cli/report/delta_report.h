/* SPDX-License-Identifier: MIT
 *
 * delta_report.h - what deltas hold, as text or JSON
 */
#ifndef CLI_DELTA_REPORT_H
#define CLI_DELTA_REPORT_H

#include "report/report.h"
#include "umbel_delta.h"
#include "umbel_lookup.h"

/* umbel delta: the new delta. */
void cli_delta_summary(const umbel_delta_info *one, const cli_settings *s);

/* umbel apply: all that follow the filter in the first argument. */
void cli_apply_summary(const umbel_delta_info *all, const cli_settings *s);

/* umbel info: those beside the filter in the file `path`, if there are any. */
void cli_describe_deltas(cli_report *r, const umbel_filter *f, const char *path);

#endif
