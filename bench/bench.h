/* SPDX-License-Identifier: MIT
 *
 * bench.h - the parts of umbel-bench
 *
 * Every figure is the median of several repetitions, and candidates take turns within each
 * repetition: on a shared machine only ratios within one run are meaningful.
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
double now_ns(void);
double median(double *values, size_t n);

/* ---- floor.c: what memory speed allows ---- */

/* The prefetch ring of a lookup, with one byte of the line instead of the bit test: one random
 * cache line per key.  By key, the same hash is computed first. */
uint64_t floor_by_hash(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n);
uint64_t floor_by_key(const uint8_t *lines, uint64_t nlines, const umbel_key *keys, size_t n);

/* ---- peers: other people's filters over 8-byte keys ---- */

typedef struct peer {
    const char *name;
    void *(*build)(const uint64_t *keys, size_t n, double bits_per_key);
    size_t (*count)(void *filter, const uint64_t *keys, size_t n); /* how many are found */
    void (*end)(void *filter);
} peer;

extern const peer peer_leveldb, peer_libbloom;

/* ---- plain_fuse.c: a binary fuse filter without shards ---- */

typedef struct plain_fuse plain_fuse;

/* From distinct keys; NULL if it cannot be built.  count says how many are found, asking for one
 * after another. */
plain_fuse *plain_fuse_new(const uint64_t *keys, size_t n);
size_t plain_fuse_count(const plain_fuse *f, const uint64_t *keys, size_t n);
void plain_fuse_free(plain_fuse *f);

/* ---- report.c: the results, as a table or as JSON ---- */

/* One figure of one candidate at one number of keys; unit "ns" per key, or "%". */
void report_figure(const char *what, const char *who, size_t keys, double value, const char *unit);
/* A ratio that the project sets as its target, and the one measured. */
void report_bar(const char *what, double seen, const char *relation, double bar);
void report_print(bool json);

#ifdef __cplusplus
}
#endif
#endif
