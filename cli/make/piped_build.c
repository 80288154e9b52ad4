/* SPDX-License-Identifier: MIT */
#include "make/piped_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/filter_file.h"
#include "umbel_plan.h"
#include "uniq/distinct_sketch.h"
#include "uniq/key_counts.h"

typedef struct piped_build {
    const cli_settings *s;
    cli_filter_params params;
    const char *name; /* of the pipe */
    uint8_t *text;    /* the keys, one after the other */
    size_t text_len, text_room;
    umbel_key *keys; /* only their lengths before all are known */
    size_t count, room;
    uint64_t *hashes; /* of all keys, when they are too many to be kept themselves */
    size_t nhashes;
    umbel_filter *growing, *hasher; /* hasher: hashes as the filter will, before there is one */
    cli_add_job adding;
} piped_build;

/* Keys with their text, or hashes, take less than the 64 MiB that a command may use besides its
 * filter, even while they are being enlarged. */
enum { MAX_KEPT = 1000000, MAX_KEPT_TEXT = 16 << 20, MAX_HASHES = 6000000 };

static void keep(piped_build *g, const cli_batch *b, size_t len) {
    if (g->text_len + len > g->text_room) {
        g->text_room = 2 * (g->text_len + len);
        g->text = cli_realloc(g->text, g->text_room);
    }
    if (g->count + b->lines > g->room) {
        g->room = 2 * (g->count + b->lines);
        g->keys = cli_realloc(g->keys, g->room * sizeof *g->keys);
    }
    for (size_t i = 0; i < b->lines; i++) {
        size_t n = b->keys[i].len;
        if (n) memcpy(g->text + g->text_len, b->keys[i].data, n);
        g->text_len += n;
        g->keys[g->count++].len = n;
    }
}

static void point_to_text(piped_build *g) {
    size_t at = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->keys[i].data = g->text + at;
        at += g->keys[i].len;
    }
}

/* Makes the filter and adds what was kept. */
static umbel_filter *create_kept(piped_build *g) {
    umbel_filter *f = cli_filter_create(&g->params, g->s);
    g->adding = cli_add_job_new(f, g->s->output, g->s);
    if (!g->hashes) point_to_text(g);
    umbel_err e = g->hashes ? umbel_add_hashes(f, g->hashes, g->nhashes, NULL, NULL, NULL)
                            : umbel_add_many(f, g->keys, g->count, NULL, NULL, NULL);
    cli_add_job_check_error(&g->adding, e);
    return f;
}

static void forget_kept(piped_build *g) {
    free(g->keys), free(g->text), free(g->hashes);
    g->keys = NULL, g->text = NULL, g->hashes = NULL;
}

static uint64_t distinct_kept(const piped_build *g) {
    cli_key_counts seen = {0};
    umbel_filter *hasher = cli_table_hasher_new(g->s);
    size_t at = 0;
    for (size_t i = 0; i < g->count; i++) {
        uint64_t hash;
        umbel_key key = {g->text + at, g->keys[i].len};
        (void)umbel_hash_many(hasher, &key, 1, &hash, NULL); /* it takes hashes */
        cli_key_counts_add(&seen, &hash, 1);
        at += g->keys[i].len;
    }
    uint64_t keys = seen.keys ? seen.keys : 1;
    cli_key_counts_free(&seen);
    umbel_free(hasher);
    return keys;
}

/* Can the filter for this many keys be made from their hashes? */
static bool made_of_hashes(const piped_build *g, uint64_t keys) {
    umbel_plan plan = {.capacity = keys, .fpr = g->params.fpr, .hashes = g->params.hashes};
    umbel_traits traits;
    if (umbel_plan_solve(&plan, NULL)) return false;
    umbel_kind_traits(plan.kind, &traits);
    return traits.hashes;
}

/* From now on each key takes 8 bytes. */
static void start_hashing(piped_build *g) {
    uint64_t *hashes = cli_alloc(MAX_HASHES * sizeof *hashes);
    point_to_text(g);
    umbel_hash_many(g->hasher, g->keys, g->count, hashes, NULL);
    size_t n = g->count;
    forget_kept(g);
    g->hashes = hashes;
    g->nhashes = n;
}

/* The first layer has room for half as many keys again, since later layers cost more. */
static uint64_t first_layer(const piped_build *g) {
    if (!g->hashes) return CLI_FIRST_LAYER;
    static cli_sketch different;
    cli_sketch_add(&different, g->hashes, g->nhashes);
    double count = cli_sketch_count(&different);
    double keys = 1.5 * fmin(count, (double)g->nhashes); /* hashes may have been chosen */
    return keys > CLI_FIRST_LAYER ? (uint64_t)keys : CLI_FIRST_LAYER;
}

static void start_growing(piped_build *g) {
    if (!g->s->quiet) {
        cli_note(g->name,
                 "is a pipe of many keys, whose number is unknown: using a growing filter; "
                 "-n KEYS makes it smaller and faster");
    }
    g->params.kind = UMBEL_KIND_SCALABLE;
    g->params.capacity = first_layer(g);
    g->growing = create_kept(g);
    forget_kept(g);
}

static void hash_piped(void *ctx, cli_batch *b) {
    const piped_build *g = ctx;
    umbel_hash_many(g->hasher, b->keys, b->lines, b->hashes, NULL);
}

/* Keeps a batch, as keys or hashes, and returns how many.  Hashes are filled to the last, so that
 * the result does not depend on where batches end. */
static size_t keep_batch(piped_build *g, const cli_batch *b) {
    size_t len = 0;
    if (!g->hashes) {
        for (size_t i = 0; i < b->lines; i++) len += b->keys[i].len;
        if (g->count + b->lines <= MAX_KEPT && g->text_len + len <= MAX_KEPT_TEXT) {
            keep(g, b, len);
            return b->lines;
        }
        if (!made_of_hashes(g, g->count + 1) || !made_of_hashes(g, MAX_HASHES)) return 0;
        start_hashing(g);
    }
    size_t left = MAX_HASHES - g->nhashes, n = b->lines < left ? b->lines : left;
    memcpy(g->hashes + g->nhashes, b->hashes, n * sizeof *b->hashes);
    g->nhashes += n;
    return n;
}

static void add_piped(void *ctx, cli_batch *b) {
    piped_build *g = ctx;
    size_t kept = g->growing ? 0 : keep_batch(g, b), left = b->lines - kept;
    if (!left) return;
    if (!g->growing) start_growing(g);
    umbel_err e = umbel_add_hashes(g->growing, b->hashes + kept, left, NULL, NULL, NULL);
    cli_add_job_check_error(&g->adding, e);
}

/* Plans for as many keys as there are hashes, and again if far fewer are distinct. */
static umbel_filter *create_hashed(piped_build *g) {
    g->params.capacity = g->nhashes;
    if (!made_of_hashes(g, g->nhashes)) g->params.kind = UMBEL_KIND_BLOCKED;
    umbel_filter *f = create_kept(g);
    uint64_t needed = cli_keys_needed(f, g->params.capacity);
    if (!needed) return f;
    umbel_free(f);
    g->params.capacity = needed;
    if (!made_of_hashes(g, needed)) g->params.kind = UMBEL_KIND_BLOCKED;
    return create_kept(g);
}

umbel_filter *cli_build_piped(const cli_settings *s, const cli_filter_params *params,
                              const cli_feed *feed, const char *name, cli_lines *read) {
    piped_build g = {.s = s, .params = *params, .name = name};
    cli_filter_params tiny = *params; /* with its seed */
    tiny.kind = UMBEL_KIND_BLOCKED;
    tiny.hashes = 0;
    tiny.capacity = 1;
    tiny.fpr = 0.01; /* any: it only hashes */
    g.hasher = cli_filter_create(&tiny, s);
    cli_job job = {hash_piped, add_piped, &g};
    *read = cli_pipeline(feed, &job);
    umbel_free(g.hasher);
    if (g.growing) return g.growing;
    if (!g.hashes) g.params.capacity = distinct_kept(&g);
    umbel_filter *f = g.hashes ? create_hashed(&g) : create_kept(&g);
    forget_kept(&g);
    return f;
}
