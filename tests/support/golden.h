/* SPDX-License-Identifier: MIT
 *
 * golden.h - reads the files under tests/golden: whole files, tab-separated tables, hex
 *
 * Any failure here ends the running test with a message.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of tests/golden/<path>, with a NUL appended; free it. */
uint8_t *golden_file(const char *path, size_t *len);

/* The native file of that name in tests/golden/native/filters.tsv; free it. */
uint8_t *golden_native(const char *name, size_t *len);

/* Bytes of a hex text; free them.  An empty text gives one byte of memory and length 0. */
uint8_t *golden_hex(const char *text, size_t *len);

enum { GOLDEN_COLUMNS = 12 };

typedef struct golden_table {
    char *text, *next;
    char *column[GOLDEN_COLUMNS]; /* of the row read last; "" where the row is shorter */
    size_t rows;                  /* read so far */
} golden_table;

/* Rows of tests/golden/<path>; lines with a leading # and the line of column names are skipped. */
golden_table golden_table_open(const char *path);
bool golden_table_next(golden_table *t);
void golden_table_close(golden_table *t);

#endif
