/* SPDX-License-Identifier: MIT
 *
 * replay.c CHANGES FILE... - a fuzz target without a fuzzer: every input once, and so many changes
 * of it that follow from a fixed seed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

enum { MOST = 1 << 20 };

static uint64_t random_state = 1;

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

/* Other bytes in a few places, or an end that is missing. */
static void run_changed(const uint8_t *bytes, size_t len, uint8_t *changed) {
    memcpy(changed, bytes, len);
    for (uint64_t i = next_random() % 6; len && i < 6; i++) {
        /* Ends of files are where their structure is. */
        size_t reach = next_random() % 2 && len > 200 ? 200 : len;
        changed[len - 1 - next_random() % reach] = (uint8_t)next_random();
    }
    run(changed, next_random() % 8 || !len ? len : (size_t)(next_random() % len));
}

int main(int argc, char **argv) {
    uint8_t *bytes = some_bytes(MOST), *changed = some_bytes(MOST);
    unsigned long changes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    for (int i = 2; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            printf("not ok 1 - %s cannot be read\n", argv[i]);
            return 1;
        }
        size_t len = fread(bytes, 1, MOST, f);
        fclose(f);
        /* If it ends the program, this is the last line. */
        printf("# %s\n", argv[i]);
        fflush(stdout);
        run(bytes, len);
        for (unsigned long round = 0; round < changes; round++) run_changed(bytes, len, changed);
    }
    bool any = argc > 2;
    printf("%s 1 - %d inputs, and %lu changes of each\n1..1\n", any ? "ok" : "not ok", argc - 2,
           changes);
    free(bytes);
    free(changed);
    return any ? 0 : 1;
}
