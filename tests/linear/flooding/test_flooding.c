/* SPDX-License-Identifier: MIT
 *
 * test_flooding.c - lines whose hashes were chosen cost the command what any others do
 *
 * Whoever writes the lines knows the hash, and so which of them would share a place in a table.
 * The command is compiled so that it counts its own steps (counted_steps.h), and gets as many such
 * lines as plain ones.
 */
#define _POSIX_C_SOURCE 200809L
#include "cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "xxh3_inverse.h"

enum { LINES = 50000, LEN = 8, TIMES = 3 };

static const char *umbel;
static char folder[] = "/tmp/umbel-flooding-XXXXXX";

static bool fits_a_line(const uint8_t *key) {
    return !memchr(key, '\n', LEN) && !memchr(key, '\r', LEN) && !memchr(key, 0, LEN);
}

static FILE *create(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    return to;
}

/* Lines whose hashes under seed 0 are `like`, but for the bits of `free`, one run of bits, which
 * are spread evenly: if that is all of them, the lines are plain. */
static void write_lines(FILE *to, uint64_t like, uint64_t free, unsigned lines) {
    uint64_t spread = 0;
    for (unsigned n = 0; n < lines;) {
        uint8_t key[LEN];
        spread += UINT64_C(0x9e3779b97f4a7c15) << __builtin_ctzll(free);
        assert_true(xxh3_inverse(like | (spread & free), 0, LEN, key));
        if (!fits_a_line(key)) continue;
        fwrite(key, 1, LEN, to);
        fputc('\n', to);
        n++;
    }
}

static void write_file(const char *name, uint64_t like, uint64_t free) {
    FILE *to = create(name);
    write_lines(to, like, free, LINES);
    fclose(to);
}

/* Tables go by the lower bits of a hash or by the upper ones. */
static int write_files(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    write_file("plain", 0, UINT64_MAX);
    write_file("base", 0, ~UINT64_C(1)); /* plain as well, and no line of the other */
    write_file("lower", 5, ~UINT64_C(0xffffff));
    write_file("upper", UINT64_C(0x1234567890) << 24, 0xffffff);
    FILE *to = create("few");
    write_lines(to, UINT64_C(0x1234567890) << 24, 0xffffff, 100);
    write_lines(to, 0, UINT64_MAX, LINES - 100);
    fclose(to);
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* The exit status of a command line in which "umbel" is the command, and FILE one of the files. */
static int run(const char *line, const char *file) {
    char command[1024];
    snprintf(command, sizeof command,
             "cd %s && export UMBEL_STEPS=steps FILE=%s && umbel() { '%s' \"$@\"; } && "
             "{ %s; } >out 2>err",
             folder, file, umbel, line);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the last umbel in it took; its status is 0, or 3 for a warning. */
static uint64_t steps_of(const char *line, const char *file) {
    int status = run(line, file);
    if (status != 0 && status != 3) fail_msg("%s, %s: %d", line, file, status);
    char path[128];
    uint64_t steps = 0;
    snprintf(path, sizeof path, "%s/steps", folder);
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    assert_int_equal(fscanf(from, "%" SCNu64, &steps), 1);
    fclose(from);
    return steps;
}

static void same_work(const char *line) {
    static const char *const chosen[] = {"lower", "upper", "few"};
    uint64_t plain = steps_of(line, "plain");
    assert_true(plain > LINES); /* it is counted */
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        uint64_t steps = steps_of(line, chosen[i]);
        print_message("# %-60s %s: %.2f\n", line, chosen[i], (double)steps / (double)plain);
        if (steps > TIMES * plain) {
            fail_msg("%s: %" PRIu64 " steps, not %" PRIu64, line, steps, plain);
        }
    }
}

static void test_counts(void **state) {
    (void)state;
    same_work("umbel uniq -c $FILE");
    same_work("umbel uniq --top 10 $FILE");
    same_work("umbel count $FILE");
}

static void test_exact(void **state) {
    (void)state;
    same_work("umbel diff --exact $FILE $FILE || [ $? -eq 1 ]");
    same_work("umbel build -q -f -o f.umb $FILE; umbel check --verify-with $FILE f.umb $FILE");
}

static void test_good_keys(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        static const char *const kinds[] = {"auto", "blocked", "classic"};
        char line[128];
        snprintf(line, sizeof line,
                 "umbel build -f --kind %s -n 50000 -o f.umb --never $FILE $FILE", kinds[i]);
        same_work(line);
    }
    same_work("umbel build -f -n 50000 -o f.umb --never plain $FILE");
    same_work("umbel build -f -n 50000 -p 50% -o f.umb --never $FILE plain");
}

static void test_built_once(void **state) {
    (void)state;
    same_work("umbel build -f --kind static -o f.umb $FILE");
    same_work("umbel build -f --kind tight -o f.umb $FILE");
    same_work("umbel build -f --universe $FILE -o f.umb plain");
    same_work("umbel build -f --universe plain -o f.umb $FILE");
}

/* What came or left was chosen by whoever wrote the list. */
static void test_updates(void **state) {
    (void)state;
    same_work("umbel build -q -f -o f.umb base; umbel delta -f --from f.umb -o d.umd base $FILE");
    same_work("umbel build -q -f -o f.umb $FILE; umbel delta -f --from f.umb -o d.umd $FILE base");
    same_work("umbel build -q -f -o f.umb base; umbel delta -q -f --from f.umb -o d.umd base $FILE;"
              "rm -f *.deltas; umbel apply -q f.umb d.umd; umbel check -c f.umb $FILE");
}

/* What the command does about keys that fit no table, or says where it cannot do it. */
static void test_another_seed(void **state) {
    (void)state;
    static const char *const seeded =
        "umbel build --kind static -f -o f.umb --never $FILE $FILE && "
        "grep -q 'once more, with seed' err && "
        "umbel check -c f.umb $FILE && grep -qx 50000 out";
    assert_int_equal(run(seeded, "few"), 0);
    static const char *const refused[] = {
        "umbel build --kind static -f -o f.umb --seed 0 $FILE || grep -q 'another --seed' err",
        "cat $FILE | umbel build --kind static -f -o f.umb || grep -q 'read again' err"};
    for (size_t i = 0; i < 2; i++) assert_int_equal(run(refused[i], "few"), 0);
    assert_int_equal(run("cat $FILE | umbel build --kind static -f -o f.umb", "few"), 2);
    assert_int_equal(run("cat $FILE | umbel build --kind static -f -o f.umb --seed 77", "few"), 0);
}

static void test_growing(void **state) {
    (void)state;
    same_work("cat $FILE | umbel build -f -o f.umb");
    same_work("umbel build -f --kind scalable -n 1000 -o f.umb $FILE");
    same_work("umbel uniq $FILE");
    same_work("umbel uniq --kind scalable -n 1000 $FILE");
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    umbel = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_exact),
        cmocka_unit_test(test_good_keys), cmocka_unit_test(test_built_once),
        cmocka_unit_test(test_updates),   cmocka_unit_test(test_another_seed),
        cmocka_unit_test(test_growing),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
