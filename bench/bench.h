/* SPDX-License-Identifier: MIT
 *
 * bench.h - the parts of umbel-bench
 *
 * Candidates take turns, and each turn is timed in many short slices: the median of all slices
 * hardly notices other programs on the machine, and the least shows it when undisturbed.  One
 * thread is timed by its own CPU clock.  Still, only ratios within one run are meaningful.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sample.c: keys and time ---- */

/* n distinct random 64-bit keys; each `stream` has keys that are in no other stream. */
uint64_t *keys_new(size_t n, uint64_t stream);

/* Keys made of such numbers: the 8 bytes themselves, or, for len of 20 and more, URLs of that many
 * bytes.  *text, which the keys point into, and the keys are to be freed. */
umbel_key *keys_of(const uint64_t *numbers, size_t n, size_t len, char **text);
double now_ns(void);
double cpu_ns(void); /* of the calling thread */
double median(double *values, size_t n);

/* ---- floor.c: what memory speed allows ---- */

/* Memory for `lines`, every byte written, on huge pages from the size at which umbel's filters
 * are. */
uint8_t *lines_new(size_t bytes);

/* The prefetch ring of a lookup, with one byte of the line instead of the bit test: one random
 * cache line per key.  By key, the same hash is computed first.  by_four computes four addresses
 * per instruction, as umbel does, where the CPU has AVX2: the least that a lookup can take. */
uint64_t floor_by_hash(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n);
uint64_t floor_by_four(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n);
uint64_t floor_by_key(const uint8_t *lines, uint64_t nlines, const umbel_key *keys, size_t n);

/* A split-block lookup inlined into the loop and compiled for AVX2, as in a header-only library,
 * one key at a time; how many were found.  On other CPUs, plain C. */
uint64_t inlined_count(const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n);

/* ---- floor_avx2.c: both for CPUs that have it ---- */

extern const uint32_t block_salts[8]; /* of floor.c */
uint64_t floor_avx2(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n);
uint64_t inlined_avx2(const uint8_t *blocks, uint64_t nblocks, const uint64_t *hashes, size_t n);

/* ---- peers: other people's filters ---- */

typedef struct peer {
    const char *name;
    void *(*build)(const umbel_key *keys, size_t n, double bits_per_key);
    size_t (*count)(void *filter, const umbel_key *keys, size_t n);        /* how many are found */
    size_t (*count_singly)(void *filter, const umbel_key *keys, size_t n); /* NULL: count does it */
    void (*end)(void *filter);
    void (*add)(void *filter, const umbel_key *keys, size_t n); /* NULL: built in one go ... */
    void (*clear)(void *filter);                                /* ... and never cleared */
} peer;

extern const peer peer_leveldb, peer_libbloom;
#ifdef BENCH_BOOST
extern const peer peer_boost_blocked, peer_boost_classic;
#endif

/* ---- bench_life.c: making, measuring, sharing and growing filters ---- */

void bench_creation(void);
void bench_concurrent(size_t n);
void bench_growth(size_t n);

/* ---- plain_fuse.c: a binary fuse filter without shards ---- */

typedef struct plain_fuse plain_fuse;

/* From distinct numbers; NULL if it cannot be built.  count says how many are found, asking for one
 * after another; count_keys asks for the XXH3 of keys. */
plain_fuse *plain_fuse_new(const uint64_t *numbers, size_t n);
size_t plain_fuse_count(const plain_fuse *f, const uint64_t *numbers, size_t n);
size_t plain_fuse_count_keys(const plain_fuse *f, const umbel_key *keys, size_t n);
void plain_fuse_free(plain_fuse *f);

/* ---- report.c: the results, as a table or as JSON ---- */

/* One figure of one candidate at one number of keys; unit "ns" per key, or "%". */
void report_figure(const char *what, const char *who, size_t keys, double value, const char *unit);
/* report_figure for the median and the least of many times, in ns. */
void report_times(const char *what, const char *who, size_t keys, double middle, double least);
/* A ratio that the project sets as its target, and the one measured. */
void report_bar(const char *what, double seen, const char *relation, double bar);
void report_print(bool json);

#ifdef __cplusplus
}
#endif
#endif
