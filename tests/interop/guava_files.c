/* SPDX-License-Identifier: MIT
 *
 * interop_guava JAVA CLASSPATH [SEED] - compares filters with Guava's own, both ways
 *
 * Writes random cases and umbel's files into a fresh folder, lets GuavaPeer do the same with Guava
 * and compares: bytes, what each put returned, answers to absent keys, statistics, refusals.
 */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umbel_foreign.h"

enum { GROUPS = 10, PER_GROUP = 60, REFUSALS = 8, PROBES = 200, KEYS_MAX = 400, KEY_MAX = 64 };
enum { CASES = GROUPS * PER_GROUP + REFUSALS };

static const char *const funnels[] = {"string", "utf16", "bytes", "int32", "int64"};
static char folder[] = "/tmp/umbel-guava-XXXXXX";
static uint64_t state;

typedef struct test_case {
    unsigned strategy, funnel;
    uint64_t insertions;
    double fpp;
    umbel_filter *filter; /* NULL: refused */
    char *changed, *answers;
} test_case;

static test_case cases[CASES];

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static void die(const char *what) {
    printf("not ok 1 - %s\n", what);
    exit(1);
}

static FILE *open_in(unsigned number, const char *suffix, const char *mode) {
    char path[128];
    if (number < CASES) {
        snprintf(path, sizeof path, "%s/%u.%s", folder, number, suffix);
    } else {
        snprintf(path, sizeof path, "%s/%s", folder, suffix);
    }
    return fopen(path, mode);
}

/* A code point of any length in UTF-8, no surrogates. */
static size_t put_code_point(uint8_t *out) {
    const uint32_t limits[] = {0x80, 0x800, 0xd800, 0x110000};
    uint32_t p = (uint32_t)(draw() % limits[draw() % 4]);
    if (p >= 0xd800 && p < 0xe000) p = 0x1f600;
    if (p < 0x80) return out[0] = (uint8_t)p, 1;
    if (p < 0x800) {
        out[0] = (uint8_t)(0xc0 | p >> 6);
        return out[1] = (uint8_t)(0x80 | (p & 0x3f)), 2;
    }
    if (p < 0x10000) {
        out[0] = (uint8_t)(0xe0 | p >> 12);
        out[1] = (uint8_t)(0x80 | (p >> 6 & 0x3f));
        return out[2] = (uint8_t)(0x80 | (p & 0x3f)), 3;
    }
    out[0] = (uint8_t)(0xf0 | p >> 18);
    out[1] = (uint8_t)(0x80 | (p >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (p >> 6 & 0x3f));
    return out[3] = (uint8_t)(0x80 | (p & 0x3f)), 4;
}

/* A random value as text, appended to `list` in hex; writes its key; returns the key's length. */
static size_t random_key(unsigned funnel, FILE *list, uint8_t key[2 * KEY_MAX]) {
    uint8_t text[KEY_MAX];
    size_t len = 0, key_len = 0, want = draw() % 40;
    umbel_type type = UMBEL_TYPE_STRING;
    switch (funnel) {
    case 0:
    case 1:
        while (len < want) len += put_code_point(text + len);
        type = funnel == 0 ? UMBEL_TYPE_STRING : UMBEL_TYPE_UTF16;
        break;
    case 2:
        while (len < want) text[len++] = (uint8_t)draw();
        break;
    case 3:
        len = (size_t)snprintf((char *)text, sizeof text, "%" PRId32, (int32_t)draw());
        type = UMBEL_TYPE_INT32;
        break;
    default:
        len = (size_t)snprintf((char *)text, sizeof text, "%" PRId64, (int64_t)draw());
        type = UMBEL_TYPE_INT64;
        break;
    }
    for (size_t i = 0; i < len; i++) fprintf(list, "%02x", text[i]);
    fputc('\n', list);
    if (umbel_typed_key(type, text, len, key, 2 * KEY_MAX, &key_len, NULL)) die("typed key");
    return key_len;
}

/* Adds random keys, recording for each whether it was new; looks up others. */
static void fill_case(unsigned number, test_case *c) {
    uint8_t key[2 * KEY_MAX];
    unsigned keys = (unsigned)(draw() % KEYS_MAX);
    c->changed = calloc(1, KEYS_MAX + 2);
    c->answers = calloc(1, PROBES + 2);
    FILE *list = open_in(number, "keys", "w"), *probes = open_in(number, "probes", "w");
    if (!c->changed || !c->answers || !list || !probes) die("cannot write a case");
    for (unsigned i = 0; i < keys; i++) {
        bool was_new = false;
        size_t len = random_key(c->funnel, list, key);
        if (c->filter && umbel_add(c->filter, key, len, &was_new, NULL)) die("umbel_add");
        c->changed[i] = was_new ? '1' : '0';
    }
    for (unsigned i = 0; i < PROBES; i++) {
        size_t len = random_key(c->funnel, probes, key);
        c->answers[i] = c->filter && umbel_contains(c->filter, key, len) ? '1' : '0';
    }
    if (!keys) c->changed[0] = '-';
    fclose(list);
    fclose(probes);
}

static uint8_t *encoded(const umbel_filter *f, size_t *len) {
    *len = (size_t)umbel_encoded_size(f, UMBEL_FMT_GUAVA);
    uint8_t *bytes = malloc(*len ? *len : 1);
    if (!bytes || umbel_encode(f, UMBEL_FMT_GUAVA, bytes, *len, NULL)) die("umbel_encode");
    return bytes;
}

static void make_case(unsigned number, test_case *c, FILE *list) {
    umbel_foreign p = {.format = UMBEL_FMT_GUAVA,
                       .capacity = c->insertions,
                       .fpr = c->fpp,
                       .variant = c->strategy == 0 ? UMBEL_VARIANT_MITZ32 : 0};
    uint64_t bits;
    memcpy(&bits, &c->fpp, sizeof bits);
    fprintf(list, "%u %u %s %" PRIu64 " %" PRIx64 "\n", number, c->strategy, funnels[c->funnel],
            c->insertions, bits);
    if (umbel_create_foreign(&p, NULL, &c->filter, NULL)) c->filter = NULL;
    fill_case(number, c);
    if (!c->filter) return;
    size_t len;
    uint8_t *bytes = encoded(c->filter, &len);
    FILE *file = open_in(number, "umbel", "wb");
    if (!file || fwrite(bytes, 1, len, file) != len || fclose(file)) die("cannot write a filter");
    free(bytes);
}

static void make_cases(void) {
    const test_case refused[REFUSALS] = {
        {1, 0, 10, 0.99, NULL, NULL, NULL},         {0, 0, 1, 0.9, NULL, NULL, NULL},
        {1, 0, 10, 1e-80, NULL, NULL, NULL},        {0, 0, 10, 1e-300, NULL, NULL, NULL},
        {1, 0, 1u << 31, 1e-40, NULL, NULL, NULL},  {1, 0, 1ull << 40, 0.01, NULL, NULL, NULL},
        {0, 0, 1ull << 60, 1e-9, NULL, NULL, NULL}, {1, 0, 7, 0.97, NULL, NULL, NULL}};
    FILE *list = open_in(CASES, "cases", "w");
    if (!list) die("cannot write the cases");
    for (unsigned i = 0; i < CASES; i++) {
        test_case *c = &cases[i];
        if (i < GROUPS * PER_GROUP) {
            unsigned group = i / PER_GROUP;
            *c = (test_case){.strategy = group % 2, .funnel = group / 2};
            c->insertions = 1 + draw() % (draw() % 4 ? 1000 : 20000);
            c->fpp = pow(10, -(double)(draw() % 9000) / 1000 - 0.1);
        } else {
            *c = refused[i - GROUPS * PER_GROUP];
        }
        make_case(i, c, list);
    }
    fclose(list);
}

/* Guava's file is ours, byte for byte, and decodes to our filter. */
static bool same_file(unsigned number, const test_case *c) {
    size_t len;
    uint8_t *bytes = encoded(c->filter, &len), *theirs = malloc(len + 1);
    FILE *file = open_in(number, "guava", "rb");
    bool same =
        file && theirs && fread(theirs, 1, len + 1, file) == len && memcmp(bytes, theirs, len) == 0;
    umbel_filter *read = NULL;
    same = same &&
           umbel_decode(theirs, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_GUAVA}, NULL,
                        &read, NULL) == UMBEL_OK &&
           umbel_equal(read, c->filter);
    umbel_free(read);
    free(bytes);
    free(theirs);
    if (file) fclose(file);
    return same;
}

/* What differs, or NULL. */
static const char *judge(unsigned number, const test_case *c, char *line) {
    static char changed[KEYS_MAX + 2], answers[PROBES + 2], word[16];
    int64_t count;
    uint64_t bits;
    if (strstr(line, "refused")) return c->filter ? "only Guava refuses" : NULL;
    if (!c->filter) return "only umbel refuses";
    if (sscanf(line, "%*u %401s %" SCNd64 " %" SCNx64 " %201s %15s", changed, &count, &bits,
               answers, word) != 5) {
        return "an unreadable result";
    }
    umbel_measurement now;
    umbel_info info;
    double fpp;
    umbel_describe(c->filter, &info);
    umbel_measure(c->filter, &now);
    memcpy(&fpp, &bits, sizeof fpp);
    /* Guava's figures know nothing but the set bits. */
    double fill = (double)now.bits_set / (double)now.bits;
    double keys = -log1p(-fill) * (double)now.bits / info.hashes;
    if (!same_file(number, c)) return "the files differ";
    if (strcmp(word, "same") != 0) return "Guava reads our file differently";
    if (strcmp(changed, c->changed) != 0) return "put returned something else";
    if (strcmp(answers, c->answers) != 0) return "the answers differ";
    if (isinf(keys) ? count != -1 : (int64_t)floor(keys + 0.5) != count) {
        return "approximateElementCount";
    }
    /* pow may differ in its last bit between Java and C */
    if (fabs(pow(fill, info.hashes) - fpp) > 1e-13 * fpp) return "expectedFpp";
    return NULL;
}

static unsigned judge_all(void) {
    FILE *results = open_in(CASES, "results", "r");
    unsigned failed = 0, wrong = 0;
    char line[2048];
    if (!results) die("Guava left no results");
    for (unsigned i = 0; i < CASES; i++) {
        if (!fgets(line, sizeof line, results)) die("results are missing");
        const char *what = judge(i, &cases[i], line);
        if (what) {
            printf("# case %u (%" PRIu64 ", %g): %s\n", i, cases[i].insertions, cases[i].fpp, what);
            wrong++;
        }
        unsigned group = i / PER_GROUP;
        bool last = i + 1 == CASES || (i < GROUPS * PER_GROUP && (i + 1) % PER_GROUP == 0);
        if (!last) continue;
        if (group < GROUPS) {
            printf("%s %u - Guava %s %s: %u filters\n", wrong ? "not ok" : "ok", group + 1,
                   group % 2 ? "MITZ_64" : "MITZ_32", funnels[group / 2], PER_GROUP);
        } else {
            printf("%s %u - Guava's refusals: %u\n", wrong ? "not ok" : "ok", group + 1, REFUSALS);
        }
        failed += wrong > 0;
        wrong = 0;
    }
    fclose(results);
    return failed;
}

static void clean_up(void) {
    static const char *const suffixes[] = {"keys", "probes", "umbel", "guava"};
    char path[128];
    for (unsigned i = 0; i < CASES; i++) {
        for (unsigned s = 0; s < 4; s++) {
            snprintf(path, sizeof path, "%s/%u.%s", folder, i, suffixes[s]);
            unlink(path);
        }
        umbel_free(cases[i].filter);
        free(cases[i].changed);
        free(cases[i].answers);
    }
    snprintf(path, sizeof path, "%s/cases", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/results", folder);
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv) {
    if (argc < 3 || !mkdtemp(folder)) die("usage: interop_guava JAVA CLASSPATH [SEED]");
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)getpid() * 2654435761u;
    state = seed;
    printf("# seed %" PRIu64 "\n", seed);
    make_cases();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl(argv[1], argv[1], "-XX:+UseSerialGC", "-cp", argv[2],
              "com.google.common.hash.GuavaPeer", folder, (char *)NULL);
        _exit(127);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) die("java failed");
    unsigned failed = judge_all();
    printf("1..%d\n", GROUPS + 1);
    clean_up();
    return failed ? 1 : 0;
}
