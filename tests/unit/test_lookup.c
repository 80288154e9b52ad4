/* SPDX-License-Identifier: MIT
 *
 * test_lookup.c - texts and keys looked up; files that are replaced, refused, damaged
 */
#define _GNU_SOURCE /* mkstemp, memmem */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "any_filter.h"
#include "golden.h"
#include "kind_check.h"
#include "native_file.h"
#include "umbel_foreign.h"
#include "umbel_lookup.h"
#include "umbel_never.h"

static char path[] = "/tmp/umbel-lookup-XXXXXX";

static int make_path(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

static umbel_filter *list_of(const char *const *names, size_t n, const char *recipe) {
    umbel_key keys[16];
    umbel_filter *f = NULL;
    for (size_t i = 0; i < n; i++) keys[i] = (umbel_key){names[i], strlen(names[i])};
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = 1e-9};
    assert_ok(build_from(&params, NULL, keys, n, &f, NULL));
    assert_ok(umbel_set_recipe(f, recipe, NULL));
    return f;
}

static void save(const char *name, const char *recipe) {
    umbel_filter *f = list_of(&name, 1, recipe);
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
}

static umbel_key key_of(const char *text) {
    return (umbel_key){text, strlen(text)};
}

static bool has_use(const umbel_lookup *l, umbel_recipe_use use, const char *text) {
    umbel_key key = key_of(text);
    uint8_t hit = 2, state = 9;
    assert_ok(umbel_lookup_texts(l, use, &key, 1, &hit, &state, NULL));
    assert_true(hit < 2 && state <= UMBEL_FOUND_MALFORMED && (!hit || state == UMBEL_FOUND_KEY));
    return hit;
}

static bool has(const umbel_lookup *l, const char *text) {
    return has_use(l, UMBEL_USE_KEY, text);
}

/* ---- lookups ---- */

static void test_domains(void **state) {
    (void)state;
    umbel_lookup *l = NULL;
    umbel_filter *f = list_of((const char *[]){"bad.example", "ads.test"}, 2, "domain");
    assert_ok(umbel_lookup_new(f, NULL, &l, NULL));
    const char *in[] = {"bad.example", "a.b.c.Bad.Example.", "https://x.ads.test:1/y",
                        "ads.test:443"};
    const char *out[] = {"example", "notbad.example", "good.test", "", ".", "[::1]:80", "https://"};
    for (size_t i = 0; i < 4; i++) assert_true(has(l, in[i]));
    for (size_t i = 0; i < 7; i++) assert_false(has(l, out[i]));
    assert_true(has_use(l, UMBEL_USE_RECORD, "0.0.0.0 ads.test"));
    assert_false(has_use(l, UMBEL_USE_RECORD, "# ads.test"));
    char *lengthy = malloc(100001);
    memset(lengthy, 'a', 100000);
    lengthy[100000] = 0;
    assert_false(has(l, lengthy));
    free(lengthy);
    assert_ptr_equal(umbel_lookup_filter(l), f);
    assert_string_equal(umbel_recipe_text(umbel_lookup_recipe(l)), "domain");
    umbel_lookup_free(l);
    umbel_lookup_free(NULL);
    umbel_free(f);
}

enum { MANY = 5000 };
static char texts[MANY][40];
static umbel_key keys[MANY], found[MANY];
static uint8_t hit[MANY], states[MANY];

static void make_texts(void) {
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(texts[i], sizeof texts[i], "x%d.%s%s.example", i, i % 3 ? "" : "deep.er.",
                         i % 7 ? "bad" : "good");
        keys[i] = (umbel_key){texts[i], i % 11 ? (size_t)n : 0};
    }
}

static bool listed(int i) {
    return i % 7 && i % 11;
}

/* More than one batch, found at every depth; and what was found. */
static void test_many(void **state) {
    (void)state;
    umbel_lookup *l = NULL;
    umbel_filter *f = list_of((const char *[]){"bad.example"}, 1, "domain");
    assert_ok(umbel_lookup_new(f, NULL, &l, NULL));
    make_texts();
    assert_ok(umbel_lookup_texts(l, UMBEL_USE_KEY, keys, MANY, hit, states, NULL));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(hit[i], listed(i));
        assert_int_equal(states[i], i % 11 ? UMBEL_FOUND_KEY : UMBEL_FOUND_NOTHING);
        assert_ptr_equal(keys[i].data, texts[i]); /* the caller's texts are as they were */
        if (i % 11 == 0) keys[i].data = NULL;
    }
    assert_ok(umbel_lookup_keys(l, keys, NULL, MANY, NULL, hit, found, NULL));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(hit[i], listed(i));
        if (listed(i)) {
            assert_ptr_equal(found[i].data, strstr(texts[i], "bad"));
            assert_int_equal(found[i].len, strlen("bad.example"));
        } else {
            assert_null(found[i].data);
        }
    }
    umbel_lookup_free(l);
    umbel_free(f);
}

/* What a confirm was asked about, and the one key that it confirms. */
typedef struct asked {
    char log[512];
    const char *yes;
} asked;

static bool confirm(void *ctx, umbel_key key) {
    asked *a = ctx;
    strncat(a->log, key.data, key.len);
    strcat(a->log, ";");
    return a->yes && key.len == strlen(a->yes) && memcmp(key.data, a->yes, key.len) == 0;
}

static void test_confirm(void **state) {
    (void)state;
    const char *names[] = {"a.b.example", "b.example"};
    umbel_filter *f = list_of(names, 2, "domain");
    umbel_lookup *l = NULL, *any = NULL;
    asked a = {.yes = "b.example"};
    umbel_confirm by = {confirm, &a};
    umbel_key key = key_of("a.b.example"), where;
    uint8_t yes;
    assert_ok(umbel_lookup_new(f, NULL, &l, NULL));
    assert_ok(umbel_lookup_keys(l, &key, NULL, 1, &by, &yes, &where, NULL));
    assert_true(yes && where.len == strlen("b.example"));
    assert_string_equal(a.log, "a.b.example;b.example;"); /* `example` is not in the filter */
    a = (asked){0};
    assert_ok(umbel_lookup_keys(l, &key, NULL, 1, &by, &yes, NULL, NULL));
    assert_false(yes);

    /* Without a filter every key is asked about; a missing one never. */
    const umbel_key three[] = {key, {NULL, 0}, key_of("example")};
    uint8_t hits[3];
    assert_ok(umbel_lookup_new(NULL, "domain", &any, NULL));
    assert_null(umbel_lookup_filter(any));
    a = (asked){0};
    assert_ok(umbel_lookup_keys(any, three, NULL, 3, &by, hits, NULL, NULL));
    assert_string_equal(a.log, "a.b.example;example;b.example;example;");
    assert_ok(umbel_lookup_keys(any, three, NULL, 3, NULL, hits, NULL, NULL));
    assert_true(hits[0] && !hits[1] && hits[2]);
    umbel_lookup_free(any);
    umbel_lookup_free(l);
    umbel_free(f);
}

/* Two lists that hash alike share hashes; of names, the parents have none. */
static void test_shared_hashes(void **state) {
    (void)state;
    const umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .capacity = 10000, .fpr = 1e-6};
    umbel_filter *f[2] = {NULL, NULL}, *classic = NULL;
    umbel_lookup *l[3] = {NULL, NULL, NULL};
    uint64_t hashes[MANY];
    const umbel_key bad = key_of("bad.example");
    for (int i = 0; i < 2; i++) assert_ok(umbel_create(&params, NULL, &f[i], NULL));
    assert_ok(umbel_create(&(umbel_params){.kind = UMBEL_KIND_CLASSIC, .capacity = 9, .fpr = 1e-9},
                           NULL, &classic, NULL));
    make_texts();
    for (int i = 0; i < MANY; i += 2)
        assert_ok(umbel_add(f[0], keys[i].data, keys[i].len, NULL, NULL));
    assert_ok(umbel_add(f[1], bad.data, bad.len, NULL, NULL));
    assert_ok(umbel_lookup_new(f[0], "line", &l[0], NULL));
    assert_ok(umbel_lookup_new(f[1], "domain", &l[1], NULL));
    assert_ok(umbel_lookup_new(classic, "line", &l[2], NULL));
    umbel_hash_many(f[0], keys, MANY, hashes, NULL);
    assert_ok(umbel_lookup_keys(l[0], keys, hashes, MANY, NULL, hit, NULL, NULL));
    for (int i = 0; i < MANY; i += 2) assert_true(hit[i]);
    assert_int_equal(hit[1] + hit[3] + hit[5], 0);
    assert_ok(umbel_lookup_keys(l[1], keys, hashes, MANY, NULL, hit, found, NULL));
    for (int i = 0; i < MANY; i++) assert_int_equal(hit[i], listed(i));
    /* A filter that takes no hashes asks for the keys. */
    assert_ok(umbel_lookup_keys(l[2], keys, hashes, MANY, NULL, hit, NULL, NULL));
    assert_null(memchr(hit, 1, MANY));
    for (int i = 0; i < 3; i++) umbel_lookup_free(l[i]);
    umbel_free(f[0]), umbel_free(f[1]), umbel_free(classic);
}

/* Good names, more than a batch of them, and their parents: none is found in a filter that would
 * find many. */
static void test_good_names(void **state) {
    (void)state;
    umbel_never *never = NULL;
    umbel_builder *builder = NULL;
    umbel_filter *f = NULL;
    umbel_recipe *r = NULL;
    umbel_lookup *l = NULL;
    umbel_build_report result = {0};
    const umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = 0.3};
    assert_ok(umbel_recipe_parse("domain", &r, NULL));
    assert_ok(umbel_never_new(&params, NULL, &never, NULL));
    assert_ok(umbel_builder_new(&params, NULL, &builder, NULL));
    make_texts();
    for (int i = 0; i < MANY; i++) {
        if (i % 11 == 0) keys[i] = (umbel_key){NULL, 0};
    }
    assert_ok(umbel_never_lookups(never, r, keys, MANY, NULL));
    for (uint32_t i = 0; i < 2000; i++) {
        umbel_key member = {&i, sizeof i};
        assert_ok(umbel_builder_add(builder, &member, 1, NULL));
        assert_ok(umbel_never_show(never, &member, 1, NULL));
    }
    assert_ok(umbel_builder_finish(builder, &f, NULL));
    assert_ok(umbel_never_finish(never, f, &result, NULL));
    assert_true(result.never > MANY * 10 / 11 && result.exceptions > MANY / 8);
    assert_ok(umbel_lookup_new(f, "domain", &l, NULL));
    assert_ok(umbel_lookup_keys(l, keys, NULL, MANY, NULL, hit, NULL, NULL));
    assert_null(memchr(hit, 1, MANY));
    /* A failure is told: keys have been shown. */
    assert_int_equal(umbel_never_lookups(never, r, keys + 1, 1, NULL), UMBEL_EINVAL);
    umbel_lookup_free(l);
    umbel_recipe_free(r);
    umbel_never_free(never);
    umbel_builder_free(builder);
    umbel_free(f);
}

/* The table that every face has. */
static void test_golden(void **state) {
    (void)state;
    golden_table t = golden_table_open("lookups/answers.tsv");
    while (golden_table_next(&t)) {
        char file[128];
        umbel_filter *f = NULL;
        umbel_lookup *l = NULL;
        umbel_key text = key_of(t.column[1]);
        snprintf(file, sizeof file, "tests/golden/lookups/%s.umb", t.column[0]);
        assert_ok(umbel_file_open(file, UMBEL_MAP, NULL, NULL, &f, NULL));
        assert_ok(umbel_lookup_new(f, NULL, &l, NULL));
        for (int use = UMBEL_USE_RECORD; use <= UMBEL_USE_KEY; use++) {
            uint8_t yes, has;
            assert_ok(umbel_lookup_texts(l, (umbel_recipe_use)use, &text, 1, &yes, &has, NULL));
            const char *is = has != UMBEL_FOUND_KEY ? "none" : yes ? "yes" : "no";
            if (strcmp(is, t.column[use == UMBEL_USE_KEY ? 2 : 3])) {
                fail_msg("%s: %s", file, t.column[5]);
            }
        }
        umbel_lookup_free(l);
        umbel_free(f);
    }
    assert_true(t.rows > 50);
    golden_table_close(&t);
}

/* Under `line` a text is its key, and an empty one is one, too. */
static void test_line(void **state) {
    (void)state;
    umbel_filter *f = list_of((const char *[]){"", "Ada"}, 2, "line");
    umbel_lookup *l = NULL, *lower = NULL;
    const umbel_key asked_for[] = {{NULL, 0}, {"Ada", 3}, {"ada", 3}};
    uint8_t hits[3];
    assert_ok(umbel_lookup_new(f, NULL, &l, NULL));
    assert_ok(umbel_lookup_texts(l, UMBEL_USE_RECORD, asked_for, 3, hits, states, NULL));
    assert_true(hits[0] && hits[1] && !hits[2] && states[0] == UMBEL_FOUND_KEY);
    umbel_diag diag = {0};
    assert_int_equal(umbel_lookup_new(f, "line looooower", &lower, &diag), UMBEL_EVERSION);
    assert_string_equal(diag.field, "looooower");
    assert_ok(umbel_lookup_new(f, "line upper", &lower, NULL)); /* instead of its own */
    assert_false(has(lower, "ada"));
    umbel_lookup_free(lower);
    umbel_lookup_free(l);
    umbel_free(f);
}

static void test_no_memory(void **state) {
    (void)state;
    check_memory memory = {.fails = UINT64_MAX};
    umbel_alloc alloc = check_alloc(&memory);
    umbel_filter *f = NULL;
    umbel_lookup *l = NULL;
    umbel_params params = {.capacity = 100, .fpr = 0.01};
    assert_ok(umbel_create(&params, &(umbel_opts){.alloc = &alloc}, &f, NULL));
    assert_ok(umbel_set_recipe(f, "line lower", NULL));
    assert_ok(umbel_lookup_new(f, NULL, &l, NULL));
    static char lengthy[10000];
    memset(lengthy, 'A', sizeof lengthy);
    umbel_key key = {lengthy, sizeof lengthy};
    memory.fails = memory.calls;
    hit[0] = 7;
    assert_int_equal(umbel_lookup_texts(l, UMBEL_USE_KEY, &key, 1, hit, NULL, NULL), UMBEL_ENOMEM);
    assert_int_equal(hit[0], 7);
    memory.fails = UINT64_MAX;
    assert_ok(umbel_lookup_texts(l, UMBEL_USE_KEY, &key, 1, hit, NULL, NULL));
    umbel_lookup_free(l);
    umbel_free(f);
    assert_int_equal(memory.out, 0);
}

/* Where a mapped file is damaged yes is an error; no is certain. */
static void test_damage(void **state) {
    (void)state;
    enum { KEYS = 2000000 };
    umbel_filter *f = NULL;
    umbel_lookup *l = NULL;
    size_t len;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .capacity = KEYS, .fpr = 0.01};
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (uint32_t i = 0; i < KEYS; i++) assert_ok(umbel_add(f, &i, sizeof i, NULL, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
    uint8_t *bytes = file_bytes(path, &len);
    bytes[len / 2] ^= 1; /* in a piece of a MiB */
    file_put(path, bytes, len);
    free(bytes);
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, NULL));
    assert_ok(umbel_lookup_new(f, NULL, &l, NULL));
    size_t refused = 0;
    for (uint32_t i = 0; i < 200; i++) {
        umbel_diag diag = {0};
        umbel_key key = {&i, sizeof i};
        umbel_err e = umbel_lookup_texts(l, UMBEL_USE_KEY, &key, 1, hit, NULL, &diag);
        assert_true(hit[0]); /* none of them is a wrong no */
        refused += e == UMBEL_ECORRUPT;
        if (e) assert_string_equal(diag.field, "payload checksum");
    }
    assert_true(refused > 100); /* once damage is met, every yes is void */
    size_t certain = 0;
    for (uint32_t i = KEYS; i < KEYS + 200; i++) {
        umbel_key key = {&i, sizeof i};
        umbel_err e = umbel_lookup_keys(l, &key, NULL, 1, NULL, hit, NULL, NULL);
        assert_int_equal(e, hit[0] ? UMBEL_ECORRUPT : UMBEL_OK);
        certain += !hit[0];
    }
    assert_true(certain > 20);
    umbel_lookup_free(l);
    umbel_free(f);
}

/* ---- sources ---- */

static void sleep_a_little(void) {
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

static umbel_source_state state_of(const umbel_source *s, umbel_err want) {
    umbel_source_state now;
    assert_int_equal(umbel_source_status(s, &now, NULL), want);
    assert_int_equal(now.stale, want != UMBEL_OK);
    return now;
}

static void test_replaced(void **state) {
    (void)state;
    umbel_source *s = NULL;
    save("old", "line");
    time_t before = time(NULL);
    assert_ok(umbel_source_open(path, NULL, &s, NULL));
    assert_ok(umbel_source_refresh(s, NULL));
    umbel_source_state now = state_of(s, UMBEL_OK);
    assert_int_equal(now.replaced, 0);
    assert_true(now.since + 1 >= (uint64_t)before && now.since <= (uint64_t)time(NULL) + 1);
    const umbel_lookup *old = umbel_source_now(s);
    umbel_lookup_hold(old);
    save("new", "line");
    for (int i = 0; i < 100 && !has(umbel_source_now(s), "new"); i++) sleep_a_little();
    assert_true(has(umbel_source_now(s), "new") && !has(umbel_source_now(s), "old"));
    assert_true(has(old, "old") && !has(old, "new")); /* who holds it has it */
    assert_int_equal(state_of(s, UMBEL_OK).replaced, 1);

    umbel_diag diag = {0};
    file_put(path, "nonsense", 8); /* over the old bytes, which a map would not survive */
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EUNKNOWN);
    assert_true(has(umbel_source_now(s), "new"));
    assert_int_equal(state_of(s, UMBEL_EUNKNOWN).refused, 1);
    unlink(path);
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EIO);
    assert_true(has(umbel_source_now(s), "new"));
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EIO);
    assert_int_equal(state_of(s, UMBEL_EIO).refused, 2); /* still the same: it is not there */
    save("Third", "line lower");
    assert_ok(umbel_source_refresh(s, NULL));
    assert_false(has(umbel_source_now(s), "Third")); /* the recipe came with it */
    umbel_info info;
    umbel_describe(umbel_lookup_filter(umbel_source_now(s)), &info);
    assert_int_equal(info.keys_added, 1);
    assert_int_equal(state_of(s, UMBEL_OK).replaced, 2);
    umbel_source_close(s);
    assert_true(has(old, "old"));
    umbel_lookup_free(old);
}

/* A guard that reads its verdict beside the file: a number, or nothing. */
typedef struct verdicts {
    unsigned asked;
    size_t last; /* bytes */
} verdicts;

static umbel_err vouched(void *ctx, const char *file, const void *bytes, size_t len,
                         const umbel_key *signature, uint64_t *number, umbel_diag *diag) {
    verdicts *v = ctx;
    char beside[128];
    unsigned long long n;
    assert_null(signature); /* of a delta */
    snprintf(beside, sizeof beside, "%s.ok", file);
    FILE *from = fopen(beside, "r");
    bool ok = from && fscanf(from, "%llu", &n) == 1;
    if (from) fclose(from);
    v->asked++;
    v->last = bytes ? len : 0;
    if (!ok) {
        diag->what = "nobody vouches for it";
        return UMBEL_EUNSIGNED;
    }
    *number = n;
    return UMBEL_OK;
}

static void vouch(const char *number) {
    char beside[128];
    snprintf(beside, sizeof beside, "%s.ok", path);
    if (number) {
        file_put(beside, number, strlen(number));
    } else {
        unlink(beside);
    }
}

/* Nothing is used that the guard has not seen, and nothing older than what is in use. */
static void test_guarded(void **state) {
    (void)state;
    verdicts seen = {0};
    const umbel_guard guard = {vouched, &seen, ".ok"};
    umbel_source_opts how = {.guard = &guard};
    umbel_source *s = NULL;
    umbel_diag diag = {0};
    save("first", "line");
    vouch(NULL);
    assert_int_equal(umbel_source_open(path, &how, &s, &diag), UMBEL_EUNSIGNED);
    assert_string_equal(diag.what, "nobody vouches for it");
    vouch("7");
    assert_ok(umbel_source_open(path, &how, &s, &diag));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(seen.last, st.st_size);
    assert_int_equal(state_of(s, UMBEL_OK).number, 7);

    vouch("6");
    save("second", "line");
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EUNSIGNED);
    assert_true(has(umbel_source_now(s), "first"));
    assert_int_equal(state_of(s, UMBEL_EUNSIGNED).number, 7);

    /* Refused for good, until what is beside it changes. */
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
    assert_int_equal(umbel_source_refresh(s, NULL), UMBEL_EUNSIGNED);
    unsigned before = seen.asked;
    assert_int_equal(umbel_source_refresh(s, NULL), UMBEL_EUNSIGNED);
    assert_int_equal(seen.asked, before);
    vouch("8");
    assert_ok(umbel_source_refresh(s, &diag));
    assert_true(has(umbel_source_now(s), "second"));
    assert_int_equal(state_of(s, UMBEL_OK).number, 8);

    /* The number of a file that is not a filter does not count. */
    vouch("9");
    file_put(path, "nonsense", 8);
    assert_int_equal(umbel_source_refresh(s, NULL), UMBEL_EUNKNOWN);
    assert_int_equal(state_of(s, UMBEL_EUNKNOWN).number, 8);
    vouch(NULL);
    umbel_source_close(s);
}

/* A refused file is read once it has settled, and not again until it changes; what was refused does
 * not count as replaced. */
static void test_refused_once(void **state) {
    (void)state;
    check_memory memory = {.fails = UINT64_MAX};
    umbel_alloc alloc = check_alloc(&memory);
    umbel_opts opts = {.alloc = &alloc};
    umbel_source_opts how = {.opts = &opts};
    umbel_source *s = NULL;
    umbel_diag diag = {0};
    size_t len;
    save("old", "line");
    assert_ok(umbel_source_open(path, &how, &s, NULL));
    assert_ok(umbel_source_status(s, NULL, &diag));
    save("new", "line");
    uint8_t *bytes = file_bytes(path, &len);
    bytes[4096] ^= 1;
    file_put(path, bytes, len);
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
    assert_int_equal(umbel_source_refresh(s, NULL), UMBEL_ECORRUPT);
    uint64_t calls = memory.calls;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_ECORRUPT);
        assert_int_equal(diag.offset, 4096);
    }
    assert_int_equal(memory.calls, calls); /* reading takes memory */
    umbel_source_state now = state_of(s, UMBEL_ECORRUPT);
    assert_true(now.replaced == 0 && now.refused == 1);
    assert_true(has(umbel_source_now(s), "old"));
    bytes[4096] ^= 1;
    file_put(path, bytes, len); /* the same file, mended in its place */
    assert_ok(umbel_source_refresh(s, NULL));
    now = state_of(s, UMBEL_OK);
    assert_true(now.replaced == 1 && now.refused == 1);
    assert_true(has(umbel_source_now(s), "new"));

    /* What was refused before, and again after a good file: it is read, and refused, again. */
    bytes[4096] ^= 1;
    file_put(path, bytes, len);
    assert_int_equal(umbel_source_refresh(s, NULL), UMBEL_ECORRUPT);
    assert_int_equal(state_of(s, UMBEL_ECORRUPT).refused, 2);
    free(bytes);
    umbel_source_close(s);
    assert_int_equal(memory.out, 0);
}

/* Every length that a file has while it is written over the old one. */
static void test_truncated(void **state) {
    (void)state;
    umbel_source *s = NULL;
    size_t len;
    save("new", "line");
    uint8_t *bytes = file_bytes(path, &len);
    save("old", "line");
    assert_ok(umbel_source_open(path, NULL, &s, NULL));
    for (size_t at = 0; at < len; at += at < 300 ? 1 : 397) {
        file_put(path, bytes, at);
        assert_true(umbel_source_refresh(s, NULL) != UMBEL_OK);
        assert_true(has(umbel_source_now(s), "old"));
    }
    file_put(path, bytes, len);
    assert_ok(umbel_source_refresh(s, NULL));
    assert_true(has(umbel_source_now(s), "new"));
    free(bytes);
    umbel_source_close(s);
}

static void *cut_and_allocate(void *ctx, size_t size) {
    unsigned *left = ctx;
    if (*left && !--*left) assert_int_equal(truncate(path, 0), 0);
    return malloc(size);
}

static void free_it(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

/* Whoever writes over a file while it is read does not kill its readers. */
static void test_cut_while_read(void **state) {
    (void)state;
    unsigned left = 0, calls = 0; /* until the file is cut off */
    umbel_alloc alloc = {cut_and_allocate, free_it, &left};
    umbel_opts opts = {.alloc = &alloc};
    umbel_source_opts how = {.opts = &opts};
    umbel_source *s = NULL;
    save("old", "line");
    assert_ok(umbel_source_open(path, &how, &s, NULL));
    for (bool all = false; !all;) {
        save("new", "line");
        left = ++calls;
        umbel_err e = umbel_source_refresh(s, NULL);
        all = left > 0;
        left = 0;
        assert_true(has(umbel_source_now(s), e ? "old" : "new"));
        save("old", "line");
        assert_ok(umbel_source_refresh(s, NULL));
    }
    assert_true(calls > 3);
    umbel_source_close(s);
}

/* A recipe of the future would be asked in the wrong way: such a file is refused. */
static void test_unknown_recipe(void **state) {
    (void)state;
    umbel_source *s = NULL;
    umbel_diag diag = {0};
    size_t len;
    save("old", "line");
    assert_ok(umbel_source_open(path, NULL, &s, NULL));
    save("new", "domain");
    uint8_t *bytes = file_bytes(path, &len);
    uint8_t *word = memmem(bytes, len, "domain", 6);
    assert_non_null(word);
    word[5] = 'x';
    native_resum(bytes, len);
    file_put(path, bytes, len);
    free(bytes);
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EVERSION);
    assert_string_equal(diag.field, "domaix");
    assert_true(has(umbel_source_now(s), "old"));
    umbel_source_close(s);
}

typedef struct opening {
    int calls;
    umbel_err err;
    const char *name;
} opening;

static umbel_err open_instead(void *ctx, const char *given, umbel_filter **out, umbel_diag *diag) {
    opening *o = ctx;
    o->calls++;
    assert_string_equal(given, path);
    if (o->err) {
        *diag = (umbel_diag){.what = "not today"};
        return o->err;
    }
    *out = list_of(&o->name, 1, "domain");
    return UMBEL_OK;
}

static void test_options(void **state) {
    (void)state;
    umbel_source *s = NULL;
    opening o = {.name = "from.elsewhere"};
    umbel_diag diag = {0};
    file_put(path, "x", 1);
    umbel_source_opts how = {.recipe = "line", .open = open_instead, .ctx = &o};
    assert_ok(umbel_source_open(path, &how, &s, NULL));
    assert_true(has(umbel_source_now(s), "from.elsewhere"));
    assert_false(has(umbel_source_now(s), "www.from.elsewhere")); /* how.recipe, not its own */
    o.err = UMBEL_EMISMATCH;
    file_put(path, "xy", 2);
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_EMISMATCH);
    assert_string_equal(diag.what, "not today");
    o = (opening){.name = "another"};
    file_put(path, "xyz", 3);
    assert_ok(umbel_source_refresh(s, NULL));
    assert_true(o.calls == 1 && has(umbel_source_now(s), "another"));
    umbel_source_close(s);

    how = (umbel_source_opts){.reserved = {1}};
    assert_int_equal(umbel_source_open(path, &how, &s, &diag), UMBEL_EINVAL);
    file_put(path, "\0\0\0\0\0\0\0\0\6", 9); /* shows no format */
    umbel_foreign as = {.format = UMBEL_FMT_LEVELDB};
    how = (umbel_source_opts){.as = &as};
    assert_ok(umbel_source_open(path, &how, &s, NULL)); /* read as it was said to be */
    umbel_info info;
    umbel_describe(umbel_lookup_filter(umbel_source_now(s)), &info);
    assert_int_equal(info.format, UMBEL_FMT_LEVELDB);
    umbel_source_close(s);
}

static void test_not_opened(void **state) {
    (void)state;
    umbel_source *s = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_source_open("/nonexistent/x.umb", NULL, &s, &diag), UMBEL_EIO);
    file_put(path, "x", 1);
    assert_int_equal(umbel_source_open(path, NULL, &s, &diag), UMBEL_EUNKNOWN);
    assert_null(s);
    umbel_source_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domains),        cmocka_unit_test(test_many),
        cmocka_unit_test(test_confirm),        cmocka_unit_test(test_shared_hashes),
        cmocka_unit_test(test_good_names),     cmocka_unit_test(test_golden),
        cmocka_unit_test(test_line),           cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_damage),         cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_guarded),        cmocka_unit_test(test_guarded),
        cmocka_unit_test(test_refused_once),   cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_cut_while_read), cmocka_unit_test(test_unknown_recipe),
        cmocka_unit_test(test_options),        cmocka_unit_test(test_not_opened),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
