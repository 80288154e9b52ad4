/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "../support/any_filter.h"

static void use_place(const umbel_table *t, size_t i, size_t len) {
    umbel_table_place p;
    umbel_filter *f = NULL;
    umbel_info info;
    umbel_table_place_of(t, i, &p);
    umbel_err e = umbel_table_filter(t, i, &f, NULL);
    insist((e == UMBEL_OK) == (p.state == UMBEL_TABLE_FILTER), "a filter where there is one");
    insist(p.first <= p.end, "a place with its end behind its start");
    if (e) return;
    if (umbel_table_system_of(t) != UMBEL_TABLE_CLICKHOUSE) {
        insist(p.len <= len && p.offset <= len - p.len, "a filter within the file");
    }
    umbel_describe(f, &info);
    insist(measured(f).bits_set <= info.bits, "no more bits set than there are");
    umbel_contains(f, "key", 3);
    umbel_free(f);
}

static void ask(const umbel_table *t, const char *column, const char *text, uint8_t *may) {
    uint8_t key[64];
    size_t key_len;
    umbel_table_answer answer;
    if (umbel_table_key(t, column, NULL, text, strlen(text), key, sizeof key, &key_len, NULL))
        return;
    if (umbel_table_check(t, column, key, key_len, may, &answer, NULL)) return;
    uint64_t places = 0;
    for (size_t i = 0; i < umbel_table_count(t); i++) places += may[i];
    insist(places == answer.places, "the places that are counted");
    insist(answer.may_contain || !places, "a place only where the file may contain it");
}

void use_table(const uint8_t *bytes, size_t len, const umbel_table_hints *hints) {
    static const char *const texts[] = {"", "key000123", "7", "2024-02-29", "zzzz"};
    enum { PLACES = 200 };
    umbel_table *t = NULL;
    umbel_opts opts = {.max_bytes = 1 << 24};
    if (umbel_table_read(bytes, len, hints, &opts, &t, NULL)) {
        insist(!t, "no table after an error");
        return;
    }
    size_t count = umbel_table_count(t);
    umbel_diag fault;
    for (size_t i = 0; umbel_table_fault(t, i, &fault); i++) insist(fault.what, "words for it");
    for (size_t i = 0; i < count && i < PLACES; i++) use_place(t, i, len);
    uint8_t *may = some_bytes(count);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        umbel_table_place first = {0};
        if (count) umbel_table_place_of(t, 0, &first);
        if (count <= PLACES) {
            ask(t, NULL, texts[i], may);
            if (first.column) ask(t, first.column, texts[i], may);
        }
    }
    free(may);
    umbel_table_close(t);
}
