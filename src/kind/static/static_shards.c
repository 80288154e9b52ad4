/* SPDX-License-Identifier: MIT
 *
 * static_shards.c - from hashes in any order, with duplicates, to sorted shards
 *
 * Hashes are collected in 256 buckets.  Each bucket is sorted and deduplicated; then each shard,
 * part of a bucket or several buckets, is processed on its own.  Buckets and groups of shards are
 * handed out to threads one at a time and share nothing, so the result does not depend on the
 * threads.
 *
 * Memory: 8 bytes per hash (none with a temporary file), and for each thread two buckets, or one
 * group.
 */
#include "kind/static/static_shards.h"

#include <stdatomic.h>

#include "core/diag.h"
#include "core/parallel.h"
#include "plan/static_layout.h"

enum { THREADS_MAX = UMBELI_SHARDS_MAX_THREADS };

/* State shared by the threads of one step. */
typedef struct step {
    const umbeli_shards *s;
    uint32_t shard_bits;
    umbeli_shard_work *work; /* NULL while sorting buckets */
    void *ctx;
    _Atomic uint32_t next; /* bucket, or group of buckets that holds whole shards */
    uint64_t *buffers[THREADS_MAX], *scratch[THREADS_MAX];
    umbel_err errors[THREADS_MAX];
    umbel_diag diags[THREADS_MAX];
} step;

umbel_err umbeli_shards_begin(umbeli_shards *s, const char *directory,
                              const umbeli_settings *settings, umbel_diag *diag) {
    *s = (umbeli_shards){.settings = *settings};
    if (s->settings.threads > THREADS_MAX) s->settings.threads = THREADS_MAX;
    return umbeli_store_new(directory, settings, &s->store, diag);
}

void umbeli_shards_end(umbeli_shards *s) {
    umbeli_store_delete(s->store);
    if (s->parts) umbeli_delete(&s->settings, s->parts);
    *s = (umbeli_shards){0};
}

/* ---- steps -------------------------------------------------------------------------------- */

static void step_delete(step *s) {
    const umbeli_settings *settings = &s->s->settings;
    for (uint32_t t = 0; t < settings->threads; t++) {
        umbeli_delete(settings, s->buffers[t]);
        umbeli_delete(settings, s->scratch[t]);
    }
}

/* A buffer for every thread, and a second one for sorting. */
static umbel_err step_new(step *s, uint64_t room, umbel_diag *diag) {
    const umbeli_settings *settings = &s->s->settings;
    size_t len = (size_t)(room + 1) * sizeof(uint64_t);
    for (uint32_t t = 0; t < settings->threads; t++) {
        s->buffers[t] = umbeli_new(settings, len);
        if (s->buffers[t] && !s->work) s->scratch[t] = umbeli_new(settings, len);
        if (s->buffers[t] && (s->work || s->scratch[t])) continue;
        step_delete(s);
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory to build in");
    }
    return UMBEL_OK;
}

/* Runs the step and cleans up; returns the error of the first thread that has one. */
static umbel_err step_run(step *s, void (*work)(void *, uint32_t), umbel_diag *diag) {
    umbeli_parallel(s->s->settings.threads, work, s);
    step_delete(s);
    for (uint32_t t = 0; t < s->s->settings.threads; t++) {
        if (!s->errors[t]) continue;
        if (diag) *diag = s->diags[t];
        return s->errors[t];
    }
    return UMBEL_OK;
}

/* ---- sorting ------------------------------------------------------------------------------ */

/* The number of hashes below this one, among n sorted ones. */
static size_t below(const uint64_t *hashes, size_t n, uint64_t hash) {
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (hashes[middle] < hash) {
            low = middle + 1;
        } else {
            n = middle;
        }
    }
    return low;
}

/* Of n sorted hashes, none below this part: how many begin with its bits. */
static size_t in_part(const uint64_t *hashes, size_t n, uint64_t part, uint32_t bits) {
    uint64_t after = part + 1;
    return after >> bits ? n : below(hashes, n, after << (64 - bits));
}

static void count_parts(const umbeli_shards *s, uint32_t bucket, const uint64_t *hashes, size_t n) {
    uint32_t each = 1u << (s->part_bits - UMBELI_STORE_BITS);
    for (uint32_t i = 0; i < each; i++) {
        uint64_t part = (uint64_t)bucket * each + i;
        size_t count = in_part(hashes, n, part, s->part_bits);
        s->parts[part] = (uint32_t)count;
        hashes += count;
        n -= count;
    }
}

static void sort_buckets(void *ctx, uint32_t t) {
    step *s = ctx;
    umbeli_store *store = s->s->store;
    while (!s->errors[t]) {
        uint32_t bucket = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (bucket >= UMBELI_STORE_BUCKETS) return;
        uint64_t *hashes = s->buffers[t], n = umbeli_store_count(store, bucket);
        s->errors[t] = umbeli_store_load(store, bucket, hashes, &s->diags[t]);
        if (s->errors[t]) return;
        n = umbeli_static_sort(hashes, s->scratch[t], (size_t)n);
        count_parts(s->s, bucket, hashes, (size_t)n);
        s->errors[t] = umbeli_store_replace(store, bucket, hashes, n, &s->diags[t]);
    }
}

/* The number of hashes in the fullest group of buckets. */
static uint64_t fullest_group(const umbeli_store *store, uint32_t len) {
    uint64_t max = 0;
    for (uint32_t first = 0; first < UMBELI_STORE_BUCKETS; first += len) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < len; i++) n += umbeli_store_count(store, first + i);
        max = n > max ? n : max;
    }
    return max;
}

umbel_err umbeli_shards_sort(umbeli_shards *s, umbel_diag *diag) {
    uint32_t bits = umbeli_static_shard_bits(umbeli_shards_count(s));
    s->part_bits = bits > UMBELI_STORE_BITS ? bits : UMBELI_STORE_BITS;
    umbeli_delete(&s->settings, s->parts);
    s->parts = umbeli_new(&s->settings, ((size_t)1 << s->part_bits) * sizeof *s->parts);
    if (!s->parts) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory to build in");
    step sorting = {.s = s};
    umbel_err e = step_new(&sorting, fullest_group(s->store, 1), diag);
    return e ? e : step_run(&sorting, sort_buckets, diag);
}

uint64_t umbeli_shards_count(const umbeli_shards *s) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < UMBELI_STORE_BUCKETS; i++) n += umbeli_store_count(s->store, i);
    return n;
}

uint64_t umbeli_shards_fullest(const umbeli_shards *s, uint32_t shard_bits) {
    size_t each = (size_t)1 << (s->part_bits - shard_bits), parts = (size_t)1 << s->part_bits;
    uint64_t max = 0;
    for (size_t first = 0; first < parts; first += each) {
        uint64_t n = 0;
        for (size_t i = 0; i < each; i++) n += s->parts[first + i];
        max = n > max ? n : max;
    }
    return max;
}

/* ---- shards ------------------------------------------------------------------------------- */

/* Buckets are taken in groups: a single one if it holds several shards, or as many as make one
 * shard. */
static uint32_t group_len(uint32_t shard_bits) {
    return shard_bits >= UMBELI_STORE_BITS ? 1u : 1u << (UMBELI_STORE_BITS - shard_bits);
}

static umbel_err load_group(const step *s, uint32_t group, uint64_t *hashes, uint64_t *n,
                            umbel_diag *diag) {
    uint32_t len = group_len(s->shard_bits);
    umbel_err e = UMBEL_OK;
    *n = 0;
    for (uint32_t i = 0; i < len && !e; i++) {
        e = umbeli_store_load(s->s->store, group * len + i, hashes + *n, diag);
        *n += umbeli_store_count(s->s->store, group * len + i);
    }
    return e;
}

static umbel_err do_shards(step *s, uint32_t t, uint64_t n, uint64_t first, uint64_t count) {
    uint64_t *hashes = s->buffers[t];
    umbel_err e = UMBEL_OK;
    for (uint64_t shard = first; shard < first + count && !e; shard++) {
        size_t own = in_part(hashes, (size_t)n, shard, s->shard_bits);
        e = s->work(s->ctx, t, shard, hashes, own, &s->diags[t]);
        hashes += own;
        n -= own;
    }
    return e;
}

static void do_groups(void *ctx, uint32_t t) {
    step *s = ctx;
    uint32_t groups = UMBELI_STORE_BUCKETS / group_len(s->shard_bits);
    uint64_t each = (UINT64_C(1) << s->shard_bits) / groups; /* at least 1 */
    while (!s->errors[t]) {
        uint32_t group = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (group >= groups) return;
        uint64_t n;
        s->errors[t] = load_group(s, group, s->buffers[t], &n, &s->diags[t]);
        if (!s->errors[t]) s->errors[t] = do_shards(s, t, n, group * each, each);
    }
}

umbel_err umbeli_shards_each(const umbeli_shards *shards, uint32_t shard_bits,
                             umbeli_shard_work *work, void *ctx, umbel_diag *diag) {
    step s = {.s = shards, .shard_bits = shard_bits, .work = work, .ctx = ctx};
    umbel_err e = step_new(&s, fullest_group(shards->store, group_len(shard_bits)), diag);
    return e ? e : step_run(&s, do_groups, diag);
}
