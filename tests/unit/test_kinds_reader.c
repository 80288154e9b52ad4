/* SPDX-License-Identifier: MIT
 *
 * test_kinds_reader.c - files of the further kinds, queried by a reader written from their
 * description
 */
#define _POSIX_C_SOURCE 200809L /* popen, mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "any_filter.h"
#include "kind_check.h"

enum { ASKED = 3000 };

static const uint8_t secret[17] = "a secret to read";

/* Tells the builder of keys "key0" to "key(first-1)", and of many more. */
static void tell(umbel_builder *b, uint32_t first) {
    for (uint32_t i = 0; i < first + 20000; i++) {
        char text[16];
        int len = snprintf(text, sizeof text, i < first ? "key%u" : "other%u", i);
        assert_int_equal(umbel_builder_never(b, &(umbel_key){text, (size_t)len}, 1, NULL), 0);
    }
}

/* Keys "key0", "key1" and so on. */
static umbel_filter *built(const umbel_params *params, const uint8_t *key, uint32_t first,
                           uint32_t n) {
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    size_t count = n > first ? n - first : 0;
    char(*texts)[16] = calloc(count + 1, sizeof *texts);
    umbel_key *keys = calloc(count + 1, sizeof *keys);
    assert_true(texts && keys);
    for (size_t i = 0; i < count; i++) {
        int len = snprintf(texts[i], sizeof texts[i], "key%u", first + (uint32_t)i);
        keys[i] = (umbel_key){texts[i], (size_t)len};
    }
    assert_int_equal(umbel_builder_new(params, &(umbel_opts){.secret = key}, &b, NULL), UMBEL_OK);
    if (params->kind == UMBEL_KIND_EXACT) tell(b, first);
    assert_int_equal(umbel_builder_add(b, keys, count, NULL), UMBEL_OK);
    assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
    umbel_builder_free(b);
    free(texts);
    free(keys);
    return f;
}

static void agrees_with(umbel_params params, const uint8_t *with, uint32_t first, uint32_t n) {
    char directory[] = "/tmp/umbel-kinds-XXXXXX", path[64], command[160], line[ASKED + 2] = "";
    params.seed = 77;
    umbel_filter *f = built(&params, with, first, n); /* key0 to key(first-1) are not in */
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/f.umb", directory);
    assert_int_equal(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL), UMBEL_OK);
    snprintf(command, sizeof command, "python3 tests/support/read_kinds.py %s %d %s", path, ASKED,
             with ? "612073656372657420746f2072656164" : "");
    FILE *reader = popen(command, "r");
    assert_non_null(reader);
    char *read = fgets(line, sizeof line, reader);
    int status = pclose(reader);
    unlink(path);
    rmdir(directory);
    assert_non_null(read);
    assert_int_equal(status, 0);
    unsigned found = 0;
    for (unsigned i = 0; i < ASKED; i++) {
        char key[16];
        int len = snprintf(key, sizeof key, "key%u", i);
        bool in = umbel_contains(f, key, (size_t)len);
        found += in;
        if (line[i] != '0' + in) fail_msg("kind %d: %s", (int)params.kind, key);
    }
    assert_true(found > 0 && found < ASKED); /* both answers were compared */
    umbel_free(f);
}

static void agrees(umbel_params params, uint32_t first, uint32_t n) {
    agrees_with(params, NULL, first, n);
}

static void all_kinds(void **state) {
    (void)state;
    agrees((umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 0.03}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 0.4}, 1000, 9000);   /* two levels */
    agrees((umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 0.1}, 1000, 900000); /* two shards */
    agrees((umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 0.6}, 1000, 900000);
    agrees((umbel_params){.kind = UMBEL_KIND_EXACT}, 2000, 2100);
    agrees((umbel_params){.kind = UMBEL_KIND_EXACT}, 1000, 9000);
    agrees((umbel_params){.kind = UMBEL_KIND_EXACT}, 1000, 100000); /* no fingerprints */
    agrees((umbel_params){.kind = UMBEL_KIND_EXACT, .fpr = 0.05}, 1000, 900000); /* two shards */
    agrees((umbel_params){.kind = UMBEL_KIND_STATIC, .fpr = 0.05, .hashes = 3}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_KIND_STATIC, .fpr = 0.0001, .hashes = 4}, 1000, 2000);
    /* Two shards, of two widths. */
    agrees((umbel_params){.kind = UMBEL_KIND_STATIC, .fpr = 0.1}, 1000, 900000);
    agrees((umbel_params){.kind = UMBEL_KIND_COUNTING, .capacity = 1500, .fpr = 0.05}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_KIND_SCALABLE, .bytes = 512, .fpr = 0.1}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_KIND_SCALABLE, .fpr = 0.2}, 1000, 900000); /* all forms */
    agrees(
        (umbel_params){
            .kind = UMBEL_KIND_SCALABLE, .bytes = 512, .fpr = 0.1, .scalable.expansion = 2},
        1000, 2000);
    agrees(
        (umbel_params){
            .kind = UMBEL_KIND_WINDOW, .capacity = 500, .fpr = 0.1, .window.generations = 3},
        0, 1600);
}

static void all_kinds_keyed(void **state) {
    (void)state;
    agrees_with((umbel_params){.kind = UMBEL_KIND_STATIC, .fpr = 0.05}, secret, 1000, 2000);
    agrees_with((umbel_params){.kind = UMBEL_KIND_EXACT}, secret, 1000, 2000);
    agrees_with((umbel_params){.kind = UMBEL_KIND_COUNTING, .capacity = 1500, .fpr = 0.05}, secret,
                1000, 2000);
    agrees_with((umbel_params){.kind = UMBEL_KIND_SCALABLE, .bytes = 512, .fpr = 0.1}, secret, 1000,
                2000);
    agrees_with((umbel_params){.kind = UMBEL_KIND_WINDOW, .capacity = 500, .fpr = 0.1}, secret, 0,
                1600);
}

int main(void) {
    if (system("python3 -c 0") != 0) {
        printf("1..0 # skipped: python3 is not installed\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(all_kinds_keyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
