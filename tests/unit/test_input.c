/* SPDX-License-Identifier: MIT
 *
 * test_input.c - what an input of lines is, and what in its lines cannot be seen
 */
#define _GNU_SOURCE /* strsep */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "umbel_records.h"

enum { ROOM = 1 << 14, COLUMNS = 7 };

typedef struct file {
    uint8_t at[ROOM];
    size_t len;
} file;

static void read_file(const char *name, file *to) {
    char path[200];
    snprintf(path, sizeof path, "tests/golden/inputs/%s.list", name);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is missing", path);
    to->len = fread(to->at, 1, ROOM, f);
    assert_true(to->len < ROOM);
    fclose(f);
}

/* Feeds the file in pieces of `step` bytes, taking batches in between or only at the end. */
static umbel_err read_lines(const file *f, size_t step, uint64_t *lines, umbel_unseen *unseen,
                            umbel_diag *diag) {
    umbel_recipe *line = NULL;
    umbel_records *reader = NULL;
    umbel_records_batch b;
    assert_ok(umbel_recipe_parse("line", &line, NULL));
    assert_ok(umbel_records_new(line, UMBEL_USE_RECORD, '\n', &reader, NULL));
    umbel_err e = UMBEL_OK;
    *lines = 0;
    for (size_t at = 0; !e && (at < f->len || at == 0); at += step) {
        size_t n = f->len - at < step ? f->len - at : step;
        assert_ok(umbel_records_feed(reader, f->at + at, n, at + n == f->len, NULL));
        while (!(e = umbel_records_next(reader, &b, diag)) && b.n) *lines += b.n;
    }
    umbel_records_unseen(reader, unseen);
    umbel_records_free(reader);
    umbel_recipe_free(line);
    return e;
}

static void check_row(char **column) {
    static file f;
    umbel_unseen unseen;
    umbel_diag diag = {0};
    uint64_t lines;
    read_file(column[0], &f);
    umbel_input is = umbel_input_look(f.at, f.len, '\n', NULL);
    if (strcmp(umbel_input_name(is), column[1]) != 0) {
        fail_msg("%s: %s instead of %s", column[0], umbel_input_name(is), column[1]);
    }
    umbel_err e = read_lines(&f, ROOM, &lines, &unseen, &diag);
    if (is) {
        assert_int_equal(e, UMBEL_ENOTSUP);
        assert_non_null(strstr(diag.what, umbel_input_text(is)));
        return;
    }
    for (size_t step = 1; step <= f.len + 1; step++) {
        assert_ok(read_lines(&f, step, &lines, &unseen, NULL));
        uint64_t got[] = {lines, unseen.returns, unseen.marks};
        for (size_t i = 0; i < 3; i++) assert_int_equal(got[i], strtoull(column[3 + i], NULL, 10));
    }
    assert_ok(read_lines(&f, ROOM, &lines, &unseen, NULL));
    assert_int_equal(unseen.nuls, strtoull(column[6], NULL, 10));
}

static void test_golden_table(void **state) {
    (void)state;
    char line[400];
    size_t rows = 0;
    FILE *table = fopen("tests/golden/inputs/inputs.tsv", "r");
    assert_non_null(table);
    for (; fgets(line, sizeof line, table); rows++) {
        char *rest = line, *column[COLUMNS];
        for (size_t i = 0; i < COLUMNS; i++) column[i] = strsep(&rest, "\t\n");
        if (rows) check_row(column);
    }
    assert_true(rows > 30);
    fclose(table);
}

/* Every prefix of a magic number asks for more, and nothing that cannot become one does. */
static void test_prefixes(void **state) {
    (void)state;
    bool more;
    static const char png[] = "\x89PNG\r\n\x1a\n";
    for (size_t n = 1; n < 8; n++) {
        assert_int_equal(umbel_input_look(png, n, '\n', &more), UMBEL_INPUT_LINES);
        assert_true(more);
    }
    assert_int_equal(umbel_input_look(png, 8, '\n', &more), UMBEL_INPUT_PNG);
    assert_int_equal(umbel_input_look("BZhx", 4, '\n', &more), UMBEL_INPUT_LINES);
    assert_false(more);
    assert_int_equal(umbel_input_look("a", 1, '\n', &more), UMBEL_INPUT_LINES);
    assert_false(more);
}

/* Keys are bytes: NULs alone do not make UTF-16, and where NUL ends a line they say nothing. */
static void test_not_utf16(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        uint8_t separator;
        umbel_input is;
    } cases[] = {
        {"a\0b\0", 4, '\n', UMBEL_INPUT_UTF16LE},  {"a\0b\0", 4, 0, UMBEL_INPUT_LINES},
        {"\0a\0b", 4, '\n', UMBEL_INPUT_UTF16BE},  {"\0\n\0\n", 4, '\n', UMBEL_INPUT_LINES},
        {"a\0b\n\0c", 6, '\n', UMBEL_INPUT_LINES}, {"ab\0cd\0", 6, '\n', UMBEL_INPUT_LINES},
        {"\0A\0 \n", 5, '\n', UMBEL_INPUT_LINES},  {"\xff\xfe,b\n", 5, '\n', UMBEL_INPUT_LINES},
        {"\xff\xfe,b", 5, 0, UMBEL_INPUT_LINES},   {"a\0b\0\n", 5, '\n', UMBEL_INPUT_LINES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(umbel_input_look(cases[i].text, cases[i].len, cases[i].separator, NULL),
                         cases[i].is);
    }
}

/* What is not part of a key is not counted. */
static void test_recipes_without_it(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf"
                               "a,b\r\nc,d\r\n";
    static const struct {
        const char *recipe;
        uint64_t returns, marks;
    } cases[] = {
        {"line", 2, 1},
        {"line crlf", 0, 1},
        {"line trim", 0, 1},
        {"line header", 1, 0},
        {"field=1 delimiter=,", 0, 1},
        {"field=2 delimiter=,", 2, 0},
        {"field=2 delimiter=, lower", 2, 0},
        {"line sha1", 2, 1},
        {"csv field=1", 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        umbel_recipe *r = NULL;
        umbel_unseen u = {0};
        assert_ok(umbel_recipe_parse(cases[i].recipe, &r, NULL));
        umbel_unseen_count(r, UMBEL_USE_RECORD, '\n', text, sizeof text - 1, true, &u);
        if (u.returns != cases[i].returns || u.marks != cases[i].marks) {
            fail_msg("%s: %d returns, %d marks", cases[i].recipe, (int)u.returns, (int)u.marks);
        }
        umbel_recipe_free(r);
    }
}

/* A mark in front of a quote opens a field in a later record, too: files that were put together. */
static void test_mark_in_a_later_record(void **state) {
    (void)state;
    static const char text[] = "\"a\nb\",1\n\xef\xbb\xbf\"c\nd\",2\n\xef\xbb\xbf"
                               "e\"\nf,3\n";
    umbel_recipe *r = NULL;
    umbel_recipe_progress progress = {0};
    uint32_t ends[8];
    size_t n = 0, len = sizeof text - 1;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n') ends[n++] = (uint32_t)i;
    }
    assert_ok(umbel_recipe_parse("csv field=1", &r, NULL));
    assert_int_equal(umbel_recipe_ends(r, '\n', text, len, ends, n), 4);
    size_t second = ends[0] + 1;
    assert_int_equal(umbel_recipe_first(r, '\n', text + second, len - second), 10);
    umbel_recipe_scan(r, '\n', &progress, text, second + 7); /* within its quotes */
    assert_int_equal(progress.whole, second);
    umbel_key key = {text + second, ends[1] - second};
    uint8_t state_of, *scratch = malloc(umbel_recipe_room(r, 1, key.len));
    assert_int_equal(umbel_recipe_apply(r, UMBEL_USE_RECORD, &key, 1, scratch, &state_of), 1);
    assert_int_equal(key.len, 3);
    assert_memory_equal(key.data, "c\nd", 3);
    free(scratch);
    umbel_recipe_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_table),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_not_utf16),
        cmocka_unit_test(test_recipes_without_it),
        cmocka_unit_test(test_mark_in_a_later_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
