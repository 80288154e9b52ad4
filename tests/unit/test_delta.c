/* SPDX-License-Identifier: MIT
 *
 * test_delta.c - lists that follow their deltas: against a model, out of order, damaged
 * labels: slow
 */
#define _GNU_SOURCE /* mkdtemp */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "any_filter.h"
#include "core/bits.h"
#include "golden.h"
#include "hash/xxh.h"
#include "random_keys.h"
#include "umbel_delta.h"
#include "umbel_lookup.h"
#include "umbel_never.h"

enum { FIXED = 160 /* bytes before the cells */ };

static char folder[] = "/tmp/umbel-delta-XXXXXX", path[64], beside[64];
static const uint8_t secret[17] = "sixteen bytes it";

static int start(void **state) {
    if (random_start(state) || !mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/list.umb", folder);
    snprintf(beside, sizeof beside, "%s/list.umb.deltas", folder);
    return 0;
}

static int end(void **state) {
    (void)state;
    unlink(path);
    unlink(beside);
    return rmdir(folder);
}

/* ---- a list, as its keys say it is -------------------------------------------------------- */

typedef struct model {
    key_set all;
    uint8_t *in, *before; /* is key i in the list, and was it before the last change? */
    uint8_t *ever;        /* was it ever? */
    umbel_params params;
    const uint8_t *secret;
    double fpr; /* of base and deltas together */
} model;

static umbel_opts opts_of(const model *m) {
    return (umbel_opts){.secret = m->secret};
}

static void build_base(model *m) {
    umbel_key *keys = calloc(m->all.n, sizeof *keys);
    umbel_filter *f = NULL;
    umbel_opts opts = opts_of(m);
    size_t n = 0;
    for (size_t i = 0; i < m->all.n; i++) {
        if (m->in[i]) keys[n++] = m->all.keys[i];
    }
    assert_ok(build_from(&m->params, &opts, keys, n, &f, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
    free(keys);
}

static model new_model(size_t n, umbel_params params, const uint8_t *key) {
    model m = {.all = random_keys(n, random_below(60000)),
               .params = params,
               .secret = key,
               .fpr = params.fpr};
    m.in = calloc(n, 1);
    m.before = calloc(n, 1);
    m.ever = calloc(n, 1);
    for (size_t i = 0; i < n / 2; i++) m.in[i] = m.ever[i] = 1;
    unlink(beside);
    build_base(&m);
    return m;
}

static void free_model(model *m) {
    free_keys(&m->all);
    free(m->in);
    free(m->before);
    free(m->ever);
}

static void change(model *m, size_t keys) {
    memcpy(m->before, m->in, m->all.n);
    for (size_t i = 0; i < keys; i++) {
        size_t at = random_below(m->all.n);
        m->in[at] ^= 1;
        m->ever[at] |= m->in[at];
    }
}

/* ---- the list ----------------------------------------------------------------------------- */

static umbel_lookup *open_list(const model *m, umbel_filter **f) {
    umbel_opts opts = opts_of(m);
    umbel_lookup *l = NULL;
    umbel_diag diag = {0};
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, &opts, f, NULL));
    assert_ok(umbel_lookup_list(*f, path, NULL, NULL, &l, &diag));
    assert_null(diag.what);
    return l;
}

typedef struct bytes {
    uint8_t *at;
    size_t len;
} bytes;

/* The delta of the last change, from what is on disk. */
static bytes make_delta(const model *m, umbel_delta_info *info) {
    umbel_filter *f = NULL;
    umbel_lookup *l = open_list(m, &f);
    umbel_delta *d = NULL;
    const void *made;
    size_t len;
    assert_ok(umbel_delta_new(l, 0, &d, NULL));
    for (size_t i = 0; i < m->all.n; i++) {
        uint32_t where =
            (m->before[i] ? UMBEL_DELTA_BEFORE : 0) | (m->in[i] ? UMBEL_DELTA_AFTER : 0);
        if (where) assert_ok(umbel_delta_keys(d, where, &m->all.keys[i], 1, NULL));
    }
    assert_ok(umbel_delta_finish(d, &made, &len, info, NULL));
    bytes b = {malloc(len), len};
    memcpy(b.at, made, len);
    umbel_delta_free(d);
    umbel_lookup_free(l);
    umbel_free(f);
    return b;
}

static umbel_err apply(bytes b, umbel_delta_info *all, umbel_diag *diag) {
    return umbel_delta_apply(path, 0, b.at, b.len, NULL, NULL, all, diag);
}

/* Every key of the list is found, none that has just left, and others at the rate. */
static void judge(const model *m) {
    umbel_filter *f = NULL;
    umbel_lookup *l = open_list(m, &f);
    uint8_t *hit = malloc(m->all.n);
    size_t strangers = 0, found = 0;
    assert_ok(umbel_lookup_keys(l, m->all.keys, NULL, m->all.n, NULL, hit, NULL, NULL));
    for (size_t i = 0; i < m->all.n; i++) {
        uint8_t one;
        assert_ok(umbel_lookup_keys(l, &m->all.keys[i], NULL, 1, NULL, &one, NULL, NULL));
        assert_int_equal(one, hit[i]);
        if (m->in[i]) assert_int_equal(hit[i], 1);
        if (!m->in[i] && m->before[i]) assert_int_equal(hit[i], 0);
        if (!m->in[i] && !m->before[i]) strangers++, found += hit[i];
    }
    double expected = m->fpr * (double)strangers;
    assert_true((double)found <= expected + 5 * sqrt(expected) + 5);
    free(hit);
    umbel_lookup_free(l);
    umbel_free(f);
}

/* ---- histories ---------------------------------------------------------------------------- */

enum { HISTORIES = 100, DELTAS = 20 };

static umbel_params random_params(size_t keys) {
    static const umbel_kind kinds[] = {UMBEL_KIND_TIGHT,   UMBEL_KIND_BLOCKED, UMBEL_KIND_LINE,
                                       UMBEL_KIND_CLASSIC, UMBEL_KIND_STATIC,  UMBEL_KIND_SCALABLE,
                                       UMBEL_KIND_COUNTING};
    static const double rates[] = {0.03, 0.01, 0.001, 1e-6};
    umbel_params p = {.kind = kinds[random_below(7)], .fpr = rates[random_below(4)]};
    umbel_traits traits;
    umbel_kind_traits(p.kind, &traits);
    if (!traits.built_once) p.capacity = keys;
    return p;
}

/* As the list shrinks, grows to many times its size or hardly changes. */
static void live(size_t n, umbel_params params, const uint8_t *key) {
    model m = new_model(n, params, key);
    umbel_delta_info info, all;
    for (uint64_t i = 1; i <= DELTAS; i++) {
        change(&m, random_below(3) ? 1 + n / 50 : random_below(n));
        bytes b = make_delta(&m, &info);
        assert_int_equal(info.number, i);
        if (i % 10) { /* as apply does, but without waiting for the disk */
            FILE *file = fopen(beside, "ab");
            assert_int_equal(fwrite(b.at, 1, b.len, file), b.len);
            fclose(file);
        } else {
            assert_ok(apply(b, &all, NULL));
            assert_int_equal(all.number, i);
        }
        m.fpr = params.fpr * (double)(i + 1);
        judge(&m);
        free(b.at);
    }
    free_model(&m);
}

static void test_histories(void **state) {
    (void)state;
    for (int i = 0; i < HISTORIES; i++) {
        size_t n = i % 10 == 0 ? 1 + random_below(20) : 100 + random_below(1500);
        live(n, random_params(n), i % 3 ? NULL : secret);
    }
}

/* Cells of a list that was small are as wide as thousands of a large one's. */
static void test_growth(void **state) {
    (void)state;
    model m = new_model(40000, (umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 0.001}, NULL);
    memset(m.in, 0, m.all.n);
    memset(m.in, 1, 10);
    build_base(&m);
    for (size_t size = 4; size <= m.all.n; size = size == 4 ? 9 : size * 3) {
        memcpy(m.before, m.in, m.all.n);
        for (size_t i = 0; i < size; i++) m.in[i] ^= 1;
        bytes b = make_delta(&m, NULL);
        umbel_delta_info all;
        assert_ok(apply(b, &all, NULL));
        m.fpr = 0.001 + all.fpr;
        judge(&m);
        free(b.at);
    }
    free_model(&m);
}

/* ---- order -------------------------------------------------------------------------------- */

static void expect_refused(bytes b, const char *field) {
    umbel_diag diag = {0};
    umbel_delta_info all = {.number = 77};
    assert_int_equal(apply(b, &all, &diag), UMBEL_EMISMATCH);
    assert_string_equal(diag.field, field);
    assert_int_equal(all.number, 77);
}

static bytes read_file(const char *name) {
    FILE *file = fopen(name, "rb");
    bytes b = {malloc(1 << 20), 0};
    if (file) {
        b.len = fread(b.at, 1, 1 << 20, file);
        fclose(file);
    }
    return b;
}

static void write_file(const char *name, bytes b) {
    FILE *file = fopen(name, "wb");
    assert_int_equal(fwrite(b.at, 1, b.len, file), b.len);
    fclose(file);
}

static void expect_same(bytes before) {
    bytes now = read_file(beside);
    assert_int_equal(now.len, before.len);
    assert_memory_equal(now.at, before.at, now.len);
    free(now.at);
}

static model small_model(void) {
    return new_model(300, (umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 1e-6}, NULL);
}

static void test_order(void **state) {
    (void)state;
    model m = small_model();
    bytes d[4];
    for (int i = 0; i < 4; i++) {
        change(&m, 20);
        d[i] = make_delta(&m, NULL);
        assert_ok(apply(d[i], NULL, NULL));
    }
    bytes all = read_file(beside);
    assert_ok(apply(d[1], NULL, NULL)); /* twice is once */
    expect_same(all);
    unlink(beside);
    expect_refused(d[1], "number");
    assert_ok(apply(d[0], NULL, NULL));
    expect_refused(d[2], "number");
    assert_ok(apply(all, NULL, NULL)); /* all that are missing */
    expect_same(all);
    judge(&m);

    unlink(beside); /* another fourth delta than the one that is there */
    for (int i = 0; i < 3; i++) assert_ok(apply(d[i], NULL, NULL));
    umbel_filter *f = NULL;
    umbel_lookup *l = open_list(&m, &f);
    umbel_delta *other = NULL;
    const void *made;
    size_t len;
    assert_ok(umbel_delta_new(l, 0, &other, NULL));
    assert_ok(umbel_delta_keys(other, UMBEL_DELTA_AFTER, m.all.keys, 3, NULL));
    for (size_t i = 0; i < m.all.n; i++) {
        if (!m.before[i]) continue;
        assert_ok(umbel_delta_keys(other, UMBEL_DELTA_BEFORE, &m.all.keys[i], 1, NULL));
    }
    assert_ok(umbel_delta_finish(other, &made, &len, NULL, NULL));
    assert_ok(apply(d[3], NULL, NULL));
    bytes fourth = {(uint8_t *)(uintptr_t)made, len};
    expect_refused(fourth, "number");
    expect_same(all);
    umbel_delta_free(other);
    umbel_lookup_free(l);
    umbel_free(f);
    for (int i = 0; i < 4; i++) free(d[i].at);
    free(all.at);
    free_model(&m);
}

/* A new base simply replaces the list: what follows the old one is left aside, and makes way. */
static void test_new_base(void **state) {
    (void)state;
    model m = small_model();
    umbel_filter *f = NULL;
    umbel_lookup *l = NULL;
    umbel_diag diag = {0};
    umbel_delta_info info;
    change(&m, 20);
    bytes old = make_delta(&m, NULL);
    assert_ok(apply(old, NULL, NULL));
    build_base(&m);
    expect_refused(old, "base");
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, NULL));
    assert_ok(umbel_lookup_list(f, path, NULL, NULL, &l, &diag));
    assert_string_equal(diag.field, "base");
    assert_false(umbel_lookup_deltas(l, &info));
    umbel_lookup_free(l);
    umbel_free(f);
    bytes was = read_file(beside);
    unlink(beside);
    change(&m, 20);
    bytes first = make_delta(&m, NULL);
    write_file(beside, was);
    assert_ok(apply(first, &info, NULL));
    assert_int_equal(info.number, 1);
    judge(&m);
    free(was.at);
    free(old.at);
    free(first.at);
    free_model(&m);
}

/* Who may not read the list may not read what changes. */
static void test_mode(void **state) {
    (void)state;
    model m = small_model();
    struct stat st;
    change(&m, 20);
    bytes b = make_delta(&m, NULL);
    assert_int_equal(chmod(path, 0600), 0);
    assert_ok(apply(b, NULL, NULL));
    assert_int_equal(stat(beside, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    free(b.at);
    free_model(&m);
}

/* ---- builders ----------------------------------------------------------------------------- */

static void test_wrong_keys(void **state) {
    (void)state;
    model m = small_model();
    umbel_filter *f = NULL, *fresh = umbel_new(10, 0.01);
    umbel_lookup *l = open_list(&m, &f), *lent = NULL;
    umbel_delta *d = NULL;
    umbel_diag diag = {0};
    const void *made;
    size_t len;
    assert_ok(umbel_delta_new(l, 0, &d, NULL));
    assert_int_equal(umbel_delta_keys(d, 0, m.all.keys, 1, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_delta_keys(d, 4, m.all.keys, 1, NULL), UMBEL_EINVAL);
    assert_ok(umbel_delta_keys(d, UMBEL_DELTA_BEFORE, &m.all.keys[299], 1, NULL));
    assert_int_equal(umbel_delta_finish(d, &made, &len, NULL, &diag), UMBEL_EMISMATCH);
    assert_string_equal(diag.field, "before");
    umbel_delta_free(d);
    assert_ok(umbel_lookup_new(fresh, NULL, &lent, NULL));
    assert_int_equal(umbel_delta_new(lent, 0, &d, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "from");
    assert_int_equal(umbel_delta_new(l, 1, &d, &diag), UMBEL_EINVAL);
    umbel_lookup_free(lent);
    umbel_lookup_free(l);
    umbel_free(f);
    umbel_free(fresh);
    free_model(&m);
}

/* Good keys are not found: those of the base's exceptions, those that came by mistake before, and
 * those that would now. */
static void test_good_keys(void **state) {
    (void)state;
    enum { GOOD = 3000 };
    model m = new_model(400, (umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 0.05}, NULL);
    key_set good = random_keys(GOOD, 60001);
    umbel_never *never = NULL;
    umbel_filter *f = NULL;
    umbel_delta *d = NULL;
    umbel_delta_info info;
    const void *made;
    size_t len, found = 0;
    uint8_t hit[GOOD];
    assert_ok(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &f, NULL));
    assert_ok(umbel_never_new(&m.params, NULL, &never, NULL));
    assert_ok(umbel_never_ask(never, good.keys, GOOD / 2, NULL));
    assert_ok(umbel_never_finish(never, f, NULL, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_never_free(never);
    umbel_free(f);

    change(&m, 100);
    umbel_lookup *l = open_list(&m, &f);
    assert_ok(umbel_delta_new(l, 0, &d, NULL));
    for (size_t i = 0; i < m.all.n; i++) {
        uint32_t where = (m.before[i] ? UMBEL_DELTA_BEFORE : 0) | (m.in[i] ? UMBEL_DELTA_AFTER : 0);
        if (where) assert_ok(umbel_delta_keys(d, where, &m.all.keys[i], 1, NULL));
    }
    assert_ok(umbel_delta_never(d, good.keys, GOOD, NULL));
    assert_ok(umbel_delta_finish(d, &made, &len, &info, NULL));
    assert_in_range(info.guarded, 150, 310); /* 5% of them, and of one half in the base as well */
    assert_ok(umbel_delta_apply(path, 0, made, len, NULL, NULL, NULL, NULL));
    umbel_delta_free(d);
    umbel_lookup_free(l);
    umbel_free(f);
    judge(&m);
    l = open_list(&m, &f);
    assert_ok(umbel_lookup_keys(l, good.keys, NULL, GOOD, NULL, hit, NULL, NULL));
    for (size_t i = 0; i < GOOD; i++) found += hit[i];
    assert_int_equal(found, 0);
    umbel_lookup_free(l);
    umbel_free(f);
    free_keys(&good);
    free_model(&m);
}

/* A good key that is an exception of the base comes: it is in the list from then on. */
static void test_exception_comes(void **state) {
    (void)state;
    const uint32_t both = UMBEL_DELTA_BEFORE | UMBEL_DELTA_AFTER;
    model m = small_model();
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .capacity = 200, .fpr = 0.3};
    umbel_key bad = {"bad", 3}, good[64];
    char text[64][8];
    umbel_filter *f = NULL;
    umbel_never *never = NULL;
    bool exception[64];
    assert_ok(build_from(&params, NULL, m.all.keys, 150, &f, NULL));
    assert_ok(umbel_never_new(&params, NULL, &never, NULL));
    for (int i = 0; i < 64; i++) {
        good[i] = (umbel_key){text[i], (size_t)snprintf(text[i], 8, "good%d", i)};
        exception[i] = umbel_contains(f, good[i].data, good[i].len);
    }
    assert_ok(umbel_never_ask(never, good, 64, NULL));
    assert_ok(umbel_never_finish(never, f, NULL, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
    umbel_never_free(never);

    umbel_lookup *l = open_list(&m, &f);
    umbel_delta *d = NULL;
    const void *made;
    size_t len;
    uint8_t hit[64];
    assert_ok(umbel_delta_new(l, 0, &d, NULL));
    assert_ok(umbel_delta_keys(d, both, m.all.keys, 150, NULL));
    assert_ok(umbel_delta_keys(d, UMBEL_DELTA_AFTER, good, 32, NULL));
    assert_ok(umbel_delta_keys(d, UMBEL_DELTA_AFTER, &bad, 1, NULL));
    assert_ok(umbel_delta_finish(d, &made, &len, NULL, NULL));
    assert_ok(umbel_delta_apply(path, 0, made, len, NULL, NULL, NULL, NULL));
    umbel_delta_free(d);
    umbel_lookup_free(l);
    umbel_free(f);
    l = open_list(&m, &f);
    assert_ok(umbel_lookup_keys(l, good, NULL, 64, NULL, hit, NULL, NULL));
    for (size_t i = 0; i < 64; i++) {
        if (i < 32) assert_int_equal(hit[i], 1);
        if (i >= 32 && exception[i]) assert_int_equal(hit[i], 0);
    }
    umbel_lookup_free(l);
    umbel_free(f);
    free_model(&m);
}

/* ---- sources ------------------------------------------------------------------------------ */

static bool source_has(umbel_source *s, umbel_key key) {
    uint8_t hit;
    assert_ok(umbel_lookup_texts(umbel_source_now(s), UMBEL_USE_KEY, &key, 1, &hit, NULL, NULL));
    return hit;
}

static void test_source(void **state) {
    (void)state;
    model m = small_model();
    umbel_source *s = NULL;
    umbel_source_state now;
    umbel_diag diag = {0};
    assert_ok(umbel_source_open(path, NULL, &s, NULL));
    memcpy(m.before, m.in, m.all.n);
    m.in[0] = 0, m.in[299] = 1;
    bytes b = make_delta(&m, NULL);
    assert_true(source_has(s, m.all.keys[0]));
    assert_false(source_has(s, m.all.keys[299]));
    assert_ok(apply(b, NULL, NULL));
    assert_ok(umbel_source_refresh(s, NULL));
    assert_false(source_has(s, m.all.keys[0]));
    assert_true(source_has(s, m.all.keys[299]));

    bytes damaged = {malloc(b.len), b.len};
    memcpy(damaged.at, b.at, b.len);
    damaged.at[b.len / 2] ^= 1;
    write_file(beside, damaged);
    assert_int_equal(umbel_source_refresh(s, &diag), UMBEL_ECORRUPT);
    assert_string_equal(diag.field, "checksum");
    assert_true(source_has(s, m.all.keys[299])); /* the list before stays in force */
    write_file(beside, b);
    assert_ok(umbel_source_refresh(s, NULL));

    m.in[299] = 0;
    build_base(&m); /* without deltas of its own */
    assert_ok(umbel_source_refresh(s, NULL));
    assert_false(source_has(s, m.all.keys[299]));
    assert_ok(umbel_source_status(s, &now, NULL));
    assert_int_equal(now.aside, b.len);
    unlink(beside);
    assert_ok(umbel_source_refresh(s, NULL));
    assert_ok(umbel_source_status(s, &now, NULL));
    assert_int_equal(now.aside, 0);
    umbel_source_close(s);
    free(damaged.at);
    free(b.at);
    free_model(&m);
}

/* ---- signatures --------------------------------------------------------------------------- */

/* A guard that accepts what a certain text is given for, and says how long the text is. */
static umbel_err says_good(void *ctx, const char *file, const void *at, size_t len,
                           const umbel_key *signature, uint64_t *number, umbel_diag *diag) {
    unsigned *asked = ctx;
    umbel_delta_info info;
    assert_string_equal(file, beside);
    assert_ok(umbel_delta_read(at, len, &info, NULL));
    assert_int_equal(info.bytes, len); /* one at a time, as it was signed */
    ++*asked;
    *number = signature->len;
    if (signature->len >= 4 && memcmp(signature->data, "good", 4) == 0) return UMBEL_OK;
    diag->what = "not good";
    return UMBEL_EUNSIGNED;
}

static umbel_err apply_signed(bytes b, const char *text, const umbel_guard *guard) {
    umbel_key signature = {text, text ? strlen(text) : 0};
    umbel_diag diag;
    return umbel_delta_apply(path, 0, b.at, b.len, text ? &signature : NULL, guard, NULL, &diag);
}

static umbel_err open_guarded(const umbel_guard *guard) {
    umbel_filter *f = NULL;
    umbel_lookup *l = NULL;
    umbel_diag diag;
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, NULL));
    umbel_err e = umbel_lookup_list(f, path, NULL, guard, &l, &diag);
    umbel_lookup_free(l);
    umbel_free(f);
    return e;
}

/* Each delta keeps its own signature, whoever puts them together. */
static void test_signatures(void **state) {
    (void)state;
    model m = small_model();
    unsigned asked = 0;
    const umbel_guard guard = {says_good, &asked, NULL};
    bytes d[2];
    for (int i = 0; i < 2; i++) {
        change(&m, 20);
        d[i] = make_delta(&m, NULL);
        assert_ok(apply(d[i], NULL, NULL));
    }
    assert_int_equal(open_guarded(&guard), UMBEL_EUNSIGNED); /* there are no signatures */
    assert_int_equal(asked, 0);
    assert_ok(apply_signed(d[0], "good: 1", NULL)); /* they can come later */
    assert_int_equal(open_guarded(&guard), UMBEL_EUNSIGNED);
    assert_ok(apply_signed(d[1], "bad", NULL));
    assert_int_equal(apply_signed(d[1], "worse", &guard), UMBEL_EUNSIGNED);
    assert_int_equal(open_guarded(&guard), UMBEL_EUNSIGNED);
    assert_ok(apply_signed(d[1], "good: 11", &guard));
    asked = 0;
    assert_ok(open_guarded(&guard));
    assert_int_equal(asked, 2);
    judge(&m);

    bytes all = read_file(beside);
    assert_int_equal(all.len, d[0].len + d[1].len + 2 * 24 + strlen("good: 1good: 11"));
    assert_ok(apply(d[0], NULL, NULL)); /* without one, the one that is there stays */
    expect_same(all);
    unlink(beside);
    assert_int_equal(apply_signed(d[0], NULL, &guard), UMBEL_EUNSIGNED);
    assert_int_equal(apply_signed(d[0], "", NULL), UMBEL_EINVAL);
    char *large = calloc(1, 16386);
    memset(large, 'x', 16385);
    assert_int_equal(apply_signed(d[0], large, NULL), UMBEL_EINVAL);
    large[16384] = '\0';
    assert_ok(apply_signed(d[0], large, NULL));
    unlink(beside);
    assert_ok(apply_signed(all, "of the whole", &guard)); /* each has its own */
    expect_same(all);
    unlink(beside);

    /* Any change is noticed: in the deltas, and around the signatures. */
    for (size_t i = 0; i < all.len; i++) {
        all.at[i] ^= 0x10;
        write_file(beside, all);
        assert_int_not_equal(open_guarded(NULL), UMBEL_OK);
        all.at[i] ^= 0x10;
    }
    unlink(beside);
    for (size_t len = 1; len < all.len; len++) {
        bool whole = len == d[0].len || len == d[0].len + 24 + strlen("good: 1") ||
                     len == all.len - 24 - strlen("good: 11");
        write_file(beside, (bytes){all.at, len});
        assert_int_equal(open_guarded(NULL), whole ? UMBEL_OK : UMBEL_ECORRUPT);
    }
    free(large);
    free(all.at);
    for (int i = 0; i < 2; i++) free(d[i].at);
    free_model(&m);
}

/* ---- damage ------------------------------------------------------------------------------- */

static void seal(bytes b) {
    umbeli_store_le64(b.at + b.len - 8, umbeli_xxh3_64(b.at, b.len - 8, 0));
}

static void test_damage(void **state) {
    (void)state;
    model m = small_model();
    umbel_delta_info info;
    change(&m, 40);
    bytes b = make_delta(&m, NULL);
    for (size_t len = 0; len < b.len; len++) {
        assert_int_equal(umbel_delta_read(b.at, len, &info, NULL), UMBEL_ECORRUPT);
    }
    for (size_t i = 0; i < b.len; i++) {
        b.at[i] ^= 0x10;
        assert_int_not_equal(umbel_delta_read(b.at, b.len, &info, NULL), UMBEL_OK);
        b.at[i] ^= 0x10;
    }
    assert_ok(umbel_delta_read(b.at, b.len, &info, NULL));
    free(b.at);
    free_model(&m);
}

/* Fields that lie, under a checksum that is right: refused, or harmless. */
static void test_lies(void **state) {
    (void)state;
    static const uint64_t values[] = {
        0, 1, 7, 64, UINT64_C(1) << 32, UINT64_C(1) << 60, INT64_MAX, UINT64_MAX};
    model m = small_model();
    umbel_delta_info info;
    change(&m, 40);
    bytes b = make_delta(&m, NULL), lie = {malloc(b.len), b.len};
    for (size_t at = 8; at < FIXED; at += 4) {
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            memcpy(lie.at, b.at, b.len);
            umbeli_store_le64(lie.at + at, values[v]);
            seal(lie);
            if (umbel_delta_read(lie.at, lie.len, &info, NULL)) continue;
            unlink(beside);
            (void)apply(lie, NULL, NULL);
        }
    }
    for (size_t i = 0; i < 4000; i++) { /* cells and decider */
        memcpy(lie.at, b.at, b.len);
        lie.at[FIXED + random_below(b.len - FIXED)] ^= (uint8_t)(1 + random_below(255));
        seal(lie);
        unlink(beside);
        if (apply(lie, NULL, NULL)) continue;
        umbel_filter *f = NULL;
        umbel_lookup *l = open_list(&m, &f);
        uint8_t hit[300];
        assert_ok(umbel_lookup_keys(l, m.all.keys, NULL, m.all.n, NULL, hit, NULL, NULL));
        umbel_lookup_free(l);
        umbel_free(f);
    }
    free(lie.at);
    free(b.at);
    free_model(&m);
}

/* The bytes follow from the keys: in any order, given once or twice. */
static void test_same_bytes(void **state) {
    (void)state;
    model m = small_model();
    umbel_filter *f = NULL;
    umbel_delta *d = NULL;
    const void *made;
    size_t len;
    change(&m, 40);
    bytes b = make_delta(&m, NULL);
    umbel_lookup *l = open_list(&m, &f);
    assert_ok(umbel_delta_new(l, 0, &d, NULL));
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = m.all.n; i-- > 0;) {
            const umbel_key *key = &m.all.keys[i];
            if (m.in[i]) assert_ok(umbel_delta_keys(d, UMBEL_DELTA_AFTER, key, 1, NULL));
            if (m.before[i]) assert_ok(umbel_delta_keys(d, UMBEL_DELTA_BEFORE, key, 1, NULL));
        }
    }
    assert_ok(umbel_delta_finish(d, &made, &len, NULL, NULL));
    assert_int_equal(len, b.len);
    assert_memory_equal(made, b.at, len);
    umbel_delta_free(d);
    umbel_lookup_free(l);
    umbel_free(f);
    free(b.at);
    free_model(&m);
}

/* At most a tenth more than a log2(1/p) + r (log2(n/r) + 2.5) bits, and the fixed part. */
static void test_size(void **state) {
    (void)state;
    enum { N = 200000, CHANGE = 2000 };
    model m = new_model(2 * N, (umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 1e-6}, NULL);
    memcpy(m.before, m.in, m.all.n);
    memset(m.in, 0, CHANGE);
    memset(m.in + N, 1, CHANGE);
    bytes b = make_delta(&m, NULL);
    double bits = CHANGE * (log2(1e6) + log2((double)N / CHANGE) + 2.5);
    assert_true((double)b.len <= 1.1 * bits / 8 + 400);
    free(b.at);
    free_model(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories),  cmocka_unit_test(test_growth),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_new_base),
        cmocka_unit_test(test_mode),       cmocka_unit_test(test_wrong_keys),
        cmocka_unit_test(test_good_keys),  cmocka_unit_test(test_exception_comes),
        cmocka_unit_test(test_source),     cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_damage),     cmocka_unit_test(test_lies),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, start, end);
}
