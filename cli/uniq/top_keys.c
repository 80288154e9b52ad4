/* SPDX-License-Identifier: MIT */
#include "uniq/top_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "umbel_text.h"

static void take(cli_top_keys *t, uint64_t bytes) {
    char limit[UMBEL_QUANTITY];
    t->bytes += bytes;
    if (!t->limit || t->bytes <= t->limit) return;
    cli_die("--top", "--max-memory SIZE raises the limit",
            "its counters, each with a line, need more than %s", umbel_size_text(t->limit, limit));
}

cli_top_keys cli_top_keys_new(uint32_t counters, uint64_t limit) {
    uint32_t buckets = 1;
    while (buckets < counters) buckets *= 2;
    cli_top_keys t = {.limit = limit};
    take(&t, (uint64_t)counters * (sizeof *t.keys + sizeof *t.heap) + buckets * sizeof *t.buckets);
    t = (cli_top_keys){.keys = cli_alloc(counters * sizeof *t.keys),
                       .heap = cli_alloc(counters * sizeof *t.heap),
                       .buckets = cli_alloc(buckets * sizeof *t.buckets),
                       .room = counters,
                       .mask = buckets - 1,
                       .bytes = t.bytes,
                       .limit = limit};
    memset(t.buckets, 0, buckets * sizeof *t.buckets);
    return t;
}

static void put(cli_top_keys *t, uint32_t at, uint32_t key) {
    t->heap[at] = key;
    t->keys[key].at = at;
}

/* A count has grown. */
static void sink(cli_top_keys *t, uint32_t key) {
    uint32_t at = t->keys[key].at, child;
    uint64_t count = t->keys[key].count;
    while ((child = 2 * at + 1) < t->used) {
        if (child + 1 < t->used &&
            t->keys[t->heap[child + 1]].count < t->keys[t->heap[child]].count) {
            child++;
        }
        if (t->keys[t->heap[child]].count >= count) break;
        put(t, at, t->heap[child]);
        at = child;
    }
    put(t, at, key);
}

static void unlink_key(cli_top_keys *t, uint32_t key) {
    uint32_t *link = &t->buckets[t->keys[key].hash & t->mask];
    while (*link != key + 1) link = &t->keys[*link - 1].next;
    *link = t->keys[key].next;
}

/* A new counter, whose count is the smallest and so rises to the top, or the smallest there is. */
static uint32_t counter_for_new(cli_top_keys *t) {
    if (t->used == t->room) {
        unlink_key(t, t->heap[0]);
        return t->heap[0];
    }
    uint32_t key = t->used++, at = key;
    t->keys[key] = (cli_top_key){0};
    for (; at && t->keys[t->heap[(at - 1) / 2]].count; at = (at - 1) / 2) {
        put(t, at, t->heap[(at - 1) / 2]);
    }
    put(t, at, key);
    return key;
}

void cli_top_keys_count(cli_top_keys *t, uint64_t hash, const void *line, size_t len) {
    uint32_t *bucket = &t->buckets[hash & t->mask], i = *bucket;
    while (i && t->keys[i - 1].hash != hash) i = t->keys[i - 1].next;
    if (!i) {
        uint32_t key = counter_for_new(t);
        cli_top_key *k = &t->keys[key];
        k->excess = k->count;
        k->hash = hash;
        k->order = t->arrived++;
        if (k->room < len) {
            take(t, len + len / 2 - k->room);
            k->room = len + len / 2;
            k->line = cli_realloc(k->line, k->room);
        }
        if (len) memcpy(k->line, line, len);
        k->len = len;
        k->next = *bucket;
        *bucket = i = key + 1;
    }
    t->keys[i - 1].count++;
    sink(t, i - 1);
}

static int by_count(const void *a, const void *b) {
    const cli_top_key *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

void cli_top_keys_sort(cli_top_keys *t) {
    qsort(t->keys, t->used, sizeof *t->keys, by_count);
}

void cli_top_keys_free(cli_top_keys *t) {
    for (uint32_t i = 0; i < t->used; i++) free(t->keys[i].line);
    free(t->keys), free(t->heap), free(t->buckets);
}
