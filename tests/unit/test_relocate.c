/* SPDX-License-Identifier: MIT
 *
 * test_relocate.c - filters whose memory moves: every block moves once, and nothing is lost
 */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/filter.h"
#include "every_format.h"
#include "foreign.h"
#include "umbel_foreign.h"
#include "umbel_recipe.h"
#include "watched_memory.h"

enum { KEYS = 1200, MOVES = 5, ENTRIES = 6 };

static const char *const names[ENTRIES] = {"a", "name", "third one", "4", "V", "the last"};
static const char *const values[ENTRIES] = {"", "x", "a value that is longer", "name", "5", "6"};

static umbel_filter *make(const any_params *params, const umbel_opts *opts) {
    static const umbel_key some[] = {{"ada", 3}, {"grace", 5}, {"", 0}};
    umbel_filter *f = NULL;
    assert_ok(params->native.kind == UMBEL_KIND_STATIC
                  ? build_from(&params->native, opts, some, 3, &f, NULL)
                  : any_create(params, opts, &f, NULL));
    for (size_t i = 0; i < ENTRIES; i++) assert_ok(umbel_set_meta(f, names[i], values[i], NULL));
    assert_ok(umbel_set_recipe(f, "field=3 delimiter=; lower", NULL));
    (void)umbel_set_data(f, "data", 4, NULL); /* where it can have some */
    return f;
}

static void fill(umbel_filter *f, uint32_t from) {
    for (uint32_t key = from; key < from + KEYS; key++) {
        assert_ok(umbel_add(f, &key, sizeof key, NULL, NULL));
    }
}

static void same(const umbel_filter *moved, const umbel_filter *still) {
    size_t len, still_len;
    uint8_t *bytes = foreign_bytes(moved, &len), *want = foreign_bytes(still, &still_len);
    const char *name, *value;
    assert_int_equal(len, still_len);
    assert_memory_equal(bytes, want, len);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_true(umbel_meta_at(moved, i, &name, &value));
        assert_string_equal(name, names[i]);
        assert_string_equal(value, values[i]);
    }
    assert_string_equal(umbel_get_recipe(moved), "field=3 delimiter=; lower");
    free(bytes);
    free(want);
}

static void moves(const any_params *params) {
    watched_memory m;
    watch_memory(&m, 0);
    umbeli_mover mover = {.move = watched_move, .ctx = &m};
    umbel_filter *still = make(params, NULL), *moved = make(params, &m.opts);
    for (uint32_t move = 0; move < MOVES; move++) {
        size_t calls = m.calls;
        umbeli_filter_relocate(&moved, &mover);
        assert_int_equal(m.calls - calls, m.blocks);
        same(moved, still);
        if (params->native.kind == UMBEL_KIND_STATIC) continue;
        fill(moved, move * KEYS);
        fill(still, move * KEYS);
        same(moved, still);
    }
    umbel_free(still);
    umbel_free(moved);
    assert_int_equal(m.blocks, 0);
}

static void everything_moves(void **state) {
    (void)state;
    const any_params cases[] = {
        {.native = {.kind = UMBEL_KIND_BLOCKED, .capacity = KEYS, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_CLASSIC, .capacity = KEYS, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_COUNTING, .capacity = KEYS, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_SCALABLE, .capacity = KEYS / 4, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_WINDOW, .capacity = KEYS / 4, .fpr = 0.01}},
        {.foreign =
             {.format = UMBEL_FMT_REDISBLOOM, .capacity = KEYS / 4, .fpr = 0.01, .expansion = 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) moves(&cases[i]);
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, KEYS, 0.01);
    for (size_t i = 0; i < count; i++) moves(&(any_params){.foreign = forms[i].made});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
