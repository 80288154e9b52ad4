/* SPDX-License-Identifier: MIT */
#include "check/exact_stage.h"

#include "base/error.h"
#include "filter/filter_file.h"

typedef struct exact_run {
    cli_exact *exact;
    const cli_lookup *lookup;
} exact_run;

static uint64_t hash_of(const cli_exact *e, umbel_key key) {
    uint64_t hash;
    (void)umbel_hash_many(e->hasher, &key, 1, &hash, NULL); /* it takes hashes */
    return hash;
}

static void look_up(void *ctx, cli_batch *b) {
    const exact_run *r = ctx;
    cli_lookup_batch(r->lookup, b);
}

static bool is_candidate(void *ctx, umbel_key key) {
    cli_exact *e = ctx;
    cli_key_set_add(&e->keys, key, hash_of(e, key));
    return false; /* of a name, the parents may be in the filter as well */
}

static void collect(void *ctx, cli_batch *b) {
    exact_run *r = ctx;
    const umbel_confirm candidates = {is_candidate, r->exact};
    uint8_t hit;
    cli_need_undamaged(r->lookup);
    for (size_t i = 0; i < b->lines; i++) {
        if (!b->hits[i]) continue;
        (void)umbel_lookup_keys(r->lookup->at[0].lookup, &b->keys[i], NULL, 1, &candidates, &hit,
                                NULL, NULL);
    }
}

static void hash_keys(void *ctx, cli_batch *b) {
    const exact_run *r = ctx;
    umbel_hash_many(r->exact->hasher, b->keys, b->lines, b->hashes, NULL);
}

static void mark(void *ctx, cli_batch *b) {
    exact_run *r = ctx;
    for (size_t i = 0; i < b->lines; i++) {
        cli_key_entry *e = cli_key_set_find(&r->exact->keys, b->keys[i], b->hashes[i]);
        if (e) e->marked = true;
    }
}

static bool is_present(void *ctx, umbel_key key) {
    const cli_exact *e = ctx;
    const cli_key_entry *found = cli_key_set_find(&e->keys, key, hash_of(e, key));
    return found && found->marked;
}

int cli_exact_read(cli_exact *e, const cli_settings *s, cli_lookup *lookup, cli_feed feed,
                   const char *file, umbel_recipe *file_recipe) {
    *e = (cli_exact){.hasher = cli_table_hasher_new(s)};
    e->keys.limit = s->max_memory;
    exact_run r = {e, lookup};
    cli_job candidates = {look_up, collect, &r}, present = {hash_keys, mark, &r};
    feed.quiet = true; /* the caller reads these lines again, and warns then */
    if (feed.activity) feed.activity = "finding candidates";
    cli_pipeline(&feed, &candidates);
    cli_feed other = cli_feed_of(s, &file, 1, &file_recipe);
    other.given = NULL;
    if (feed.activity) other.activity = "verifying";
    cli_lines read = cli_pipeline(&other, &present);
    e->confirm = (umbel_confirm){is_present, e};
    lookup->confirm = &e->confirm;
    return cli_misfits_status(&read, file_recipe, "skipped", CLI_YES);
}

void cli_exact_free(cli_exact *e) {
    umbel_free(e->hasher);
    cli_key_set_free(&e->keys);
}
