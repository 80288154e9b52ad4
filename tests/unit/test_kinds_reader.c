/* SPDX-License-Identifier: MIT
 *
 * test_kinds_reader.c - files of the further kinds, asked by a reader written from their description
 */
#define _POSIX_C_SOURCE 200809L /* popen, mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kind_check.h"

enum { ASKED = 3000 };

static const uint8_t secret[17] = "a secret to read";

/* Keys "key0", "key1" and so on. */
typedef struct keys {
    uint32_t given, n;
    char texts[1000][16];
} keys;

static umbel_err next(void *ctx, umbel_key *out, size_t cap, size_t *n) {
    keys *k = ctx;
    for (*n = 0; *n < cap && *n < 1000 && k->given < k->n; (*n)++) {
        int len = snprintf(k->texts[*n], sizeof k->texts[*n], "key%u", k->given++);
        out[*n] = (umbel_key){k->texts[*n], (size_t)len};
    }
    return UMBEL_OK;
}

static void agrees(umbel_params params, uint32_t first, uint32_t n) {
    static keys k; /* key0 to key(first-1) are not in */
    char directory[] = "/tmp/umbel-kinds-XXXXXX", path[64], command[160], line[ASKED + 2] = "";
    umbel_filter *f = NULL;
    k.given = first;
    k.n = n;
    params.seed = 77;
    assert_int_equal(umbel_build(&params, NULL, next, &k, &f, NULL), UMBEL_OK);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/f.umb", directory);
    assert_int_equal(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL), UMBEL_OK);
    snprintf(command, sizeof command, "python3 tests/support/read_kinds.py %s %d %s", path, ASKED,
             params.key ? "612073656372657420746f2072656164" : "");
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

static void all_kinds(void **state) {
    (void)state;
    agrees((umbel_params){.kind = UMBEL_STATIC, .fpr = 0.05, .hashes = 3}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_STATIC, .fpr = 0.0001, .hashes = 4}, 1000, 2000);
    /* Two shards, of two widths. */
    agrees((umbel_params){.kind = UMBEL_STATIC, .fpr = 0.1}, 1000, 900000);
    agrees((umbel_params){.kind = UMBEL_COUNTING, .keys = 1500, .fpr = 0.05}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_SCALABLE, .bytes = 512, .fpr = 0.1}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_WINDOW, .keys = 500, .fpr = 0.1, .generations = 3}, 0,
           1600);
}

static void all_kinds_keyed(void **state) {
    (void)state;
    agrees((umbel_params){.kind = UMBEL_STATIC, .fpr = 0.05, .key = secret}, 1000, 2000);
    agrees((umbel_params){.kind = UMBEL_COUNTING, .keys = 1500, .fpr = 0.05, .key = secret}, 1000,
           2000);
    agrees((umbel_params){.kind = UMBEL_SCALABLE, .bytes = 512, .fpr = 0.1, .key = secret}, 1000,
           2000);
    agrees((umbel_params){.kind = UMBEL_WINDOW, .keys = 500, .fpr = 0.1, .key = secret}, 0, 1600);
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
