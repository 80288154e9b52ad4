/* SPDX-License-Identifier: MIT
 *
 * test_sign.c - keys and signatures of minisign: what is proved, and what is refused
 * labels: slow
 */
#define _POSIX_C_SOURCE 200809L
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden.h"
#include "native_file.h"
#include "umbel_lookup.h"
#include "umbel_sign.h"

/* The file and its signatures are minisign's own. */
static umbel_key golden(const char *name) {
    char path[64];
    size_t len;
    snprintf(path, sizeof path, "minisign/%s", name);
    const uint8_t *bytes = golden_file(path, &len);
    return (umbel_key){bytes, len};
}

static void drop(umbel_key text) {
    free((void *)(uintptr_t)text.data);
}

static umbel_trust *trust_in(const char *name, uint64_t not_before) {
    umbel_key key = golden(name);
    umbel_trust *t = NULL;
    assert_ok(umbel_trust_new(&key, 1, not_before, &t, NULL));
    drop(key);
    return t;
}

static void test_minisigns_own(void **state) {
    (void)state;
    const struct {
        const char *name;
        uint64_t number;
        const char *comment;
    } of[] = {{"list.minisig", 1700000000, "timestamp:1700000000\tfile:list\thashed"},
              {"legacy.minisig", 77, "number:77\tfile:list"}};
    umbel_key list = golden("list");
    umbel_trust *t = trust_in("locked.pub", 0);
    for (size_t i = 0; i < 2; i++) {
        umbel_key text = golden(of[i].name);
        umbel_signed is;
        assert_ok(umbel_trust_check(t, list, text, &is, NULL));
        assert_int_equal(is.number, of[i].number);
        assert_true(is.key == 0xE15D9077B3066144);
        assert_int_equal(is.comment_len, strlen(of[i].comment));
        assert_memory_equal(is.comment, of[i].comment, is.comment_len);
        drop(text);
    }
    drop(list);
    umbel_trust_free(t);
}

/* Each bit of the file and of its signature, but for the comment that nobody vouches for. */
static void test_every_bit(void **state) {
    (void)state;
    static const char *const names[] = {"list.minisig", "legacy.minisig"};
    umbel_trust *t = trust_in("locked.pub", 0);
    umbel_key list = golden("list");
    uint8_t *bytes = (uint8_t *)(uintptr_t)list.data;
    for (size_t n = 0; n < 2; n++) {
        umbel_key text = golden(names[n]);
        uint8_t *at = (uint8_t *)(uintptr_t)text.data;
        size_t free_to = (size_t)((uint8_t *)memchr(at, '\n', text.len) - at);
        for (size_t i = 0; i < list.len * 8; i++) {
            bytes[i / 8] ^= (uint8_t)(1 << i % 8);
            assert_int_equal(umbel_trust_check(t, list, text, NULL, NULL), UMBEL_EUNSIGNED);
            bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        }
        for (size_t i = 0; i < (text.len - 1) * 8; i++) {
            at[i / 8] ^= (uint8_t)(1 << i % 8);
            umbel_err e = umbel_trust_check(t, list, text, NULL, NULL);
            if (i / 8 > free_to || i / 8 < strlen("untrusted comment: ")) {
                if (e != UMBEL_EUNSIGNED) fail_msg("%s: bit %zu: %d", names[n], i, (int)e);
            }
            at[i / 8] ^= (uint8_t)(1 << i % 8);
        }
        for (size_t len = 0; len + 1 < text.len; len++) {
            uint8_t *cut = malloc(len ? len : 1); /* ends where its memory ends */
            memcpy(cut, at, len);
            assert_int_equal(umbel_trust_check(t, list, (umbel_key){cut, len}, NULL, NULL),
                             UMBEL_EUNSIGNED);
            free(cut);
        }
        assert_ok(umbel_trust_check(t, list, text, NULL, NULL));
        drop(text);
    }
    drop(list);
    umbel_trust_free(t);
}

static void test_other_keys_and_numbers(void **state) {
    (void)state;
    umbel_key list = golden("list"), text = golden("list.minisig"), old = golden("legacy.minisig");
    umbel_trust *other = trust_in("open.pub", 0), *late = trust_in("locked.pub", 1700000001);
    umbel_trust *now = trust_in("locked.pub", 1700000000), *both = NULL;
    umbel_key keys[] = {golden("open.pub"), golden("locked.pub")};
    umbel_diag diag = {0};
    assert_int_equal(umbel_trust_check(other, list, text, NULL, &diag), UMBEL_EUNSIGNED);
    assert_string_equal(diag.what, "signed by another key than those that are accepted");
    assert_int_equal(umbel_trust_check(late, list, text, NULL, &diag), UMBEL_EUNSIGNED);
    assert_string_equal(diag.what, "signed with too small a number, that of an older edition");
    assert_ok(umbel_trust_check(now, list, text, NULL, NULL));
    assert_int_equal(umbel_trust_check(now, list, old, NULL, NULL), UMBEL_EUNSIGNED);
    assert_ok(umbel_trust_new(keys, 2, 0, &both, NULL));
    assert_ok(umbel_trust_check(both, list, text, NULL, NULL));
    assert_int_equal(umbel_trust_new(keys, 0, 0, &both, NULL), UMBEL_EINVAL);
    umbel_trust *const all[] = {other, late, now, both};
    for (size_t i = 0; i < 4; i++) umbel_trust_free(all[i]);
    umbel_key *const texts[] = {&list, &text, &old, &keys[0], &keys[1]};
    for (size_t i = 0; i < 5; i++) drop(*texts[i]);
}

/* ---- keys --------------------------------------------------------------------------------- */

static void test_keys(void **state) {
    (void)state;
    static const struct {
        const char *text, *what;
    } bad[] = {
        {"", "is no public key of minisign"},
        {"RWREYQazd5Bd4fnocBacS23YlqbCFrlH+CPGbwemgFgScPH+Z5Of7wH", "is no public key of minisign"},
        {"RWREYQazd5Bd4fnocBacS23YlqbCFrlH+CPGbwemgFgScPH+Z5Of7wHU\nmore",
         "is no public key of minisign"},
        {"RUREYQazd5Bd4fnocBacS23YlqbCFrlH+CPGbwemgFgScPH+Z5Of7wHU", "is of an unknown kind"},
        {"RWREYQazd5Bd4fnocBacS23YlqbCFrlH CPGbwemgFgScPH+Z5Of7wHU",
         "is no public key of minisign"},
    };
    umbel_trust *t = NULL;
    umbel_diag diag;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        umbel_key key = {bad[i].text, strlen(bad[i].text)};
        assert_int_equal(umbel_trust_new(&key, 1, 0, &t, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.what, bad[i].what);
    }
    const char *crlf = "untrusted comment: x\r\n"
                       "RWREYQazd5Bd4fnocBacS23YlqbCFrlH+CPGbwemgFgScPH+Z5Of7wHU\r\n\r\n";
    assert_ok(umbel_trust_new(&(umbel_key){crlf, strlen(crlf)}, 1, 0, &t, NULL));
    umbel_trust_free(t);
    umbel_key secret = golden("open.key"), public = golden("open.pub");
    umbel_signer *s = NULL;
    assert_int_equal(umbel_trust_new(&secret, 1, 0, &t, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.what, "is a secret key, where the public one belongs");
    assert_int_equal(umbel_signer_new(public, NULL, &s, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.what, "is a public key, where the secret one belongs");
    assert_ok(umbel_signer_new(secret, NULL, &s, NULL));
    umbel_signer_free(s);
    drop(secret);
    drop(public);
}

/* No bit of a secret key can be wrong without notice: it would sign with halves that do not fit. */
static void test_damaged_secret(void **state) {
    (void)state;
    umbel_key text = golden("open.key");
    uint8_t *at = (uint8_t *)(uintptr_t)text.data;
    size_t from = (size_t)((uint8_t *)memchr(at, '\n', text.len) - at) + 1 + 84; /* the pair */
    size_t to = from + 84; /* to the last quartet before the sum, which minisign leaves out */
    umbel_signer *s = NULL;
    for (size_t i = from + 12; i < to; i++) { /* the number of the key is nobody's secret */
        for (int bit = 0; bit < 6; bit++) {
            at[i] ^= (uint8_t)(1 << bit);
            umbel_err e = umbel_signer_new(text, NULL, &s, NULL);
            if (e != UMBEL_EINVAL) fail_msg("byte %zu bit %d: %d", i, bit, (int)e);
            at[i] ^= (uint8_t)(1 << bit);
        }
    }
    drop(text);
}

static void test_passwords(void **state) {
    (void)state;
    const umbel_key right = {"correct horse", 13}, wrong = {"correct house", 13};
    umbel_key text = golden("locked.key");
    umbel_signer *s = NULL;
    umbel_diag diag;
    assert_int_equal(umbel_signer_new(text, NULL, &s, &diag), UMBEL_ESECRET);
    assert_int_equal(umbel_signer_new(text, &wrong, &s, &diag), UMBEL_ESECRET);
    assert_string_equal(diag.what, "wrong password for the key");
    assert_ok(umbel_signer_new(text, &right, &s, NULL));
    umbel_signer_free(s);
    /* A file that demands all memory: the limit's highest byte is in the 53rd of the bytes. */
    uint8_t *at = (uint8_t *)(uintptr_t)text.data;
    uint8_t *line = (uint8_t *)memchr(at, '\n', text.len) + 1;
    memcpy(line + 68, "////", 4);
    assert_int_equal(umbel_signer_new(text, &right, &s, &diag), UMBEL_ELIMIT);
    drop(text);
}

/* ---- signing, and lists that are guarded -------------------------------------------------- */

static char path[] = "/tmp/umbel_sign_XXXXXX";
static char beside[sizeof path + 8];

static int make_path(void **state) {
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    snprintf(beside, sizeof beside, "%s.minisig", path);
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    unlink(path);
    unlink(beside);
    return 0;
}

static void save(unsigned keys) {
    umbel_filter *f;
    assert_ok(umbel_create(&(umbel_params){.capacity = 1000, .fpr = 0.01}, NULL, &f, NULL));
    for (unsigned k = 0; k < keys; k++) assert_ok(umbel_add(f, &k, sizeof k, NULL, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
}

static bool has(umbel_source *s, unsigned k) {
    return umbel_contains(umbel_lookup_filter(umbel_source_now(s)), &k, sizeof k);
}

/* Clears the bits of some keys in the file, and makes every checksum right again. */
static void clear_bits(void) {
    size_t len, header = 4096;
    uint8_t *bytes = file_bytes(path, &len);
    for (size_t i = header; i < header + (len - header) / 2; i++) bytes[i] = 0;
    native_resum(bytes, len);
    file_put(path, bytes, len);
    free(bytes);
}

static void test_guarded_list(void **state) {
    (void)state;
    char secret[UMBEL_SECRET_KEY_TEXT], public[UMBEL_PUBLIC_KEY_TEXT];
    umbel_signer *signer = NULL;
    umbel_trust *trust = NULL;
    umbel_source *s = NULL, *anyone = NULL;
    umbel_diag diag = {0};
    assert_ok(umbel_signer_generate(NULL, secret, public, NULL));
    assert_ok(umbel_signer_new((umbel_key){secret, strlen(secret)}, NULL, &signer, NULL));
    assert_ok(umbel_trust_new(&(umbel_key){public, strlen(public)}, 1, 0, &trust, NULL));
    umbel_guard guard = umbel_trust_guard(trust);
    umbel_source_opts how = {.guard = &guard};
    save(1000);
    assert_int_equal(umbel_source_open(path, &how, &s, &diag), UMBEL_EUNSIGNED);
    assert_ok(umbel_signer_file(signer, path, 5, NULL));
    assert_ok(umbel_source_open(path, &how, &s, NULL));
    for (unsigned k = 0; k < 1000; k++) assert_true(has(s, k));

    clear_bits();
    assert_ok(umbel_source_open(path, NULL, &anyone, NULL)); /* its checksums are right */
    unsigned lost = 0;
    for (unsigned k = 0; k < 1000; k++) lost += !has(anyone, k);
    assert_true(lost > 100);
    umbel_source_close(anyone);
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EUNSIGNED);
    assert_string_equal(diag.what, "the signature is not one of these bytes");
    for (unsigned k = 0; k < 1000; k++) assert_true(has(s, k));

    save(999);
    assert_ok(umbel_signer_file(signer, path, 4, NULL)); /* an older edition comes back */
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EUNSIGNED);
    assert_ok(umbel_signer_file(signer, path, 6, NULL));
    assert_ok(umbel_source_refresh(s, &diag));
    umbel_source_state is;
    assert_ok(umbel_source_status(s, &is, NULL));
    assert_int_equal(is.number, 6);
    umbel_source_close(s);
    umbel_trust_free(trust);
    umbel_signer_free(signer);
}

static void test_files(void **state) {
    (void)state;
    char text[UMBEL_SIGNATURE_MAX], secret[UMBEL_SECRET_KEY_TEXT], public[UMBEL_PUBLIC_KEY_TEXT];
    size_t len;
    umbel_signer *signer = NULL;
    umbel_diag diag;
    unlink(beside);
    assert_int_equal(umbel_signature_read(path, text, &len, &diag), UMBEL_EUNSIGNED);
    char *large = calloc(1, UMBEL_SIGNATURE_MAX);
    file_put(beside, large, UMBEL_SIGNATURE_MAX);
    free(large);
    assert_int_equal(umbel_signature_read(path, text, &len, &diag), UMBEL_EUNSIGNED);
    assert_ok(umbel_signer_generate(NULL, secret, public, NULL));
    assert_ok(umbel_signer_new((umbel_key){secret, strlen(secret)}, NULL, &signer, NULL));
    assert_int_equal(umbel_signer_file(signer, "/", 1, &diag), UMBEL_EINVAL);
    assert_int_equal(umbel_signer_file(signer, "/nowhere/x", 1, &diag), UMBEL_EIO);
    umbel_signer_free(signer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minisigns_own),          cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_other_keys_and_numbers), cmocka_unit_test(test_keys),
        cmocka_unit_test(test_damaged_secret),         cmocka_unit_test(test_passwords),
        cmocka_unit_test(test_guarded_list),           cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
