/* SPDX-License-Identifier: MIT
 *
 * test_lists.c - entries of block lists in all their forms; lists that are replaced while in use
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "any_filter.h"
#include "kind_check.h"
#include "native_file.h"
#include "umbel_meta.h"
#include "umbel_recipe.h"

/* ---- entries ---- */

static void test_forms(void **state) {
    (void)state;
    const struct {
        const char *line, *name;
        umbel_domain_form form;
    } lines[] = {
        {"example.com", "example.com", UMBEL_DOMAIN_PLAIN},
        {"  Example.COM.  \r", "Example.COM.", UMBEL_DOMAIN_PLAIN},
        {"\xef\xbb\xbf"
         "first.example",
         "first.example", UMBEL_DOMAIN_PLAIN},
        {"*.wild.example", "wild.example", UMBEL_DOMAIN_PLAIN},
        {".dot.example", "dot.example", UMBEL_DOMAIN_PLAIN},
        {"name.example # why", "name.example", UMBEL_DOMAIN_PLAIN},
        {"xn--bcher-kva.example", "xn--bcher-kva.example", UMBEL_DOMAIN_PLAIN},
        {"b\xc3\xbc"
         "cher.example",
         "b\xc3\xbc"
         "cher.example",
         UMBEL_DOMAIN_PLAIN},
        {"_dmarc.example", "_dmarc.example", UMBEL_DOMAIN_PLAIN},
        {"0.0.0.0 ads.example", "ads.example", UMBEL_DOMAIN_HOSTS},
        {"127.0.0.1\tads.example # x", "ads.example", UMBEL_DOMAIN_HOSTS},
        {":: ads.example", "ads.example", UMBEL_DOMAIN_HOSTS},
        {"fe80::1%lo0 ads.example", "ads.example", UMBEL_DOMAIN_HOSTS},
        {"127.0.0.1 localhost", NULL, UMBEL_DOMAIN_NONE},
        {"0.0.0.0 0.0.0.0", NULL, UMBEL_DOMAIN_NONE},
        {"0.0.0.0 a.example b.example", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads.example^", "ads.example", UMBEL_DOMAIN_ADBLOCK},
        {"||ads.example^$important", "ads.example", UMBEL_DOMAIN_ADBLOCK},
        {"||ads.example^$third-party", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads.example/banner^", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads*.example^", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads.example", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"@@||good.example^", "good.example", UMBEL_DOMAIN_EXCEPTION},
        {"@@||good.example^$script", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"bad.example CNAME .", "bad.example", UMBEL_DOMAIN_RPZ},
        {"*.bad.example 300 IN CNAME *.", "bad.example", UMBEL_DOMAIN_RPZ},
        {"bad.example A 127.0.0.1 ; local", "bad.example", UMBEL_DOMAIN_RPZ},
        {"good.example CNAME rpz-passthru.", "good.example", UMBEL_DOMAIN_EXCEPTION},
        {"$TTL 300", NULL, UMBEL_DOMAIN_NONE},
        {"@ IN SOA ns. host. 1 2 3 4 5", NULL, UMBEL_DOMAIN_NONE},
        {"  IN NS localhost.", NULL, UMBEL_DOMAIN_NONE},
        {"bad.example TXT x", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"address=/ads.example/0.0.0.0", "ads.example", UMBEL_DOMAIN_DNSMASQ},
        {"server=/ads.example/", "ads.example", UMBEL_DOMAIN_DNSMASQ},
        {"local=/ads.example/", "ads.example", UMBEL_DOMAIN_DNSMASQ},
        {"address=/a.example/b.example/::", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"https://user:x@Bad.example:8443/path?q", "Bad.example", UMBEL_DOMAIN_URL},
        {"bad.example/path", "bad.example", UMBEL_DOMAIN_URL},
        {"/regular expression/", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"two words", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"a..b", NULL, UMBEL_DOMAIN_UNKNOWN},
        {".", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"", NULL, UMBEL_DOMAIN_NONE},
        {" \t\r", NULL, UMBEL_DOMAIN_NONE},
        {"# comment", NULL, UMBEL_DOMAIN_NONE},
        {"! comment", NULL, UMBEL_DOMAIN_NONE},
        {"; comment", NULL, UMBEL_DOMAIN_NONE},
        {"[Adblock Plus 2.0]", NULL, UMBEL_DOMAIN_NONE},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t len = strlen(lines[i].line);
        char *exact = malloc(len ? len : 1); /* ends where its memory ends */
        umbel_key name;
        memcpy(exact, lines[i].line, len);
        umbel_domain_form form = umbel_domain_entry(exact, len, &name);
        if (form != lines[i].form) fail_msg("%s: form %d", lines[i].line, (int)form);
        if (lines[i].name) {
            assert_int_equal(name.len, strlen(lines[i].name));
            assert_memory_equal(name.data, lines[i].name, name.len);
        } else {
            assert_null(name.data);
        }
        free(exact);
    }
}

/* ---- lists ---- */

static char path[] = "/tmp/umbel-list-XXXXXX";

static int make_path(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

static void save(const char *const *names, size_t n, const char *recipe) {
    umbel_key keys[16];
    umbel_filter *f = NULL;
    for (size_t i = 0; i < n; i++) keys[i] = (umbel_key){names[i], strlen(names[i])};
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = 1e-9};
    assert_ok(build_from(&params, NULL, keys, n, &f, NULL));
    assert_ok(umbel_set_recipe(f, recipe, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
}

static bool has(umbel_list *l, const char *text) {
    uint8_t hit = 2;
    umbel_key many = {text, strlen(text)};
    bool found = umbel_list_has(l, UMBEL_USE_KEY, text, strlen(text));
    assert_ok(umbel_list_has_many(l, UMBEL_USE_KEY, &many, 1, &hit, NULL));
    assert_int_equal(hit, found);
    return found;
}

static void test_domains(void **state) {
    (void)state;
    umbel_list *l = NULL;
    save((const char *[]){"bad.example", "ads.test"}, 2, "domain");
    assert_ok(umbel_list_open(path, NULL, &l, NULL));
    const char *in[] = {"bad.example", "a.b.c.Bad.Example.", "https://x.ads.test:1/y",
                        "ads.test:443"};
    const char *out[] = {"example", "notbad.example", "good.test", "", ".", "[::1]:80", "https://"};
    for (size_t i = 0; i < 4; i++) assert_true(has(l, in[i]));
    for (size_t i = 0; i < 7; i++) assert_false(has(l, out[i]));
    assert_true(umbel_list_has(l, UMBEL_USE_RECORD, "0.0.0.0 ads.test", 16));
    assert_false(umbel_list_has(l, UMBEL_USE_RECORD, "# ads.test", 10));
    char *lengthy = malloc(100000);
    memset(lengthy, 'a', 100000);
    assert_false(umbel_list_has(l, UMBEL_USE_KEY, lengthy, 100000));
    free(lengthy);
    umbel_list_close(l);
}

/* More than one batch, found at every depth. */
static void test_many(void **state) {
    (void)state;
    enum { MANY = 5000 };
    static char texts[MANY][40];
    static umbel_key keys[MANY];
    static uint8_t hit[MANY];
    umbel_list *l = NULL;
    save((const char *[]){"bad.example"}, 1, "domain");
    assert_ok(umbel_list_open(path, NULL, &l, NULL));
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(texts[i], sizeof texts[i], "x%d.%s%s.example", i, i % 3 ? "" : "deep.er.",
                         i % 7 ? "bad" : "good");
        keys[i] = (umbel_key){texts[i], (size_t)n};
    }
    assert_ok(umbel_list_has_many(l, UMBEL_USE_KEY, keys, MANY, hit, NULL));
    for (int i = 0; i < MANY; i++) assert_int_equal(hit[i], i % 7 != 0);
    for (int i = 0; i < MANY; i++) { /* the caller's texts are as they were, not freed keys */
        assert_int_equal(keys[i].len, strlen(texts[i]));
        assert_memory_equal(keys[i].data, texts[i], keys[i].len);
    }
    umbel_list_close(l);
}

static void sleep_a_little(void) {
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

static void test_replaced(void **state) {
    (void)state;
    umbel_list *l = NULL;
    bool replaced = true;
    save((const char *[]){"old"}, 1, "line");
    assert_ok(umbel_list_open(path, NULL, &l, NULL));
    assert_ok(umbel_list_refresh(l, &replaced, NULL));
    assert_false(replaced);
    save((const char *[]){"new"}, 1, "line");
    for (int i = 0; i < 100 && !has(l, "new"); i++) sleep_a_little(); /* by itself */
    assert_true(has(l, "new") && !has(l, "old"));
    assert_int_equal(umbel_list_replaced(l), 1);

    umbel_diag diag = {0};
    file_put(path, "nonsense", 8); /* over the old bytes, which a map would not survive */
    assert_int_equal(umbel_list_refresh(l, &replaced, &diag), UMBEL_EUNKNOWN);
    assert_true(!replaced && has(l, "new"));
    unlink(path);
    assert_int_equal(umbel_list_refresh(l, &replaced, &diag), UMBEL_EIO);
    assert_true(has(l, "new"));
    save((const char *[]){"Third"}, 1, "line lower");
    assert_ok(umbel_list_refresh(l, &replaced, NULL));
    assert_true(replaced && !has(l, "Third")); /* the recipe came with it */
    umbel_info info;
    umbel_describe(umbel_list_filter(l), &info);
    assert_int_equal(info.keys_added, 1);
    char text[64];
    assert_true(umbel_list_text(l, text, sizeof text) > 10 &&
                strncmp(text, "kind=tight ", 11) == 0);
    umbel_list_close(l);
}

/* A refused file is read once it has settled, and not again until it changes; what was refused does
 * not count as replaced. */
static void test_refused_once(void **state) {
    (void)state;
    check_memory memory = {.fails = UINT64_MAX};
    umbel_alloc alloc = check_alloc(&memory);
    umbel_list *l = NULL;
    umbel_diag diag = {0};
    size_t len;
    save((const char *[]){"old"}, 1, "line");
    assert_ok(umbel_list_open(path, &(umbel_opts){.alloc = &alloc}, &l, NULL));
    assert_ok(umbel_list_status(l, &diag));
    save((const char *[]){"new"}, 1, "line");
    uint8_t *bytes = file_bytes(path, &len);
    bytes[4096] ^= 1;
    file_put(path, bytes, len);
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
    assert_int_equal(umbel_list_refresh(l, NULL, NULL), UMBEL_ECORRUPT);
    uint64_t calls = memory.calls;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(umbel_list_refresh(l, NULL, &diag), UMBEL_ECORRUPT);
        assert_int_equal(diag.offset, 4096);
    }
    assert_int_equal(memory.calls, calls); /* reading takes memory */
    assert_int_equal(umbel_list_status(l, &diag), UMBEL_ECORRUPT);
    assert_int_equal(umbel_list_replaced(l), 0);
    assert_true(umbel_list_has(l, UMBEL_USE_KEY, "old", 3));
    bytes[4096] ^= 1;
    file_put(path, bytes, len); /* the same file, mended in its place */
    free(bytes);
    assert_ok(umbel_list_refresh(l, NULL, NULL));
    assert_ok(umbel_list_status(l, NULL));
    assert_int_equal(umbel_list_replaced(l), 1);
    assert_true(umbel_list_has(l, UMBEL_USE_KEY, "new", 3));
    umbel_list_close(l);
    assert_int_equal(memory.out, 0);
}

static void test_refused(void **state) {
    (void)state;
    umbel_list *l = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_list_open("/nonexistent/x.umb", NULL, &l, &diag), UMBEL_EIO);
    file_put(path, "x", 1);
    assert_int_equal(umbel_list_open(path, NULL, &l, &diag), UMBEL_EUNKNOWN);
    assert_null(l);
    umbel_list_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_many),         cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_refused_once), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
