/* SPDX-License-Identifier: MIT
 *
 * headroom.c - what Linux says it could give without swapping
 */
#include "headroom.h"

#include <stdint.h>
#include <stdio.h>

static bool available(uint64_t *bytes) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kib = 0;
    bool found = false;
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
    fclose(file);
    *bytes = (uint64_t)kib * 1024;
    return found;
}

bool bf_headroom(size_t bytes) {
    uint64_t there = 0;
    if (!available(&there)) return true;
    return bytes <= there - there / 8; /* others live here, too */
}
