/* SPDX-License-Identifier: MIT
 *
 * replay.c CHANGES FILE... - a fuzz target without a fuzzer: every input once, and CHANGES
 * mutations of it derived from a fixed seed.  A FILE called *.pack holds many inputs, as pack.py
 * describes; any other is one input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

enum { MOST = 1 << 20, LONGEST_NAME = 100 };

static uint64_t random_state = 1;
static unsigned long changes, inputs;

static uint64_t next_random(void) {
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void run(const uint8_t *bytes, size_t len) {
    uint8_t *exact = some_bytes(len);
    if (len) memcpy(exact, bytes, len);
    LLVMFuzzerTestOneInput(exact, len);
    free(exact);
}

/* Different bytes in a few places, or a missing end. */
static void run_changed(const uint8_t *bytes, size_t len, uint8_t *changed) {
    memcpy(changed, bytes, len);
    for (uint64_t i = next_random() % 6; len && i < 6; i++) {
        /* The ends of files are where their structure is. */
        size_t reach = next_random() % 2 && len > 200 ? 200 : len;
        changed[len - 1 - next_random() % reach] = (uint8_t)next_random();
    }
    run(changed, next_random() % 8 || !len ? len : (size_t)(next_random() % len));
}

/* The next len bytes of f, as one input. */
static bool replay(FILE *f, size_t len, const char *file, const char *name) {
    uint8_t *bytes = some_bytes(len), *changed = some_bytes(len);
    bool whole = fread(bytes, 1, len, f) == len;
    if (whole) {
        /* If it aborts, this is the last line. */
        printf("# %s %s\n", file, name);
        fflush(stdout);
        run(bytes, len);
        for (unsigned long round = 0; round < changes; round++) run_changed(bytes, len, changed);
        inputs++;
    }
    free(bytes);
    free(changed);
    return whole;
}

/* Every input of a pack, and exactly as many as it says. */
static bool replay_pack(FILE *f, const char *file) {
    unsigned long count = 0;
    if (fscanf(f, "inputs %lu", &count) != 1 || fgetc(f) != '\n') return false;
    for (unsigned long i = 0; i < count; i++) {
        char name[LONGEST_NAME + 1];
        size_t len = 0;
        if (fscanf(f, "%100s %zu", name, &len) != 2 || fgetc(f) != '\n' || len > MOST) return false;
        if (!replay(f, len, file, name) || fgetc(f) != '\n') return false;
    }
    return fgetc(f) == EOF;
}

static bool replay_file(const char *file) {
    FILE *f = fopen(file, "rb");
    if (!f) return false;
    const char *dot = strrchr(file, '.');
    bool ok;
    if (dot && strcmp(dot, ".pack") == 0) {
        ok = replay_pack(f, file);
    } else {
        long len = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
        rewind(f);
        ok = len >= 0 && len <= MOST && replay(f, (size_t)len, file, "");
    }
    fclose(f);
    return ok;
}

int main(int argc, char **argv) {
    changes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    for (int i = 2; i < argc; i++) {
        if (!replay_file(argv[i])) {
            printf("not ok 1 - %s is missing or damaged\n1..1\n", argv[i]);
            return 1;
        }
    }
    printf("%s 1 - %lu inputs, and %lu changes of each\n1..1\n", inputs ? "ok" : "not ok", inputs,
           changes);
    return inputs ? 0 : 1;
}
