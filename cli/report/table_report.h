/* SPDX-License-Identifier: MIT
 *
 * table_report.h - the filters of a table: measured, listed, drawn
 */
#ifndef CLI_TABLE_REPORT_H
#define CLI_TABLE_REPORT_H

#include "options/options.h"
#include "report/report.h"
#include "umbel_table.h"

/* One place and what its filter says of itself; info is zero where there is none. */
typedef struct cli_place {
    umbel_table_place seen;
    umbel_info info;
} cli_place;

typedef struct cli_places {
    cli_place *at;
    size_t count;
    size_t filters, empty, without, unreadable; /* places by their state */
    uint64_t bytes, keys;
    double fill;     /* set bits of all filters */
    double rate;     /* mean live rate of the filters */
    double max_keys; /* estimated in any one filter; infinite: every bit of one is set */
} cli_places;

/* All places of the column; NULL: of every column.  Free `at`. */
cli_places cli_table_places(const umbel_table *t, const char *column);

/* The list with a line a place, or an array in r's object. */
void cli_table_report_print(const cli_places *p, umbel_table_system system, cli_report *r);

/* What size would keep this rate. */
void cli_table_report_advise(const cli_places *p, umbel_table_system system, double fpr,
                             cli_report *r);

/* A character for each place, fuller ones darker. */
void cli_table_report_draw(const cli_places *p, FILE *to);

/* Where one place is, for people: "blocks 0 - 2048", "granule 3", "row group 0, column s". */
void cli_table_place_text(const umbel_table_place *p, umbel_table_system system, char *out,
                          size_t cap);

#endif
