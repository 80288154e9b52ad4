/* SPDX-License-Identifier: MIT
 *
 * replay.c FILE... - a fuzz target without a fuzzer: every input once, and thousands of changes of
 * it that follow from a fixed seed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "use_table.h"

enum { MOST = 1 << 20, CHANGES = 400 };

static uint64_t random_state = 1;

static uint64_t next_random(void) {
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void run(const uint8_t *bytes, size_t len) {
    uint8_t *exact = malloc(len ? len : 1);
    if (!exact) abort();
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
    run(changed, next_random() % 8 || !len ? len : next_random() % len);
}

int main(int argc, char **argv) {
    uint8_t *bytes = malloc(MOST), *changed = malloc(MOST);
    if (!bytes || !changed) return 1;
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            printf("not ok %d - %s cannot be read\n", i, argv[i]);
            return 1;
        }
        size_t len = fread(bytes, 1, MOST, f);
        fclose(f);
        run(bytes, len);
        for (unsigned round = 0; round < CHANGES; round++) run_changed(bytes, len, changed);
        printf("ok %d - %s\n", i, strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i]);
    }
    printf("1..%d\n", argc - 1);
    free(bytes);
    free(changed);
    return argc > 1 ? 0 : 1;
}
