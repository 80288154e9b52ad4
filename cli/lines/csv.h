/* SPDX-License-Identifier: MIT
 *
 * csv.h - where records of CSV end: quoted fields may contain separators
 *
 * A quote opens a field only at its beginning; within the field two quotes stand for one.  So
 * whether a separator ends a record depends on all quotes before it, and text is scanned in order.
 */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_csv {
    uint8_t sep, delimiter;
} cli_csv;

/* How far a text that begins with a record was scanned.  Start with zeros. */
typedef struct cli_csv_scan {
    size_t at;    /* what comes before was scanned */
    size_t whole; /* end of the last complete record */
    bool quoted;  /* `at` lies within a quoted field */
} cli_csv_scan;

/* Scans on, up to `len`, which has grown since the last call. */
void cli_csv_scan_on(const cli_csv *csv, cli_csv_scan *scan, const uint8_t *text, size_t len);

/* The length of the first record without its separator; `len` if it does not end. */
size_t cli_csv_first(const cli_csv *csv, const uint8_t *text, size_t len);

/* `ends` are the offsets of all separators of a text that begins with a record: drops those within
 * quoted fields, and returns how many are left.  Exits if such a field is not followed by a
 * delimiter or the end of its record: then its quote was none, and took lines for one record. */
size_t cli_csv_drop_quoted(const cli_csv *csv, const uint8_t *text, size_t len, uint32_t *ends,
                           size_t n);

/* Exits; the message ends with the beginning of the field. */
_Noreturn void cli_csv_refuse(const char *what, const uint8_t *field, size_t len);

#endif
