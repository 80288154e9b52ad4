/* SPDX-License-Identifier: MIT
 *
 * database_report.h - several tables, such as all of a database: a line for each, and sums
 */
#ifndef CLI_DATABASE_REPORT_H
#define CLI_DATABASE_REPORT_H

#include "report/report.h"
#include "table/table_report.h"

typedef struct cli_files {
    char **at;
    size_t count, cap;
} cli_files;

/* The files that the arguments name.  A directory with tables (.sst, .ldb) stands for all of them,
 * in the order of their names, unless it is a ClickHouse part; any other argument is a file. */
cli_files cli_database_files(const char *const *args, int nargs, bool parts);
void cli_files_free(cli_files *files);

typedef struct cli_database {
    uint64_t files, filters, keys, bytes;
    double rate;      /* of all filters, summed */
    double rates_max; /* the worst file's mean */
    size_t may;       /* files that may hold the key */
    bool silent, headed;
    json_t *list;
} cli_database;

cli_database cli_database_begin(bool silent);

/* One file's filters, or its answer to --check. */
void cli_database_add(cli_database *d, const char *path, const cli_places *p, cli_report *r);
void cli_database_answer(cli_database *d, const char *path, bool may, cli_report *r);
void cli_database_end(cli_database *d, bool check, cli_report *r);

#endif
