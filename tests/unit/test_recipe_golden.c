/* SPDX-License-Identifier: MIT
 *
 * test_recipe_golden.c - keys of records as other programs find them: tests/golden/recipes
 */
#define _GNU_SOURCE /* strsep */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "umbel_records.h"

enum { LINE = 1 << 16, FIELDS = 7 };

typedef struct bytes {
    bool given;
    size_t len;
    uint8_t at[LINE / 2];
} bytes;

static void from_hex(const char *text, bytes *to) {
    to->given = strcmp(text, "-") != 0;
    to->len = 0;
    if (!to->given || strcmp(text, "empty") == 0) return;
    for (; text[0] && text[1]; text += 2) {
        char pair[] = {text[0], text[1], 0};
        to->at[to->len++] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

/* `key`, or `key lookup`. */
static umbel_recipe_use use_named(const char *name) {
    static const char *const names[] = {"record", "key", "digest", "host"};
    size_t len = strcspn(name, " "), use = 0;
    while (use < 4 && (strlen(names[use]) != len || strncmp(names[use], name, len) != 0)) use++;
    assert_true(use < 4);
    return (umbel_recipe_use)(use | (name[len] ? UMBEL_USE_LOOKUP : 0));
}

static const char *const states[] = {"key", "nothing", "malformed"};

static umbel_recipe *recipe_for(const char *text, const bytes *header) {
    umbel_recipe *r = NULL, *bound = NULL;
    umbel_diag diag = {0};
    if (umbel_recipe_parse(text, &r, &diag)) fail_msg("%s: %s", text, diag.what);
    if (!header->given) return r;
    assert_ok(umbel_recipe_bind(r, header->at, header->len, &bound, NULL));
    umbel_recipe_free(r);
    return bound;
}

static void check_key(char *const field[FIELDS], umbel_found found, umbel_key key,
                      const bytes *want) {
    if (strcmp(states[found], field[4]) != 0) {
        fail_msg("%s (%s) of %s is %s, not %s", field[0], field[1], field[3], states[found],
                 field[4]);
    }
    if (!want->given) return;
    if (key.len != want->len || (key.len && memcmp(key.data, want->at, key.len) != 0)) {
        fail_msg("%s (%s) of %s: not %s", field[0], field[1], field[3], field[5]);
    }
}

/* The same record in a file, fed byte by byte. */
static void check_file(char *const field[FIELDS], const bytes *header, const bytes *record,
                       const bytes *want) {
    umbel_recipe *r = NULL;
    umbel_records *reader = NULL;
    umbel_records_batch batch;
    assert_ok(umbel_recipe_parse(field[0], &r, NULL));
    assert_ok(umbel_records_new(r, use_named(field[1]), 0, &reader, NULL));
    bool has_nul = memchr(record->at, 0, record->len) != NULL || strstr(field[0], "header");
    for (size_t i = 0; !has_nul && header->given && i <= header->len; i++) {
        assert_ok(umbel_records_feed(reader, i < header->len ? (const void *)&header->at[i] : "", 1,
                                     false, NULL));
        assert_ok(umbel_records_next(reader, &batch, NULL));
        assert_int_equal(batch.n, 0);
    }
    for (size_t i = 0; !has_nul && i <= record->len; i++) {
        bool last = i == record->len;
        assert_ok(
            umbel_records_feed(reader, last ? (const void *)"" : &record->at[i], 1, last, NULL));
        assert_ok(umbel_records_next(reader, &batch, NULL));
        assert_int_equal(batch.n, last);
    }
    if (!has_nul) {
        check_key(field, (umbel_found)batch.states[0], batch.keys[0], want);
        assert_int_equal(batch.records[0].len, record->len);
        assert_int_equal(umbel_records_header(reader).len, header->len);
    }
    umbel_records_free(reader);
    umbel_recipe_free(r);
}

/* The words that rows of the tables have, or imply, as bits. */
static uint32_t words_seen;

/* Other words can have the same traits: digests do. */
static bool has_traits_alone(uint32_t traits, uint32_t index) {
    umbel_word other;
    for (uint32_t i = 0; umbel_recipe_word(i, &other); i++) {
        if (i != index && other.traits == traits) return false;
    }
    return traits != 0;
}

static void see_words(const umbel_recipe *r) {
    umbel_word word;
    for (uint32_t i = 0; umbel_recipe_word(i, &word); i++) {
        const char *at = strstr(umbel_recipe_text(r), word.name);
        bool implied = has_traits_alone(word.traits, i) &&
                       (umbel_recipe_traits(r) & word.traits) == word.traits;
        if (at || implied) words_seen |= UINT32_C(1) << i;
    }
}

static void check_row(char *line) {
    static bytes header, record, want;
    char *field[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        field[i] = strsep(&line, "\t");
        assert_non_null(field[i]);
    }
    from_hex(field[2], &header);
    from_hex(field[3], &record);
    from_hex(field[5], &want);
    umbel_recipe *r = recipe_for(field[0], &header);
    see_words(r);
    umbel_key key = {record.at, record.len};
    uint8_t state;
    uint8_t *exact = malloc(umbel_recipe_room(r, 1, record.len) + 1);
    umbel_recipe_apply(r, use_named(field[1]), &key, 1, exact, &state);
    check_key(field, (umbel_found)state, key, &want);
    free(exact);
    umbel_recipe_free(r);
    check_file(field, &header, &record, &want);
}

static size_t check_table(const char *path) {
    static char line[LINE];
    FILE *file = fopen(path, "r");
    size_t rows = 0;
    if (!file) fail_msg("%s: cannot be opened", path);
    assert_non_null(fgets(line, sizeof line, file)); /* names */
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        check_row(line);
        rows++;
    }
    fclose(file);
    return rows;
}

static void test_tables(void **state) {
    (void)state;
    size_t rows = check_table("tests/golden/recipes/fields.tsv") +
                  check_table("tests/golden/recipes/csv.tsv") +
                  check_table("tests/golden/recipes/json.tsv") +
                  check_table("tests/golden/recipes/meanings.tsv");
    assert_true(rows >= 400);
    assert_true(check_table("tests/golden/recipes/hosts.tsv") >= 300);
    umbel_word word;
    for (uint32_t i = 0; umbel_recipe_word(i, &word); i++) {
        if (!(words_seen >> i & 1)) fail_msg("no table has %s", word.name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
