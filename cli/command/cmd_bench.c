/* SPDX-License-Identifier: MIT
 *
 * cmd_bench.c - umbel bench: what this machine achieves, next to what its memory allows
 *
 * The floor is the time to fetch one random cache line per key with prefetching: the minimum for
 * any filter larger than the caches that accesses memory once per key.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/quantity.h"
#include "command/command.h"
#include "filter/add_job.h"
#include "filter/filter_file.h"
#include "report/report.h"

static const uint8_t options[] = {OPT_KEYS, OPT_FPR,        OPT_KIND, OPT_THREADS,
                                  OPT_JSON, OPT_MAX_MEMORY, OPT_HELP, OPT_END};

enum { CHUNK = 1 << 20, CACHE_LINE = 64, REPEAT = 3, TEXT_LINES = 1000000 };

/* Distinct numbers in random order: splitmix64 of a counter. */
static uint64_t mixed(uint64_t x) {
    x = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

typedef struct workspace {
    uint64_t numbers[CHUNK];
    umbel_key keys[CHUNK];
    uint8_t answers[CHUNK];
} workspace;

typedef struct bench_result {
    umbel_kind kind;
    uint64_t keys, bytes;
    double floor, contains, add; /* nanoseconds per key */
    double predicted, measured;
} bench_result;

static size_t fill(workspace *d, uint64_t from, uint64_t end) {
    size_t n = end - from < CHUNK ? (size_t)(end - from) : CHUNK;
    for (size_t i = 0; i < n; i++) {
        d->numbers[i] = mixed(from + i);
        d->keys[i] = (umbel_key){&d->numbers[i], sizeof d->numbers[i]};
    }
    return n;
}

static volatile uint64_t sink;

static double time_floor(uint64_t bytes) {
    enum { RING = 32 };
    uint64_t lines = bytes / CACHE_LINE ? bytes / CACHE_LINE : 1;
    if (lines > UINT32_MAX) lines = UINT32_MAX; /* 256 GiB */
    uint8_t *memory = NULL;
    if (lines > SIZE_MAX / 2 / CACHE_LINE) return 0;
    size_t room = (size_t)lines * CACHE_LINE;
    if (posix_memalign((void **)&memory, 2 << 20, room)) return 0;
    (void)madvise(memory, room, MADV_HUGEPAGE);
    for (size_t i = 0; i < lines; i++) memory[i * CACHE_LINE] = (uint8_t)i;
    double best = 1e9;
    for (int r = 0; r < REPEAT; r++) {
        const uint8_t *ring[RING];
        for (size_t i = 0; i < RING; i++) ring[i] = memory;
        uint64_t sum = 0;
        double begin = cli_clock();
        for (size_t i = 0; i < CHUNK; i++) {
            size_t at = (size_t)((mixed(i + (size_t)r * CHUNK) >> 32) * lines >> 32);
            sum += *ring[i % RING];
            ring[i % RING] = memory + at * CACHE_LINE;
            __builtin_prefetch(ring[i % RING]);
        }
        double took = (cli_clock() - begin) / CHUNK * 1e9;
        sink = sum;
        if (took < best) best = took;
    }
    free(memory);
    return best;
}

static bench_result measure(umbel_filter *f, uint64_t keys, workspace *d) {
    bench_result r = {.keys = keys, .contains = 1e9};
    double adding = 0;
    for (uint64_t at = 0; at < keys;) {
        size_t n = fill(d, at, keys);
        double begin = cli_clock();
        if (umbel_add_many(f, d->keys, n, NULL, NULL, NULL)) {
            cli_die("bench", NULL, "cannot add keys");
        }
        adding += cli_clock() - begin;
        at += n;
    }
    r.add = adding / (double)keys * 1e9;
    uint64_t hits = 0;
    for (int i = 0; i < REPEAT; i++) {
        uint64_t from = keys + (uint64_t)i * CHUNK; /* none of these were added */
        size_t n = fill(d, from, from + CHUNK);
        double begin = cli_clock();
        umbel_contains_many(f, d->keys, n, d->answers);
        double took = (cli_clock() - begin) / CHUNK * 1e9;
        if (took < r.contains) r.contains = took;
        for (size_t k = 0; k < n; k++) hits += d->answers[k];
    }
    r.measured = (double)hits / (REPEAT * (double)CHUNK);
    umbel_info info;
    umbel_describe(f, &info);
    r.kind = info.kind;
    r.bytes = info.bytes;
    umbel_measurement now;
    umbel_measure(f, &now);
    r.predicted = now.rate;
    r.floor = time_floor(r.bytes);
    return r;
}

static umbel_filter *make(const cli_settings *s, umbel_kind kind, uint64_t keys) {
    umbel_params params = {.kind = kind, .capacity = keys, .fpr = s->fpr > 0 ? s->fpr : 0.01};
    umbel_opts opts = cli_opts_of(s);
    opts.secret = NULL;
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    umbel_err e = umbel_create(&params, &opts, &f, &diag);
    if (e) cli_die_err("bench", e, &diag, CLI_SEE_PLAN);
    return f;
}

/* From lines of text to keys in a filter, as in `umbel build`, reading from memory. */
static double time_lines(const cli_settings *s) {
    int fd = memfd_create("umbel-bench", 0);
    FILE *text = fd < 0 ? NULL : fdopen(dup(fd), "w");
    if (!text) return 0;
    for (uint64_t i = 0; i < TEXT_LINES; i++) {
        fprintf(text, "https://www.example%u.org/page/%llx.html\n", (unsigned)(i % 1000),
                (unsigned long long)mixed(i));
    }
    fclose(text);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    const char *files[] = {path};
    cli_feed feed = cli_feed_of(s, files, 1);
    double best = 1e9;
    for (int i = 0; i < REPEAT; i++) {
        umbel_filter *f = make(s, UMBEL_KIND_AUTO, TEXT_LINES);
        cli_add_job adding = cli_add_job_new(f, "bench", s);
        adding.quiet = true;
        cli_job job = cli_add_job_callbacks(&adding);
        double begin = cli_clock();
        cli_pipeline(&feed, &job);
        cli_add_job_finish(&adding);
        double took = (cli_clock() - begin) / TEXT_LINES * 1e9;
        if (took < best) best = took;
        umbel_free(f);
    }
    close(fd);
    return best;
}

static void print_row(const bench_result *r) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], predicted[CLI_QUANTITY], measured[CLI_QUANTITY];
    printf("%-9s %12s %9s %7.1f %9.1f %7.1f %10s %10s\n", umbel_kind_name(r->kind),
           cli_count_text(r->keys, keys), cli_size_text(r->bytes, size), r->floor, r->contains,
           r->add, cli_rate_text(r->predicted, predicted), cli_rate_text(r->measured, measured));
    fflush(stdout);
}

static json_t *row_json(const bench_result *r) {
    return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "kind", umbel_kind_name(r->kind),
                     "keys", (json_int_t)r->keys, "bytes", (json_int_t)r->bytes, "floor_ns",
                     r->floor, "contains_ns", r->contains, "add_ns", r->add, "fpr_predicted",
                     r->predicted, "fpr_measured", r->measured);
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 0, 0);
    static const uint64_t default_sizes[] = {100000, 1000000, 10000000};
    const uint64_t *sizes = s->keys ? &s->keys : default_sizes;
    size_t nsizes = s->keys ? 1 : sizeof default_sizes / sizeof *default_sizes;
    static const umbel_kind kinds[] = {UMBEL_KIND_BLOCKED, UMBEL_KIND_LINE, UMBEL_KIND_CLASSIC};
    umbel_kind only = cli_kind_named(s->kind);
    workspace *d = cli_alloc(sizeof *d);
    cli_report r = cli_report_begin(s->json);
    json_t *rows = json_array();
    if (!s->json) {
        printf("%-9s %12s %9s %7s %9s %7s %10s %10s\n", "kind", "keys", "size", "floor", "contains",
               "add", "predicted", "measured");
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (only && kinds[k] != only) continue;
        for (size_t i = 0; i < nsizes; i++) {
            umbel_filter *f = make(s, kinds[k], sizes[i]);
            bench_result row = measure(f, sizes[i], d);
            umbel_free(f);
            if (!s->json) print_row(&row);
            json_array_append_new(rows, row_json(&row));
        }
    }
    free(d);
    double lines = time_lines(s);
    if (!s->json) {
        printf(
            "\nTimes are nanoseconds per key; a line of 50 bytes takes %.1f from file to filter.\n",
            lines);
    }
    cli_report_json(&r, "filters", rows);
    cli_report_json(&r, "line_ns", cli_json_real(lines));
    cli_report_end(&r);
    return CLI_YES;
}

const cli_command cli_command_bench = {
    .name = "bench",
    .summary = "measure this machine: speed, memory latency, false-positive rates",
    .synopsis = "[-n KEYS] [-p RATE] [--kind KIND] [OPTION]...",
    .examples = "umbel bench\n"
                "# A filter much larger than the caches\n"
                "umbel bench -n 100M --kind blocked\n",
    .text = "\"floor\" is the time of one random access to the same amount of memory; \"contains\" "
            "and \"add\" are batched calls; all are nanoseconds per key. \"predicted\" is the "
            "false-positive rate that the model computes from the bits, \"measured\" the one "
            "observed with three million keys that were not added.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
