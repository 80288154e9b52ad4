/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "lines/pipeline.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/progress.h"
#include "lines/split.h"
#include "umbel_never.h"
#include "umbel_text.h"

enum { TYPICAL_BLOCK = CLI_BLOCK + (16 << 10) }; /* including the rest of its last line */

/* A missing quote turns the rest of the input into one record, which is better refused early. */
enum { MAX_LINE = 1 << 30, MAX_RECORD = 16 << 20 };

/* Usual blocks of the shortest lines take nearly as much, and 64 MiB are promised to be enough. */
enum { LEAST_SPACE = 16 << 20, LEAST_MEMORY = 64 << 20 };

/* The feed's recipes for one file, with columns by number. */
typedef struct bound_recipes {
    struct bound_recipes *next;
    umbel_recipe **recipes;
    umbel_recipe **owned; /* NULL: the recipe itself has no columns */
} bound_recipes;

typedef struct pipeline {
    const cli_feed *feed;
    const cli_job *job;
    cli_input *in;
    const umbel_recipe *recipe; /* that makes the keys; NULL: they are the lines */
    bool header;
    cli_split *split;
    cli_limits limits;
    pthread_mutex_t reading, turning;
    pthread_cond_t turn_changed;
    uint64_t claimed, turn; /* blocks handed out, blocks drained */
    bound_recipes *bound;   /* for all files so far */
    cli_lines read;
    uint64_t line;       /* of the file whose block is drained: lines before the block */
    umbel_unseen unseen; /* in that file ... */
    const char *file;
    bool warned; /* ... and this was reported */
} pipeline;

cli_feed cli_feed_of(const cli_settings *s, const char *const *files, int nfiles,
                     umbel_recipe *const *recipe) {
    /* Offsets within a block are 32 bits wide; 32-bit address spaces are exhausted even sooner. */
    const bool narrow = SIZE_MAX <= UINT32_MAX;
    const uint64_t GiB = UINT64_C(1) << 30, max = narrow ? GiB : 3 * GiB;
    if (s->max_line > max) {
        cli_die("--max-line", narrow ? "at most 1GiB" : "at most 3GiB", "too long");
    }
    if (s->threads > 1024) cli_die("--threads", "at most 1024", "too many");
    return (cli_feed){
        .files = files,
        .nfiles = nfiles,
        .given = &s->given_keys,
        .given_name = "-e",
        .sep = s->null ? 0 : '\n',
        .skip_empty = s->skip_empty,
        .skips_missing = true,
        .max_line = (size_t)s->max_line,
        .max_memory = s->max_memory,
        .threads = s->threads,
        .recipes = recipe,
        .nrecipes = 1,
        .numbered = s->line_number,
        .line_buffered = s->line_buffered,
        .use = s->digests ? UMBEL_USE_DIGEST : UMBEL_USE_RECORD,
    };
}

/* Without files it is standard input, unless there are keys of -e. */
static bool reads_files(const cli_feed *feed) {
    return feed->nfiles || !feed->given || !feed->given->count;
}

const char *cli_feed_once(const cli_feed *feed) {
    return reads_files(feed) ? cli_input_once(feed->files, feed->nfiles) : NULL;
}

/* What a thread keeps for its lines. */
static uint64_t space_of(const cli_batch *b) {
    size_t per_line = sizeof *b->starts + sizeof *b->keys + sizeof *b->hashes + sizeof *b->hits +
                      sizeof *b->states + sizeof *b->numbers;
    return (uint64_t)b->block.space_len + b->ends_room * sizeof *b->ends + b->room * per_line;
}

/* Is there room for that much more?  Usual blocks take what they take, whatever the input is; with
 * a long line, the ends of quoted lines and keys that a recipe makes may take several times as
 * much.  If not, the batch is refused, in its turn. */
static bool has_space(const pipeline *p, cli_batch *b, uint64_t more) {
    uint64_t space = space_of(b) + more;
    if (b->block.len <= TYPICAL_BLOCK || space <= p->limits.max_space) return true;
    b->excess = CLI_LARGE_LINE;
    b->excess_size = space;
    b->lines = 0;
    return false;
}

static size_t count_separators(const uint8_t *text, size_t len, uint8_t sep) {
    size_t n = 0;
    const uint8_t *p = text, *end = text + len;
    while (p < end && (p = memchr(p, sep, (size_t)(end - p)))) n++, p++;
    return n;
}

/* Makes room for every line end in the block: one per byte unless the block grew around a long
 * line; then they are counted first. */
static void make_room_for_ends(const pipeline *p, cli_batch *b) {
    size_t ends = b->block.len <= TYPICAL_BLOCK
                      ? TYPICAL_BLOCK
                      : count_separators(b->text, b->block.len, p->feed->sep);
    if (b->ends_room >= ends || !has_space(p, b, ends * sizeof *b->ends)) return;
    b->ends_room = ends;
    b->ends = cli_realloc(b->ends, (ends + CLI_SPLIT_SLACK) * sizeof *b->ends);
}

static void make_room_for_lines(cli_batch *b) {
    if (b->room >= b->lines) return;
    b->room = b->lines + b->lines / 4;
    b->starts = cli_realloc(b->starts, b->room * sizeof *b->starts);
    b->keys = cli_realloc(b->keys, b->room * sizeof *b->keys);
    b->hashes = cli_realloc(b->hashes, b->room * sizeof *b->hashes);
    b->hits = cli_realloc(b->hits, b->room);
    b->states = cli_realloc(b->states, b->room);
    b->numbers = cli_realloc(b->numbers, b->room * sizeof *b->numbers);
}

size_t cli_batch_keys(const cli_batch *b, const umbel_recipe *recipe, umbel_recipe_use use,
                      umbel_key *keys, uint8_t *states, uint8_t **scratch, size_t *room) {
    for (size_t i = 0; i < b->lines; i++) {
        keys[i] = (umbel_key){b->text + b->starts[i], b->ends[i] - b->starts[i]};
    }
    if (!recipe || umbel_recipe_traits(recipe) & UMBEL_RECIPE_LINE) return b->lines;
    size_t need = umbel_recipe_room(recipe, b->lines, b->block.len);
    if (*room < need) {
        *scratch = cli_realloc(*scratch, need);
        *room = need;
    }
    return umbel_recipe_apply(recipe, use, keys, b->lines, *scratch, states);
}

/* Empty lines that are skipped anyway do not count. */
static void count_missing(cli_batch *b, bool skip_empty) {
    for (size_t i = 0; i < b->lines; i++) {
        if (skip_empty && b->starts[i] == b->ends[i]) continue;
        if (b->states[i] == UMBEL_FOUND_NOTHING && b->nothing++ == 0) b->first_nothing = i;
        if (b->states[i] == UMBEL_FOUND_MALFORMED && b->malformed++ == 0) b->first_malformed = i;
    }
}

/* Drops lines without a key, or with an empty one (or, without one, empty lines). */
static void drop_lines(cli_batch *b, bool missing, bool empty) {
    size_t kept = 0;
    for (size_t i = 0; i < b->lines; i++) {
        bool has = b->keys[i].data != NULL;
        bool nothing = has ? !b->keys[i].len : b->starts[i] == b->ends[i];
        b->starts[kept] = b->starts[i];
        b->ends[kept] = b->ends[i];
        b->keys[kept] = b->keys[i];
        b->numbers[kept] = b->numbers[i];
        kept += !(missing && !has) && !(empty && nothing);
    }
    b->lines = kept;
}

/* Says what cannot be seen in the file's lines but is part of their keys: at its end or, for
 * those who wait for results, when its writer pauses. */
static void warn_of_unseen(pipeline *p) {
    umbel_unseen *u = &p->unseen;
    char n[UMBEL_QUANTITY];
    if (u->marks) {
        cli_warn("byte_order_mark", p->file,
                 "begins with a byte-order mark, which becomes part of the first key "
                 "(sed '1s/^\\xef\\xbb\\xbf//' removes it)");
    }
    if (u->returns) {
        cli_warn("carriage_returns", p->file,
                 "%s line%s in a carriage return, which becomes part of the key "
                 "(--crlf removes it)",
                 umbel_count_text(u->returns, n), u->returns == 1 ? " ends" : "s end");
    }
    if (u->nuls) {
        cli_warn("nuls", p->file,
                 "the first lines have NULs, which become part of the keys "
                 "(-0 if lines end in NUL)");
    }
    p->warned = u->marks || u->returns || u->nuls;
}

/* Called in input order. */
static void sum_unseen(pipeline *p, const cli_batch *b) {
    if (p->feed->quiet || b->use == UMBEL_USE_KEY) return;
    if (b->block.begins) {
        if (!p->warned) warn_of_unseen(p);
        p->unseen = (umbel_unseen){0};
        p->file = b->block.begins;
        p->warned = false;
    }
    p->unseen.marks += b->unseen.marks;
    p->unseen.returns += b->unseen.returns;
    p->unseen.nuls += b->unseen.nuls;
    if ((b->block.idle || p->feed->may_end) && !p->warned) warn_of_unseen(p);
}

/* The first line that is too long ends the input, but not before those that precede it. */
static void cut_at_longer(cli_batch *b, size_t max) {
    for (size_t i = 0; i < b->lines && b->block.len > max; i++) {
        if (b->ends[i] - b->starts[i] <= max) continue;
        b->excess = CLI_LONG_LINE;
        b->lines = i;
    }
}

/* Exits: the lines before have been drained. */
static _Noreturn void refuse_line(const pipeline *p, const cli_batch *b) {
    char size[UMBEL_QUANTITY], may[UMBEL_QUANTITY];
    bool csv = p->recipe && umbel_recipe_traits(p->recipe) & UMBEL_RECIPE_CSV;
    if (b->excess == CLI_LONG_LINE) {
        cli_die(b->block.name,
                csv ? "a quote may be missing; --max-line raises the limit"
                    : "--max-line raises the limit; -0 if lines end in NUL",
                "has a line of more than %s: line %" PRIu64,
                umbel_size_text(p->limits.max_line, size), p->line + 1);
    }
    const char *raise = "--max-memory SIZE raises the limit";
    umbel_size_text(b->excess_size ? b->excess_size : b->block.seen, size);
    umbel_size_text(p->limits.max_space, may);
    if (b->excess_size) {
        cli_die(b->block.name, raise,
                "the lines from line %" PRIu64 " on need %s, more than the %s for lines",
                p->line + 1, size, may);
    }
    cli_die(b->block.name, raise,
            "line %" PRIu64 " has more than %s, and needs more memory than the %s for lines",
            p->line + 1, size, may);
}

static void set_header_apart(const pipeline *p, cli_batch *b) {
    b->header = (umbel_key){NULL, 0};
    if (!p->header || !b->block.begins || !b->lines) return;
    b->header = (umbel_key){b->text, b->ends[0] + 1};
    b->lines--;
    memmove(b->ends, b->ends + 1, b->lines * sizeof *b->ends);
}

static void find_lines(const pipeline *p, cli_batch *b) {
    b->text = b->block.text;
    b->idle = b->block.idle || p->feed->line_buffered;
    b->use = p->feed->use;
    b->excess = b->block.excess;
    b->excess_size = 0;
    b->header = (umbel_key){NULL, 0};
    b->lines = 0;
    make_room_for_ends(p, b);
    if (b->excess_size) return;
    b->lines = p->split(b->text, b->block.len, p->feed->sep, b->ends);
    if (p->recipe && umbel_recipe_traits(p->recipe) & UMBEL_RECIPE_CSV) {
        b->lines =
            umbel_recipe_ends(p->recipe, p->feed->sep, b->text, b->block.len, b->ends, b->lines);
    }
    make_room_for_lines(b);
    set_header_apart(p, b);
    uint32_t start = (uint32_t)b->header.len;
    for (size_t i = 0; i < b->lines; i++) {
        b->starts[i] = start;
        start = b->ends[i] + 1;
    }
}

/* The keys of -e as one block; there are no lines to select fields from. */
static void put_given(const pipeline *p, cli_batch *b) {
    const cli_text_list *list = p->feed->given;
    size_t len = 0;
    for (size_t i = 0; i < list->count; i++) len += strlen(list->at[i]) + 1;
    if (len > UINT32_MAX) cli_die(p->feed->given_name, NULL, "too long");
    b->use = (umbel_recipe_use)(UMBEL_USE_KEY | (p->feed->use & UMBEL_USE_LOOKUP));
    b->lines = list->count;
    b->block = (cli_block){.name = p->feed->given_name,
                           .begins = p->feed->given_name,
                           .len = len,
                           .space = cli_alloc(len)};
    b->text = b->block.space;
    b->ends = cli_alloc(b->lines * sizeof *b->ends);
    make_room_for_lines(b);
    uint8_t *next = b->block.space;
    for (size_t i = 0; i < b->lines; i++) {
        size_t n = strlen(list->at[i]);
        b->starts[i] = (uint32_t)(next - b->text);
        b->ends[i] = b->starts[i] + (uint32_t)n;
        memcpy(next, list->at[i], n);
        next[n] = p->feed->sep;
        next += n + 1;
    }
}

/* Of all recipes: jobs apply the others. */
static uint64_t room_for_keys(const pipeline *p, const cli_batch *b) {
    uint64_t room = 0;
    for (size_t i = 0; i < p->feed->nrecipes && b->recipes; i++) {
        uint64_t one = umbel_recipe_room(b->recipes[i], b->lines, b->block.len);
        room = room + one < room ? UINT64_MAX : room + one;
    }
    return room;
}

static void make_keys(const pipeline *p, cli_batch *b) {
    cut_at_longer(b, p->limits.max_line);
    (void)has_space(p, b, room_for_keys(p, b));
    size_t found = cli_batch_keys(b, b->recipes ? b->recipes[0] : NULL, b->use, b->keys, b->states,
                                  &b->scratch, &b->scratch_room);
    bool drops = found < b->lines || p->feed->skip_empty;
    for (size_t i = 0; i < b->lines && (drops || p->feed->numbered); i++) {
        b->numbers[i] = (uint32_t)i;
    }
    b->records = b->lines;
    b->nothing = b->malformed = 0;
    if (found < b->lines) count_missing(b, p->feed->skip_empty);
    b->missing = b->nothing + b->malformed;
    bool skips_missing = b->missing && p->feed->skips_missing;
    if (skips_missing || p->feed->skip_empty) drop_lines(b, skips_missing, p->feed->skip_empty);
}

static void count_misfits(cli_misfits *m, size_t count, const cli_batch *b, uint64_t line) {
    if (count && !m->count) *m = (cli_misfits){0, b->block.name, line};
    m->count += count;
}

/* Called in input order. */
static void count_lines(pipeline *p, cli_batch *b) {
    if (b->block.begins) p->line = b->header.data != NULL;
    count_misfits(&p->read.nothing, b->nothing, b, p->line + b->first_nothing + 1);
    count_misfits(&p->read.malformed, b->malformed, b, p->line + b->first_malformed + 1);
    b->first = p->line + 1;
    p->line += b->records;
    p->read.drained += b->lines;
    p->read.count += b->lines + (p->feed->skips_missing ? b->missing : 0);
}

/* Shows every key of the batch; lines without one are left out. */
static void show(umbel_never *never, const cli_batch *b) {
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    for (size_t i = 0, n; i < b->lines && !e; i += n + 1) {
        for (n = 0; i + n < b->lines && b->keys[i + n].data; n++) continue;
        e = umbel_never_show(never, b->keys + i, n, &diag);
    }
    if (e) cli_die_err("--never", e, &diag, NULL);
}

static void drain(pipeline *p, cli_batch *b) {
    count_lines(p, b); /* first: a job may change the batch */
    sum_unseen(p, b);
    if (p->feed->never) show(p->feed->never, b);
    if (p->job->drain) p->job->drain(p->job->ctx, b);
    if (p->feed->activity) cli_progress(p->read.drained);
    if (b->excess) refuse_line(p, b);
}

static void drain_in_turn(pipeline *p, cli_batch *b, uint64_t ticket) {
    pthread_mutex_lock(&p->turning);
    while (p->turn != ticket) pthread_cond_wait(&p->turn_changed, &p->turning);
    pthread_mutex_unlock(&p->turning);
    drain(p, b);
    pthread_mutex_lock(&p->turning);
    p->turn++;
    pthread_cond_broadcast(&p->turn_changed);
    pthread_mutex_unlock(&p->turning);
}

static void free_batch(cli_batch *b) {
    cli_block_free(&b->block);
    free(b->starts), free(b->ends), free(b->keys), free(b->hashes), free(b->hits), free(b->states);
    free(b->scratch), free(b->numbers);
}

static void run_given(pipeline *p) {
    cli_batch b = {.recipes = p->feed->recipes};
    put_given(p, &b);
    make_keys(p, &b);
    if (p->job->work) p->job->work(p->job->ctx, &b);
    drain(p, &b);
    explicit_bzero(b.block.space, b.block.len); /* it may be a password */
    free_batch(&b);
}

static void *run_thread(void *ctx) {
    pipeline *p = ctx;
    cli_batch b = {0};
    for (;;) {
        pthread_mutex_lock(&p->reading);
        bool more = !(p->feed->enough && *p->feed->enough) && cli_input_claim(p->in, &b.block);
        uint64_t ticket = p->claimed;
        if (more) p->claimed++;
        if (more && p->feed->activity) cli_progress_bytes(cli_input_done(p->in));
        pthread_mutex_unlock(&p->reading);
        if (!more) break;
        cli_input_load(p->in, &b.block);
        const bound_recipes *bound = b.block.bound;
        b.recipes = bound ? bound->recipes : p->feed->recipes;
        b.unseen = (umbel_unseen){0};
        if (!p->feed->quiet) {
            const umbel_recipe *recipe = p->recipe ? b.recipes[0] : NULL;
            umbel_unseen_count(recipe, p->feed->use, p->feed->sep, b.block.text, b.block.len,
                               b.block.begins, &b.unseen);
        }
        find_lines(p, &b);
        make_keys(p, &b);
        if (p->job->work) p->job->work(p->job->ctx, &b);
        drain_in_turn(p, &b, ticket);
    }
    free_batch(&b);
    return NULL;
}

/* The others may have the column. */
static void *without_column(const pipeline *p, const char *name, const char *column) {
    const char *hint =
        strchr(column, ',') ? "one column NAME: -k may be repeated" : "names are compared exactly";
    if (!p->feed->failed) cli_die(name, hint, "has no column '%s' in its first line", column);
    cli_error(name, hint, "has no column '%s' in its first line", column);
    *p->feed->failed = true;
    return NULL;
}

static const void *bind_header(void *ctx, const char *name, const uint8_t *line, size_t len) {
    pipeline *p = ctx;
    size_t n = p->feed->nrecipes;
    bound_recipes *bound = cli_alloc(sizeof *bound);
    *bound = (bound_recipes){.next = p->bound,
                             .recipes = cli_alloc(n * sizeof *bound->recipes),
                             .owned = cli_alloc(n * sizeof *bound->owned)};
    p->bound = bound;
    for (size_t i = 0; i < n; i++) {
        umbel_diag diag = {0};
        bound->recipes[i] = p->feed->recipes[i];
        bound->owned[i] = NULL;
        if (!(umbel_recipe_traits(bound->recipes[i]) & UMBEL_RECIPE_COLUMNS)) continue;
        umbel_err e = umbel_recipe_bind(bound->recipes[i], line, len, &bound->owned[i], &diag);
        if (e == UMBEL_EINVAL && *diag.field) {
            while (i < n) bound->owned[i++] = NULL;
            return without_column(p, name, diag.field);
        }
        if (e) cli_die_err(name, e, &diag, NULL);
        bound->recipes[i] = bound->owned[i];
    }
    return bound;
}

static void free_bound(bound_recipes *bound, size_t n) {
    while (bound) {
        bound_recipes *next = bound->next;
        for (size_t i = 0; i < n; i++) umbel_recipe_free(bound->owned[i]);
        free(bound->recipes), free(bound->owned), free(bound);
        bound = next;
    }
}

/* Half of the memory is for decompression. */
static size_t space_per_thread(const cli_feed *feed) {
    uint64_t all = feed->max_memory > LEAST_MEMORY ? feed->max_memory : LEAST_MEMORY;
    uint64_t one = all / 2 / (feed->threads ? feed->threads : 1);
    if (!feed->max_memory || one > SIZE_MAX) return SIZE_MAX;
    return one > LEAST_SPACE ? (size_t)one : LEAST_SPACE;
}

cli_lines cli_pipeline(const cli_feed *feed, const cli_job *job) {
    const umbel_recipe *recipe = feed->nrecipes ? feed->recipes[0] : NULL;
    uint32_t traits = recipe ? umbel_recipe_traits(recipe) : UMBEL_RECIPE_LINE;
    size_t max_line = feed->max_line              ? feed->max_line
                      : traits & UMBEL_RECIPE_CSV ? MAX_RECORD
                                                  : MAX_LINE;
    cli_limits limits = {max_line, space_per_thread(feed), feed->max_memory,
                         feed->use & UMBEL_USE_LOOKUP ? "-e KEY looks up a key" : NULL};
    pipeline p = {.feed = feed,
                  .job = job,
                  .in = cli_input_open(feed->files, feed->nfiles, feed->sep, &limits, feed->eager,
                                       feed->failed),
                  .recipe = recipe,
                  .header = traits & UMBEL_RECIPE_HEADER,
                  .split = cli_split_best(),
                  .limits = limits,
                  .reading = PTHREAD_MUTEX_INITIALIZER,
                  .turning = PTHREAD_MUTEX_INITIALIZER,
                  .turn_changed = PTHREAD_COND_INITIALIZER};
    if (recipe) cli_input_as_records(p.in, recipe);
    if (p.header) cli_input_on_header(p.in, bind_header, &p);
    if (feed->activity) {
        cli_progress_begin(feed->activity, cli_input_total(p.in), feed->filling, feed->capacity);
    }
    if (feed->given && feed->given->count) run_given(&p);
    bool reads = reads_files(feed);
    pthread_t *others = cli_alloc((feed->threads + 1) * sizeof *others);
    uint32_t started = 0;
    while (reads && started + 1 < feed->threads &&
           !pthread_create(&others[started], NULL, run_thread, &p)) {
        started++;
    }
    if (reads) run_thread(&p);
    for (uint32_t i = 0; i < started; i++) pthread_join(others[i], NULL);
    free(others);
    if (feed->activity) cli_progress_hide();
    if (!p.warned) warn_of_unseen(&p);
    cli_input_close(p.in);
    free_bound(p.bound, feed->nrecipes);
    return p.read;
}
