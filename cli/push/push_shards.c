/* SPDX-License-Identifier: MIT
 *
 * push_shards.c - lines become one filter per shard, and those become keys of a server
 *
 * The input is read once to count the keys of each shard, then once per shard, so only one of the
 * filters is in memory at a time.  All are sent before the first gets its name.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "lines/pipeline.h"
#include "options/recipe_options.h"
#include "push/push.h"
#include "umbel.h"

enum { MAX_SHARDS = 16384 };

typedef struct shard_builder {
    uint32_t shards, shard;
    uint64_t *counts;
    umbel_filter *filter;
    bool grows; /* on the server */
} shard_builder;

static void count(void *ctx, cli_batch *b) {
    shard_builder *c = ctx;
    for (size_t i = 0; i < b->lines; i++) {
        c->counts[cli_shard_of(b->keys[i].data, b->keys[i].len, c->shards)]++;
    }
}

/* Moves the keys of this shard to the front and adds them. */
static void add_own(void *ctx, cli_batch *b) {
    shard_builder *c = ctx;
    size_t n = 0;
    for (size_t i = 0; i < b->lines; i++) {
        umbel_key key = b->keys[i];
        if (cli_shard_of(key.data, key.len, c->shards) == c->shard) b->keys[n++] = key;
    }
    umbel_err e = umbel_add_many(c->filter, b->keys, n, NULL, NULL, NULL);
    if (e) cli_die_err("push", e, NULL, NULL);
}

/* The capacity of a shard: its present keys, or its share of -n with room for chance. */
static uint64_t shard_capacity(uint64_t present, const cli_settings *s) {
    double share = (double)s->keys / (double)s->shards;
    uint64_t planned = (uint64_t)(share + 4 * sqrt(share));
    uint64_t keys = planned > present ? planned : present;
    return keys ? keys : 1;
}

static umbel_filter *build(shard_builder *c, const cli_feed *feed, cli_filter_params params,
                           const cli_settings *s) {
    params.capacity = shard_capacity(c->counts[c->shard], s);
    c->filter = cli_filter_create(&params, s);
    cli_job job = {NULL, add_own, c};
    cli_pipeline(feed, &job);
    cli_filter_set_meta(c->filter, s, feed->recipes[0]);
    if (c->grows) cli_push_let_grow(c->filter, s->redis_key, s->expansion, s->fpr);
    return c->filter;
}

static cli_filter_params params_of(const cli_settings *s, bool *grows) {
    cli_filter_params p = cli_params_of(s);
    if (p.format != UMBEL_FMT_NATIVE && p.format != UMBEL_FMT_REDISBLOOM) {
        cli_die("--format", "native or redisbloom", "the server does not accept this format");
    }
    if (cli_is_built_once(p.kind)) {
        cli_die("--kind", "blocked or classic", "filters that are built once cannot be shards");
    }
    if (!(p.fpr > 0)) p.fpr = 0.01;
    /* Scalable filters and those of RedisBloom grow by themselves. */
    *grows = p.expansion && p.format == UMBEL_FMT_NATIVE && p.kind != UMBEL_KIND_SCALABLE;
    if (*grows) {
        p.expansion = 0;
        p.fpr /= 2; /* the rest is for the layers to come */
    }
    return p;
}

static void check_arguments(const cli_settings *s) {
    const char *once = cli_input_once(s->args, s->nargs);
    if (once) cli_die(once, "use a file", "cannot be a pipe: it is read once per shard");
    cli_option_id changes = cli_changes_given(s);
    if (changes != OPT_END && !s->same_rule) {
        char shown[48];
        cli_die(cli_option_text(changes, shown), "--same-rule if the clients do the same",
                "the server does not apply it, so it would miss some keys");
    }
    if (s->shards > MAX_SHARDS) cli_die("--shards", "at most 16384", "more than there are slots");
    for (const char *c = s->redis_key; *c; c++) {
        if (*c != '{') continue;
        cli_die("--key", "use a NAME without {", "'%s' puts all shards into one slot",
                s->redis_key);
    }
}

/* A shard that was sent; its bits are already freed. */
typedef struct pushed_shard {
    char *name;
    cli_push_chunks chunks;
    uint64_t resumed;
} pushed_shard;

static void publish(const cli_settings *s, cli_push push, pushed_shard *sent, uint32_t shards) {
    cli_pushed all = {.name = s->redis_key,
                      .database = cli_connection_database(push.server),
                      .shards = shards,
                      .in.keys_known = true};
    for (uint32_t i = 0; i < shards; i++) {
        push.name = sent[i].name;
        if (!cli_push_publish(&push, &sent[i].chunks)) {
            cli_die(push.name, cli_run_again, "another node took over without the last pieces");
        }
        all.in.keys_known &= sent[i].chunks.in.keys_known;
        all.in.keys += sent[i].chunks.in.keys;
        all.in.keys_error = hypot(all.in.keys_error, sent[i].chunks.in.keys_error);
        all.bytes += sent[i].chunks.bits_len;
        all.resumed += sent[i].resumed;
        free(sent[i].name);
    }
    cli_push_summary(s, &all);
}

int cli_push_shards(const cli_settings *s) {
    check_arguments(s);
    shard_builder c = {.shards = s->shards};
    cli_filter_params params = params_of(s, &c.grows);
    pushed_shard *sent = cli_alloc(c.shards * sizeof *sent);
    cli_push push = {.commands = cli_push_commands_of(s), .force = s->force, .quiet = s->quiet};
    push.server = cli_connection_open(s);
    for (uint32_t i = 0; i < c.shards; i++) {
        push.name = sent[i].name = cli_shard_name(s->redis_key, i);
        cli_push_check(&push);
    }
    umbel_recipe *recipe = cli_recipe_given(s);
    cli_feed feed = cli_feed_of(s, s->args, s->nargs, &recipe);
    feed.activity = s->quiet ? NULL : "sorting";
    c.counts = cli_alloc(c.shards * sizeof *c.counts);
    memset(c.counts, 0, c.shards * sizeof *c.counts);
    cli_job counting = {NULL, count, &c};
    cli_lines read = cli_pipeline(&feed, &counting);
    feed.quiet = true; /* it has warned */
    for (c.shard = 0; c.shard < c.shards; c.shard++) {
        umbel_filter *f = build(&c, &feed, params, s);
        push.name = sent[c.shard].name;
        sent[c.shard].chunks = cli_push_chunks_of(f, push.name);
        cli_push_upload(&push, &sent[c.shard].chunks);
        sent[c.shard].resumed = push.resumed;
        cli_push_chunks_free(&sent[c.shard].chunks);
        umbel_free(f);
    }
    publish(s, push, sent, c.shards);
    free(c.counts);
    free(sent);
    cli_connection_close(push.server);
    int status = cli_misfits_status(&read, recipe, "skipped", CLI_YES);
    umbel_recipe_free(recipe);
    return status;
}
