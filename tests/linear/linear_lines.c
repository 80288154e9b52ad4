/* SPDX-License-Identifier: MIT
 *
 * linear_lines.c - lines, compressed or not, options and quantities of the command
 */
#define _DEFAULT_SOURCE /* mkstemp */
#include "cases.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "command/command.h"
#include "lines/pipeline.h"
#include "steps.h"
#include "umbel_text.h"

/* What options.c needs from main.c. */
static const uint8_t options[] = {OPT_ALSO, OPT_META, OPT_QUIET, OPT_END};
const cli_command cli_umbel = {.name = "umbel", .options = options};

static const char *recipe;
static bool packed;

static void make_short_lines(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, i % 8 ? 'a' : '\n');
}

static void make_empty_lines(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, '\n');
}

static void make_one_line(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, 'a');
}

/* One short line, one longer than a block, and so on. */
static void make_long_lines(text *t, size_t len) {
    while (t->len < len) {
        text_put(t, "short\n", 6);
        for (size_t i = 0; i < 300000; i++) text_byte(t, ' ');
        text_byte(t, '\n');
    }
}

/* Records of a quote per byte, in fields with line breaks. */
static void make_quotes(text *t, size_t len) {
    while (t->len < len) text_put(t, "a,\"\"\"\n\n\"\"\",\"\"\n", 15);
}

/* One record of quoted pairs, longer than any block. */
static void make_long_record(text *t, size_t len) {
    text_put(t, "a,\"", 3);
    while (t->len < len) text_put(t, "\"\"\n", 3);
    text_put(t, "\"\n", 2);
}

static void drain(void *ctx, cli_batch *b) {
    *(uint64_t *)ctx += b->lines;
}

static void parse_lines(const text *t) {
    char name[] = "/tmp/umbel-linear-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    gzFile to = gzdopen(fd, packed ? "wb1" : "wbT");
    assert_int_equal(gzwrite(to, t->bytes, (unsigned)t->len), (int)t->len);
    gzclose(to);
    const char *files[] = {name};
    uint64_t lines = 0;
    cli_feed feed = {.files = files, .nfiles = 1, .sep = '\n', .max_line = 1 << 30};
    feed.threads = 1;
    umbel_recipe *parsed = NULL;
    assert_int_equal(umbel_recipe_parse(recipe, &parsed, NULL), UMBEL_OK);
    feed.recipes = &parsed;
    feed.nrecipes = 1;
    cli_job job = {NULL, drain, &lines};
    cli_pipeline(&feed, &job);
    umbel_recipe_free(parsed);
    unlink(name);
    assert_true(lines > 0);
}

static void lines(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t size;
        void (*make)(text *t, size_t len);
    } kinds[] = {{"short lines", 1 << 18, make_short_lines},
                 {"empty lines", 1 << 17, make_empty_lines},
                 {"one line", 1 << 20, make_one_line},
                 {"long lines", 1 << 20, make_long_lines}};
    static const char *const recipes[] = {"line",
                                          "field=3 crlf trim lower",
                                          "field=1000000 delimiter=space",
                                          "field=2,-1,3-5 delimiter=a missing=empty",
                                          "json=.a[0].b",
                                          "line sha1"};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 12; k++) {
            packed = k % 2;
            recipe = recipes[k / 2];
            assert_linear(&(parser){kinds[i].name, kinds[i].size, kinds[i].make, parse_lines});
        }
    }
}

static void csv(void **state) {
    (void)state;
    recipe = "csv field=2";
    for (int k = 0; k < 2; k++) {
        packed = k;
        assert_linear(&(parser){"csv, quotes", 1 << 17, make_quotes, parse_lines});
        assert_linear(&(parser){"csv, one record", 1 << 18, make_long_record, parse_lines});
    }
}

/* ---- Options and quantities --------------------------------------------------------------- */

static void make_arguments(text *t, size_t count) {
    for (size_t i = 0; i < count; i++) text_put(t, i % 2 ? "--also=xyz" : "--meta=y=z", 11);
}

static void parse_arguments(const text *t) {
    int argc = (int)(t->len / 11) + 1;
    char **argv = malloc((size_t)argc * sizeof *argv);
    assert_non_null(argv);
    static char command[] = "umbel";
    argv[0] = command;
    for (int i = 1; i < argc; i++) argv[i] = (char *)t->bytes + 11 * (size_t)(i - 1);
    cli_settings s;
    cli_parse(&cli_umbel, argc, argv, &s);
    assert_int_equal(s.also.count + s.meta.count / 2, (size_t)argc - 1);
    cli_settings_free(&s);
    free(argv);
}

static void make_digits(text *t, size_t len) {
    for (size_t i = 0; i < len; i++) text_byte(t, '0');
    text_byte(t, '\0');
}

static void parse_quantity(const text *t) {
    uint64_t whole;
    double rate;
    const char *digits = (const char *)t->bytes;
    (void)umbel_parse_count(digits, &whole, NULL);
    (void)umbel_parse_size(digits, &whole, NULL);
    (void)umbel_parse_rate(digits, &rate, NULL);
    (void)umbel_parse_duration(digits, &whole, NULL);
}

static void arguments(void **state) {
    (void)state;
    assert_linear(&(parser){"options", 2000, make_arguments, parse_arguments});
    assert_linear(&(parser){"digits", 20000, make_digits, parse_quantity});
}

int linear_lines(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(csv),
                                       cmocka_unit_test(arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
