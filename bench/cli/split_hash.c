/* SPDX-License-Identifier: MIT
 *
 * split_hash.c - the minimum that `umbel build` must do: read a file, find its lines, hash them
 *
 * Prints seconds of CPU time: reading and processing in blocks (which the command's time is
 * compared with), and the same with the file already in memory.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lines/split.h"

enum { BLOCK = 256 << 10 };

static volatile uint64_t sink;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Lines that span two blocks are hashed in two pieces: the work is the same. */
static void work(const uint8_t *text, size_t len, uint32_t *ends) {
    size_t n = cli_split_best()(text, len, '\n', ends), start = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += XXH3_64bits_withSeed(text + start, ends[i] - start, 7);
        start = ends[i] + 1;
    }
    sink += sum;
}

int main(int argc, char **argv) {
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return 2;
    size_t size = (size_t)st.st_size;
    uint32_t *ends = malloc((BLOCK + CLI_SPLIT_SLACK) * sizeof *ends);
    uint8_t *block = aligned_alloc(4096, BLOCK), *all = malloc(size);
    if (!ends || !block || !all) return 2;
    double begin = now();
    ssize_t n;
    while ((n = read(fd, block, BLOCK)) > 0) work(block, (size_t)n, ends);
    double reading = now() - begin;
    for (size_t at = 0; at < size && (n = pread(fd, all + at, size - at, (off_t)at)) > 0;) {
        at += (size_t)n;
    }
    begin = now();
    for (size_t at = 0; at < size; at += BLOCK) {
        work(all + at, size - at < BLOCK ? size - at : BLOCK, ends);
    }
    printf("%.4f %.4f\n", reading, now() - begin);
    return 0;
}
