/* SPDX-License-Identifier: MIT
 *
 * by_hand_avx2.c - build, check and uniq of lines in one loop, as someone would write it for one purpose
 *
 *   by_hand build FILTER FILE     bits of a blocked filter with 10.5 bits per line, written
 *   by_hand check FILTER FILE     prints the lines that are in it
 *   by_hand uniq FILTER FILE      prints the lines that are new; FILTER is not used
 *
 * One kind, one size, no options, no checks: what `umbel` is compared with by bench/cli/turns.py.
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/cpu.h"
#include "lines/split.h"

enum { BLOCK = 256 << 10, AHEAD = 64 };

static uint64_t nblocks;
static __m256i *filter;
static char mode;

static __m256i mask_of(uint32_t hash) {
    const __m256i salts =
        _mm256_setr_epi32(0x47b6137b, 0x44974d91, (int)0x8824ad5b, (int)0xa2b7289d, 0x705495c7,
                          0x2df1424b, (int)0x9efc4947, 0x5c6bfb31);
    __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)hash), salts);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
}

/* Is it in the filter?  build and uniq add it. */
static bool use(uint64_t hash) {
    __m256i *block = filter + ((hash >> 32) * nblocks >> 32), mask = mask_of((uint32_t)hash);
    if (mode != 'b' && _mm256_testc_si256(*block, mask)) return true;
    if (mode != 'c') *block = _mm256_or_si256(*block, mask);
    return false;
}

static void lines(const uint8_t *text, const uint32_t *ends, size_t n, uint64_t *hashes) {
    static uint8_t output[BLOCK];
    const bool is_far = umbeli_is_far(32 * nblocks);
    size_t start = 0, out = 0;
    for (size_t i = 0; i < n + AHEAD; i++) {
        if (i < n) {
            hashes[i] = XXH3_64bits_withSeed(text + start, ends[i] - start, 7);
            umbeli_fetch(filter + ((hashes[i] >> 32) * nblocks >> 32), is_far);
            start = ends[i] + 1;
        }
        if (i < AHEAD || i - AHEAD >= n) continue;
        size_t line = i - AHEAD, from = line ? ends[line - 1] + 1 : 0;
        if (use(hashes[line]) != (mode == 'c') || mode == 'b') continue;
        memcpy(output + out, text + from, ends[line] + 1 - from);
        out += ends[line] + 1 - from;
    }
    if (out && write(1, output, out) != (ssize_t)out) exit(2);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    mode = argv[1][0];
    int fd = open(argv[3], O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return 2;
    uint32_t *ends = malloc((BLOCK + CLI_SPLIT_SLACK) * sizeof *ends);
    uint64_t *hashes = malloc(BLOCK * sizeof *hashes);
    uint8_t *text = aligned_alloc(4096, BLOCK);
    if (!ends || !hashes || !text) return 2;
    nblocks = (uint64_t)st.st_size / 58 * 21 / 512;
    size_t size = nblocks * sizeof *filter, kept = 0;
    int from = mode == 'c' ? open(argv[2], O_RDONLY) : -1;
    filter = mmap(NULL, size, mode == 'c' ? PROT_READ : PROT_READ | PROT_WRITE,
                  mode == 'c' ? MAP_PRIVATE | MAP_POPULATE : MAP_PRIVATE | MAP_ANONYMOUS, from, 0);
    if (filter == MAP_FAILED) return 2;
    if (mode != 'c') madvise(filter, size, MADV_HUGEPAGE);
    ssize_t got;
    while ((got = read(fd, text + kept, BLOCK - kept)) > 0) {
        size_t len = kept + (size_t)got, n = cli_split_best()(text, len, '\n', ends);
        lines(text, ends, n, hashes);
        size_t used = n ? ends[n - 1] + 1 : 0;
        kept = len - used;
        memmove(text, text + used, kept);
    }
    if (mode != 'b') return 0;
    int to = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    return to < 0 || write(to, filter, size) != (ssize_t)size || fsync(to) ? 2 : 0;
}
