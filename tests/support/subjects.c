/* SPDX-License-Identifier: MIT */
#include "subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "core/cpu.h"
#include "random_keys.h"
#include "umbel_foreign.h"

static const uint8_t secret[] = "sixteen bytes it";

const subject subjects[SUBJECTS] = {
    {.name = "blocked, generic", .kind = UMBEL_KIND_BLOCKED, .kernel = "generic"},
    {.name = "blocked, avx2", .kind = UMBEL_KIND_BLOCKED, .kernel = "avx2", .cpu = UMBELI_CPU_AVX2},
    {.name = "blocked, atomic", .kind = UMBEL_KIND_BLOCKED, .kernel = "atomic", .concurrent = true},
    {.name = "blocked, avx2, concurrent",
     .kind = UMBEL_KIND_BLOCKED,
     .kernel = "avx2",
     .cpu = UMBELI_CPU_AVX2,
     .concurrent = true},
    {.name = "classic", .kind = UMBEL_KIND_CLASSIC, .kernel = "generic"},
    {.name = "blocked, keyed", .kind = UMBEL_KIND_BLOCKED, .kernel = "generic", .key = secret},
    {.name = "classic, keyed", .kind = UMBEL_KIND_CLASSIC, .kernel = "generic", .key = secret},
    {.name = "line, generic", .kind = UMBEL_KIND_LINE, .kernel = "generic"},
    {.name = "line, avx2", .kind = UMBEL_KIND_LINE, .kernel = "avx2", .cpu = UMBELI_CPU_AVX2},
    {.name = "line, atomic",
     .kind = UMBEL_KIND_LINE,
     .kernel = "atomic",
     .concurrent = true,
     .hashes = 4},
    {.name = "line, avx2, concurrent",
     .kind = UMBEL_KIND_LINE,
     .kernel = "avx2",
     .cpu = UMBELI_CPU_AVX2,
     .concurrent = true,
     .hashes = 4},
    {.name = "line, keyed",
     .kind = UMBEL_KIND_LINE,
     .kernel = "generic",
     .key = secret,
     .hashes = 16},
};

bool subject_runs(const subject *s) {
    return (s->cpu & ~umbeli_cpu()) == 0;
}

const subject *subject_called(const char *name) {
    for (size_t s = 0; s < SUBJECTS; s++) {
        if (strcmp(subjects[s].name, name) == 0) return &subjects[s];
    }
    fail_msg("no subject is called %s", name);
    return NULL;
}

const subject *fastest_subject(umbel_kind kind) {
    const subject *fastest = NULL;
    for (const subject *s = subjects; s < subjects + SUBJECTS; s++) {
        if (s->kind == kind && !s->concurrent && !s->key && subject_runs(s)) fastest = s;
    }
    assert_non_null(fastest);
    return fastest;
}

static void assert_kernel(const subject *s, const umbel_filter *f, const char *kernel) {
    umbel_info info;
    umbel_describe(f, &info);
    assert_int_equal(info.kind, s->kind);
    assert_string_equal(info.kernel, kernel);
}

umbel_filter *subject_create(const subject *s, umbel_params params, const umbel_opts *opts) {
    params.kind = s->kind;
    params.concurrent = s->concurrent;
    if (params.capacity == 0 && params.fpr == 0) {
        if (s->kind == UMBEL_KIND_CLASSIC) params.hashes = 7;
        if (s->kind == UMBEL_KIND_LINE && params.hashes == 0) params.hashes = s->hashes;
        if (s->kind == UMBEL_KIND_LINE && params.bytes < 64) params.bytes = 64;
    }
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_opts keyed = opts ? *opts : (umbel_opts){0};
    keyed.secret = s->key;
    umbeli_cpu_limit(s->cpu);
    umbel_err e = umbel_create(&params, &keyed, &f, &diag);
    umbeli_cpu_limit(UINT32_MAX);
    if (e) fail_msg("%s: %s: %s", s->name, umbel_err_name(e), sentence(&diag));
    assert_kernel(s, f, s->kernel);
    return f;
}

static const char *plain_kernel(const subject *s) {
    return s->cpu ? "avx2" : "generic";
}

umbel_filter *subject_decode(const subject *s, const void *bytes, size_t len) {
    umbel_filter *f = NULL;
    umbeli_cpu_limit(s->cpu);
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                           &(umbel_opts){.secret = s->key}, &f, NULL));
    umbeli_cpu_limit(UINT32_MAX);
    assert_kernel(s, f,
                  s->concurrent ? plain_kernel(s) : s->kernel); /* concurrency is not in the file */
    return f;
}

uint8_t *bytes_of(const umbel_filter *f, size_t *len) {
    *len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, *len, NULL));
    return bytes;
}

void assert_same_bytes(const umbel_filter *a, const umbel_filter *b) {
    size_t a_len, b_len;
    uint8_t *a_bytes = bytes_of(a, &a_len), *b_bytes = bytes_of(b, &b_len);
    assert_int_equal(a_len, b_len);
    if (memcmp(a_bytes, b_bytes, a_len) != 0) fail_msg("the bytes differ");
    free(a_bytes);
    free(b_bytes);
}

int run_over_subjects(const char *group, const property *properties, size_t n) {
    enum { MOST = 128 };
    struct CMUnitTest tests[MOST];
    static char names[MOST][64];
    size_t made = 0;
    for (size_t s = 0; s < SUBJECTS; s++) {
        if (!subject_runs(&subjects[s])) continue;
        for (size_t p = 0; p < n && made < MOST; p++, made++) {
            snprintf(names[made], sizeof names[made], "%s: %s", subjects[s].name,
                     properties[p].name);
            tests[made] = (struct CMUnitTest){.name = names[made],
                                              .test_func = properties[p].test,
                                              .initial_state = (void *)(uintptr_t)&subjects[s]};
        }
    }
    return _cmocka_run_group_tests(group, tests, made, random_start, NULL);
}
