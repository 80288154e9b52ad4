/* SPDX-License-Identifier: MIT
 *
 * table_report.h - the filters of a table: measured, listed, plotted
 */
#ifndef CLI_TABLE_REPORT_H
#define CLI_TABLE_REPORT_H

#include "options/options.h"
#include "report/report.h"
#include "umbel_table.h"

/* A place and what is known about its filter; both are zero if it has none. */
typedef struct cli_place {
    umbel_table_place seen;
    umbel_info info;
    umbel_measurement now;
} cli_place;

typedef struct cli_places {
    cli_place *at;
    size_t count;
    size_t filters, empty, without, unreadable; /* places by their state */
    uint64_t bytes, keys;
    double fill;     /* set bits of all filters */
    double rate;     /* mean live false-positive rate */
    double max_keys; /* the largest estimate of any filter; infinite: all bits of one are set */
} cli_places;

/* All places of the column; NULL: of all columns.  Free `at`. */
cli_places cli_table_places(const umbel_table *t, const char *column);

/* The list with one line per place, or an array in r's JSON object. */
void cli_table_report_print(const cli_places *p, umbel_table_system system, cli_report *r);

/* The file's own properties: some of them for people, all of them in JSON. */
void cli_table_report_facts(const umbel_table *t, cli_report *r);

/* The size that would keep this false-positive rate. */
void cli_table_report_advise(const cli_places *p, umbel_table_system system, double fpr,
                             cli_report *r);

/* One character per place, darker for fuller filters. */
void cli_table_report_draw(const cli_places *p, FILE *to);

/* A place for people: "blocks from 0 to 2048", "granule 3, column 1", "row group 0, name". */
void cli_table_place_text(const umbel_table_place *p, umbel_table_system system, char *out,
                          size_t cap);

#endif
