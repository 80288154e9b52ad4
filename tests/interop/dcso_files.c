/* SPDX-License-Identifier: MIT
 *
 * dcso_files.c - files of the real program `bloom` and of umbel, both ways, plain and gzipped
 *
 * dcso_files BLOOM [SEED]: BLOOM is the program; every case prints its parameters.
 */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "umbel_foreign.h"

enum { PATH_BYTES = 512, LINE_BYTES = 64, MAX_LINES = 2000 };

static const char *program;
static char folder[PATH_BYTES / 2];
static char lines[2 * MAX_LINES][LINE_BYTES];
static uint64_t random_state;
static unsigned long files_compared, answers_compared;

static uint64_t random_word(void) {
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void die(const char *what) {
    printf("not ok 1 - %s\n", what);
    exit(1);
}

static void path_of(const char *name, char path[PATH_BYTES]) {
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
}

/* Runs the program inside the folder; `arguments` may redirect. */
static void run(const char *arguments) {
    char command[2 * PATH_BYTES];
    snprintf(command, sizeof command, "cd '%s' && '%s' %s", folder, program, arguments);
    int status = system(command);
    if (status) {
        printf("# %s\n", command);
        die("the program fails");
    }
}

static unsigned char *contents(const char *name, size_t *len) {
    char path[PATH_BYTES];
    path_of(name, path);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) die("a file cannot be read");
    long size = ftell(f);
    rewind(f);
    *len = size > 0 ? (size_t)size : 0;
    unsigned char *bytes = malloc(*len + 1);
    if (!bytes || fread(bytes, 1, *len, f) != *len) die("a file cannot be read");
    bytes[*len] = 0;
    fclose(f);
    return bytes;
}

/* Lines of printable characters and high bytes, neither empty nor ended by \r, which the program
 * would strip. */
static void make_lines(size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t len = 1 + (size_t)(random_word() % (LINE_BYTES - 2));
        for (size_t j = 0; j < len; j++) {
            unsigned char c = (unsigned char)random_word();
            lines[i][j] = (char)(c < ' ' ? c + ' ' : c);
        }
        lines[i][len] = 0;
    }
}

static void write_lines(const char *name, size_t n) {
    char path[PATH_BYTES];
    path_of(name, path);
    FILE *f = fopen(path, "wb");
    if (!f) die("a file cannot be written");
    for (size_t i = 0; i < n; i++) fprintf(f, "%s\n", lines[i]);
    if (fclose(f)) die("a file cannot be written");
}

static umbel_filter *build(uint64_t keys, double fpr, size_t n) {
    umbel_foreign params = {.format = UMBEL_FMT_DCSO, .capacity = keys, .fpr = fpr};
    umbel_filter *f = NULL;
    if (umbel_create_foreign(&params, NULL, &f, NULL)) die("a filter is not made");
    for (size_t i = 0; i < n; i++) {
        if (umbel_add(f, lines[i], strlen(lines[i]), NULL, NULL)) die("a key is not added");
    }
    return f;
}

static void same(const umbel_filter *f, const char *name) {
    char ours[PATH_BYTES];
    path_of("ours.bloom", ours);
    if (umbel_file_save(f, UMBEL_FMT_DCSO, ours, NULL)) die("a filter is not saved");
    size_t ours_len, theirs_len;
    unsigned char *a = contents("ours.bloom", &ours_len), *b = contents(name, &theirs_len);
    if (ours_len != theirs_len || memcmp(a, b, ours_len) != 0) die("the files differ");
    free(a);
    free(b);
    files_compared++;
}

/* The program gives the same answers as we do for `asked` lines of our file. */
static void same_answers(const umbel_filter *f, const char *gzip, size_t asked) {
    char arguments[PATH_BYTES];
    write_lines("asked.txt", asked);
    snprintf(arguments, sizeof arguments, "%s check ours.bloom < asked.txt > found.txt", gzip);
    run(arguments);
    size_t len;
    char *found = (char *)contents("found.txt", &len), *at = found;
    for (size_t i = 0; i < asked; i++) {
        if (!umbel_contains(f, lines[i], strlen(lines[i]))) continue;
        size_t line = strlen(lines[i]);
        if (strncmp(at, lines[i], line) != 0 || at[line] != '\n') die("the answers differ");
        at += line + 1;
    }
    if (*at) die("the program finds more");
    free(found);
    answers_compared += asked;
}

static void one_case(int number) {
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 1e-6, 1e-12};
    double fpr = rates[random_word() % 6];
    uint64_t keys = 1 + random_word() % MAX_LINES;
    size_t n = (size_t)(random_word() % keys) + 1;
    printf("# case %d: n %" PRIu64 ", p %g, %zu keys\n", number, keys, fpr, n);
    make_lines(2 * n);
    write_lines("keys.txt", n);
    umbel_filter *f = build(keys, fpr, n), *read = NULL;
    char arguments[PATH_BYTES], path[PATH_BYTES];

    /* Theirs, plain: ours is the same file; theirs opens here; they answer from ours. */
    snprintf(arguments, sizeof arguments, "create -n %" PRIu64 " -p %.17g theirs.bloom", keys, fpr);
    run(arguments);
    run("insert theirs.bloom < keys.txt");
    if (number % 3 == 0) {
        run("set-data theirs.bloom < keys.txt");
        size_t len;
        unsigned char *data = contents("keys.txt", &len);
        if (umbel_set_data(f, data, len, NULL)) die("the data is not kept");
        free(data);
    }
    same(f, "theirs.bloom");
    same_answers(f, "", 2 * n);

    /* Theirs, gzipped, opens here; ours, gzipped by gzip, opens there. */
    run("--gzip create -n 10 -p 0.01 other.gz");
    if (number % 3) { /* set-data and insert on gzipped files take the same path */
        snprintf(arguments, sizeof arguments, "--gzip create -n %" PRIu64 " -p %.17g theirs.gz",
                 keys, fpr);
        run(arguments);
        run("--gzip insert theirs.gz < keys.txt");
        char command[2 * PATH_BYTES];
        snprintf(command, sizeof command,
                 "cd '%s' && \"$UMBEL\" convert -q -f --to dcso -o unpacked.bloom theirs.gz",
                 folder);
        if (system(command)) die("gzip is not read");
        path_of("unpacked.bloom", path);
        if (umbel_file_open(path, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_DCSO}, NULL,
                            &read, NULL))
            die("what was packed differs");
        same(read, "theirs.bloom");
        umbel_free(read);
        snprintf(command, sizeof command, "cd '%s' && gzip -c ours.bloom > z && mv z ours.bloom",
                 folder);
        if (system(command)) die("gzip fails");
        same_answers(f, "--gzip", 2 * n);
    }
    umbel_free(f);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    program = argv[1];
    random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    printf("# seed %" PRIu64 "\n", random_state);
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/umbel-dcso-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) die("no temporary folder");
    for (int i = 0; i < 40; i++) one_case(i);
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (system(command)) die("the temporary folder stays");
    printf("# %lu files equal, %lu answers compared\n", files_compared, answers_compared);
    printf("ok 1 - files and answers are those of DCSO's bloom\n1..1\n");
    return 0;
}
