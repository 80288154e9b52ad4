/* SPDX-License-Identifier: MIT
 *
 * piped_build.c - umbel build from a pipe: how many keys there are is known at its end
 */
#include "command/piped_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/filter_file.h"
#include "filter/hasher.h"
#include "uniq/key_counts.h"

typedef struct piped_build {
    const cli_settings *s;
    cli_filter_params params;
    const char *name; /* of the pipe */
    uint8_t *text;    /* the keys, one after the other */
    size_t text_len, text_room;
    umbel_key *keys; /* only their lengths before all are known */
    size_t count, room;
    umbel_filter *growing, *hasher; /* the latter hashes alike, before there is a filter */
    cli_add_job adding;
} piped_build;

/* Both together, and twice that while they are enlarged, are less than the 64 MiB that a command
 * may use besides its filter. */
enum { MAX_KEPT = 1000000, MAX_KEPT_TEXT = 16 << 20 };

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

/* Makes the filter and adds what was kept. */
static umbel_filter *create_kept(piped_build *g) {
    umbel_filter *f = cli_filter_create(&g->params, g->s);
    g->adding = cli_add_job_new(f, g->s->output, g->s);
    size_t at = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->keys[i].data = g->text + at;
        at += g->keys[i].len;
    }
    umbel_err e = umbel_add_many(f, g->keys, g->count, NULL, NULL, NULL);
    cli_add_job_check_error(&g->adding, e);
    free(g->keys), free(g->text);
    return f;
}

/* As keys are different if their hashes are. */
static uint64_t distinct_kept(const piped_build *g) {
    cli_key_counts seen = {0};
    umbel_filter *hasher = cli_hasher_new(g->s);
    size_t at = 0;
    for (size_t i = 0; i < g->count; i++) {
        uint64_t hash = umbel_hash(hasher, g->text + at, g->keys[i].len);
        cli_key_counts_add(&seen, &hash, 1);
        at += g->keys[i].len;
    }
    uint64_t keys = seen.keys ? seen.keys : 1;
    cli_key_counts_free(&seen);
    umbel_free(hasher);
    return keys;
}

static void start_growing(piped_build *g) {
    if (!g->s->quiet) {
        cli_note(g->name,
                 "is a pipe of many keys, whose number is unknown: using a growing filter; "
                 "-n KEYS makes it smaller and faster");
    }
    g->params.kind = UMBEL_KIND_SCALABLE;
    g->params.capacity = CLI_FIRST_LAYER;
    g->growing = create_kept(g);
}

static void hash_piped(void *ctx, cli_batch *b) {
    const piped_build *g = ctx;
    umbel_hash_many(g->hasher, b->keys, b->lines, b->hashes, NULL);
}

static void add_piped(void *ctx, cli_batch *b) {
    piped_build *g = ctx;
    size_t len = 0;
    for (size_t i = 0; i < b->lines && !g->growing; i++) len += b->keys[i].len;
    if (!g->growing && (g->count + b->lines > MAX_KEPT || g->text_len + len > MAX_KEPT_TEXT)) {
        start_growing(g);
    }
    if (!g->growing) {
        keep(g, b, len);
        return;
    }
    umbel_err e = g->hasher ? umbel_add_hashes(g->growing, b->hashes, b->lines, NULL, NULL, NULL)
                            : umbel_add_many(g->growing, b->keys, b->lines, NULL, NULL, NULL);
    cli_add_job_check_error(&g->adding, e);
}

umbel_filter *cli_build_piped(const cli_settings *s, const cli_filter_params *params,
                              const cli_feed *feed, const char *name, cli_lines *read) {
    piped_build g = {.s = s, .params = *params, .name = name};
    if (s->threads > 1) {
        cli_filter_params tiny = *params; /* with its seed */
        tiny.kind = UMBEL_KIND_BLOCKED;
        tiny.hashes = 0;
        tiny.capacity = 1;
        tiny.fpr = 0.01; /* any: it only hashes */
        g.hasher = cli_filter_create(&tiny, s);
    }
    cli_job job = {g.hasher ? hash_piped : NULL, add_piped, &g};
    *read = cli_pipeline(feed, &job);
    umbel_free(g.hasher);
    if (g.growing) return g.growing;
    g.params.capacity = distinct_kept(&g);
    return create_kept(&g);
}
