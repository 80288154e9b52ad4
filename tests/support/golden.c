/* SPDX-License-Identifier: MIT */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "native_file.h"

#ifndef UMBEL_TESTS_DIR
#define UMBEL_TESTS_DIR "tests"
#endif

uint8_t *golden_file(const char *path, size_t *len) {
    char full[1024];
    snprintf(full, sizeof full, "%s/golden/%s", UMBEL_TESTS_DIR, path);
    size_t bytes;
    return file_bytes(full, len ? len : &bytes);
}

static unsigned nibble(char c) {
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    if (!at) fail_msg("'%c' is not a hex digit", c);
    return (unsigned)(at - digits);
}

uint8_t *golden_hex(const char *text, size_t *len) {
    size_t n = strlen(text) / 2;
    uint8_t *bytes = malloc(n + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(nibble(text[2 * i]) << 4 | nibble(text[2 * i + 1]));
    }
    *len = n;
    return bytes;
}

static char *cut_line(golden_table *t) {
    char *line = t->next;
    if (!*line) return NULL;
    char *end = strchr(line, '\n');
    t->next = end ? end + 1 : line + strlen(line);
    if (end) *end = 0;
    return line;
}

golden_table golden_table_open(const char *path) {
    golden_table t = {.text = (char *)golden_file(path, NULL)};
    t.next = t.text;
    char *line;
    do {
        line = cut_line(&t);
    } while (line && line[0] == '#');
    return t;
}

bool golden_table_next(golden_table *t) {
    char *line = cut_line(t);
    if (!line) return false;
    for (size_t i = 0; i < GOLDEN_COLUMNS; i++) {
        t->column[i] = line;
        char *tab = strchr(line, '\t');
        line = tab ? tab + 1 : line + strlen(line);
        if (tab) *tab = 0;
    }
    t->rows++;
    return true;
}

void golden_table_close(golden_table *t) {
    free(t->text);
}

static uint8_t *native_in(const char *table, const char *name, size_t *len) {
    golden_table t = golden_table_open(table);
    uint8_t *bytes = NULL;
    while (!bytes && golden_table_next(&t)) {
        if (strcmp(t.column[0], name) == 0) bytes = golden_hex(t.column[1], len);
    }
    golden_table_close(&t);
    return bytes;
}

uint8_t *golden_native(const char *name, size_t *len) {
    uint8_t *bytes = native_in("native/filters.tsv", name, len);
    if (!bytes) bytes = native_in("native/recipes.tsv", name, len);
    if (!bytes) fail_msg("no golden file is called %s", name);
    return bytes;
}
