/* SPDX-License-Identifier: MIT
 *
 * plan_report.h - plans as text, a table and a plot
 */
#ifndef CLI_PLAN_REPORT_H
#define CLI_PLAN_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "options/options.h"
#include "umbel_plan.h"

enum { CLI_PLANS_MAX = 16, CLI_CURVE = 9 };

typedef struct cli_plan {
    umbel_plan plan;
    bool possible;
    const char *format; /* of another system, or NULL */
} cli_plan;

typedef struct cli_plans {
    cli_plan at[CLI_PLANS_MAX]; /* one per kind */
    size_t count;
    cli_plan chosen; /* what umbel build would make */
    bool any_possible;
} cli_plans;

/* Multiples of the planned keys at which rates are shown. */
extern const double cli_curve[CLI_CURVE];

/* How often a domain name with this many labels is wrong at most: each of its parents is asked. */
double cli_plan_name_rate(const umbel_plan *plan, int labels);

void cli_plan_report_print(const cli_settings *s, const cli_plans *p);
void cli_plan_report_plot(const umbel_plan *plan);

#endif
