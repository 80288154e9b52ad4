/* SPDX-License-Identifier: MIT
 *
 * test_native_reader.c - files of the library checked by scripts/umbel-read, which shares no code
 * with it
 *
 * labels: slow
 */
#define _DEFAULT_SOURCE /* mkdtemp, popen */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden.h"
#include "native_file.h"
#include "random_keys.h"
#include "subjects.h"
#include "umbel.h"

#define GOLDEN "tests/golden/native/"

static const uint8_t secret[17] = "a secret to read";

static char folder[64], filter_path[96], keys_path[96], answers_path[96], secret_path[96];

static int make_folder(void **state) {
    strcpy(folder, "/tmp/umbel-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(filter_path, sizeof filter_path, "%s/f.umb", folder);
    snprintf(keys_path, sizeof keys_path, "%s/keys", folder);
    snprintf(answers_path, sizeof answers_path, "%s/answers", folder);
    snprintf(secret_path, sizeof secret_path, "%s/secret", folder);
    return random_start(state);
}

static int remove_folder(void **state) {
    (void)state;
    remove(filter_path);
    remove(keys_path);
    remove(answers_path);
    remove(secret_path);
    return rmdir(folder);
}

/* Its exit status. */
static int run(const char *command) {
    int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int run_reader(const char *options) {
    char command[512];
    snprintf(command, sizeof command, "python3 scripts/umbel-read %s %s <%s >%s 2>&1", options,
             filter_path, keys_path, answers_path);
    return run(command);
}

static void put_hex(FILE *out, const umbel_key *key) {
    const uint8_t *bytes = key->data;
    for (size_t i = 0; i < key->len; i++) fprintf(out, "%02x", bytes[i]);
    fputc('\n', out);
}

/* The reader must print exactly those keys that the library finds. */
static void same_answers(const umbel_filter *f, const umbel_key *keys, size_t n) {
    char want_path[112];
    snprintf(want_path, sizeof want_path, "%s.want", keys_path);
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, filter_path, NULL));
    FILE *all = fopen(keys_path, "w"), *want = fopen(want_path, "w");
    assert_true(all && want);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        put_hex(all, &keys[i]);
        if (!umbel_contains(f, keys[i].data, keys[i].len)) continue;
        put_hex(want, &keys[i]);
        found++;
    }
    fclose(all);
    fclose(want);
    umbel_info info;
    char options[128];
    umbel_describe(f, &info);
    snprintf(options, sizeof options, "--hex %s%s", info.fingerprint ? "--secret-file=" : "",
             info.fingerprint ? secret_path : "");
    assert_int_equal(run_reader(options), found == 0);
    size_t want_len, got_len;
    uint8_t *want_text = file_bytes(want_path, &want_len);
    uint8_t *got_text = file_bytes(answers_path, &got_len);
    assert_int_equal(got_len, want_len);
    assert_memory_equal(got_text, want_text, want_len);
    free(want_text);
    free(got_text);
    remove(want_path);
}

/* Full enough for false positives, on which both must agree too. */
static void test_answers(void **state) {
    (void)state;
    hex_keys golden = hex_keys_from(GOLDEN "keys.hex");
    key_set set = random_keys(3000, 1);
    file_put(secret_path, secret, 16);
    for (unsigned way = 0; way < 4; way++) {
        umbel_params params = {.kind = way % 2 ? UMBEL_KIND_BLOCKED : UMBEL_KIND_CLASSIC,
                               .capacity = 1000,
                               .fpr = 0.2,
                               .seed = random_word()};
        umbel_opts opts = {.secret = way < 2 ? NULL : secret};
        umbel_filter *f = NULL;
        assert_ok(umbel_create(&params, &opts, &f, NULL));
        same_answers(f, set.keys, 100); /* none */
        assert_ok(umbel_add_many(f, set.keys, 1000, NULL, NULL, NULL));
        assert_ok(umbel_set_meta(f, "name", "text", NULL));
        same_answers(f, set.keys, set.n);
        same_answers(f, golden.keys, golden.n); /* all lengths */
        umbel_free(f);
    }
    free_keys(&set);
    free_hex_keys(&golden);
}

/* More than one piece, the last one incomplete. */
static void test_pieces(void **state) {
    (void)state;
    key_set set = random_keys(300, 1);
    umbel_filter *f = NULL;
    umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .bytes = (1 << 20) + 1, .hashes = 40};
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    assert_ok(umbel_add_many(f, set.keys, 200, NULL, NULL, NULL));
    same_answers(f, set.keys, set.n);
    size_t len;
    uint8_t *bytes = file_bytes(filter_path, &len);
    bytes[4096 + (1 << 20)] ^= 1; /* the one byte of the second piece */
    file_put(filter_path, bytes, len);
    assert_int_equal(run_reader("--hex"), 2);
    free(bytes);
    free_keys(&set);
    umbel_free(f);
}

static void test_lines_and_header(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&(umbel_params){.bytes = 1024, .seed = 77}, NULL, &f, NULL));
    assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
    assert_ok(umbel_add(f, "", 0, NULL, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, filter_path, NULL));
    umbel_free(f);
    file_put(keys_path, "bob\nada\n\nada ", 13);
    size_t len;
    assert_int_equal(run_reader(""), 0);
    uint8_t *text = file_bytes(answers_path, &len);
    assert_string_equal((char *)text, "ada\n\n");
    free(text);
    assert_int_equal(run_reader("--info"), 0);
    text = file_bytes(answers_path, &len);
    assert_non_null(strstr((char *)text, "kind 1\n"));
    assert_non_null(strstr((char *)text, "bits 8192\n"));
    assert_non_null(strstr((char *)text, "seed 77\n"));
    assert_non_null(strstr((char *)text, "added 2\n"));
    free(text);
}

static void test_wrong_secrets(void **state) {
    (void)state;
    char options[128];
    umbel_filter *f = NULL;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = 1024};
    assert_ok(umbel_create(&params, &(umbel_opts){.secret = secret}, &f, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, filter_path, NULL));
    umbel_free(f);
    file_put(keys_path, "00\n", 3);
    assert_int_equal(run_reader("--info"), 0);
    assert_int_equal(run_reader("--hex"), 2);
    snprintf(options, sizeof options, "--hex --secret-file=%s", secret_path);
    file_put(secret_path, "a secret to reaD", 16);
    assert_int_equal(run_reader(options), 2);
    file_put(secret_path, "6120736563726574 20746f2072656164\n", 34); /* its digits */
    assert_int_equal(run_reader(options), 1);
}

static void test_refusals(void **state) {
    (void)state;
    size_t len;
    uint8_t *golden = golden_native("classic_1001", &len);
    uint8_t *bytes = malloc(len + 1);
    assert_non_null(bytes);
    file_put(keys_path, "00\n", 3);
    const size_t flips[] = {0, 8, 30, 40, 140, 4096, 4221, len - 9, len - 1};
    for (size_t i = 0; i < sizeof flips / sizeof flips[0]; i++) {
        memcpy(bytes, golden, len);
        bytes[flips[i]] ^= 4;
        file_put(filter_path, bytes, len);
        assert_int_equal(run_reader("--hex"), 2);
    }
    memcpy(bytes, golden, len);
    file_put(filter_path, bytes, len - 1);
    assert_int_equal(run_reader("--hex"), 2);
    bytes[len] = 0;
    file_put(filter_path, bytes, len + 1);
    assert_int_equal(run_reader("--hex"), 2);
    free(bytes);
    free(golden);
}

/* The reader's XXH3 against libxxhash's vectors, and its SipHash against OpenSSL's. */
static void test_its_own_hashes(void **state) {
    (void)state;
    assert_int_equal(run("python3 " GOLDEN "make.py check"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),          cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_lines_and_header), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_its_own_hashes),   cmocka_unit_test(test_wrong_secrets),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
