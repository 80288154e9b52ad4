/* SPDX-License-Identifier: MIT
 *
 * report.h - facts, one per line for people or as one JSON object for programs
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lines/pipeline.h"
#include "umbel.h"

typedef struct cli_report {
    FILE *to;
    json_t *object;               /* that of --json; NULL: text */
    const char *emphasis, *plain; /* around labels */
    bool silent;                  /* no text */
} cli_report;

/* Runs a command, and writes the object of --json, with its status and what was wrong, even when an
 * error exits. */
int cli_report_run(int (*run)(const cli_settings *s), const cli_settings *s);

/* Writes the object, and begins another: for umbel info, which has one for each filter. */
void cli_report_next(void);

/* Part of the object of --json, or text on standard output; labels in bold on terminals. */
cli_report cli_report_begin(bool json);

/* Each takes a label for people and a name for JSON; NULL: not shown there. */
void cli_report_text(cli_report *r, const char *label, const char *name, const char *value);
void cli_report_count(cli_report *r, const char *label, const char *name, uint64_t value);
void cli_report_size(cli_report *r, const char *label, const char *name, uint64_t bytes);
void cli_report_rate(cli_report *r, const char *label, const char *name, double rate);
void cli_report_real(cli_report *r, const char *label, const char *name, double value,
                     int decimals);
void cli_report_flag(cli_report *r, const char *label, const char *name, bool value);

/* Any other JSON value; takes ownership. */
void cli_report_json(cli_report *r, const char *name, json_t *value);

/* Writes the text; exits if that fails. */
void cli_report_end(cli_report *r);

/* In JSON only: what was read. */
void cli_report_lines(cli_report *r, const cli_lines *read);

/* Numbers that JSON cannot express (infinity) become null, those beyond 63 bits strings. */
json_t *cli_json_real(double value);
json_t *cli_json_count(uint64_t value);

/* JSON requires UTF-8: other bytes become an object, {"bytes": "..."}, in base64. */
json_t *cli_json_text(const char *text);
json_t *cli_json_bytes(const void *bytes, size_t len);

/* A filter, and the lines that were read for it (NULL: none), in one line on standard error: keys,
 * size, bits per key, live and promised false-positive rate; nothing with -q.  With --json
 * everything about it, in any case. */
void cli_summary(const umbel_filter *f, const cli_settings *s, const cli_lines *read);

/* "1,000 keys", "about 1,003 keys" where they are estimated, "an unknown number of keys". */
char *cli_keys_text(const umbel_health *health, char *out);

/* The live rate: in JSON as measured, with "fpr_below" where it is only known to be below that. */
void cli_report_rate_now(cli_report *r, const char *label, const umbel_health *health);

/* Everything that umbel_describe and umbel_measure report, and the metadata stored with the filter.
 */
void cli_describe(cli_report *r, const umbel_filter *f);

#endif
