/* SPDX-License-Identifier: MIT
 *
 * cmd_uniq.c - umbel uniq: first occurrences only, in a few bits per key
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "command/command.h"
#include "filter/add_job.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "report/report.h"
#include "uniq/line_times.h"
#include "uniq/loss.h"
#include "uniq/uniq_state.h"

static const uint8_t options[] = {
    OPT_KEYS,          OPT_FPR,           OPT_BYTES,      OPT_STATE,     OPT_WINDOW,
    OPT_REPEATED,      OPT_ALL_REPEATED,  OPT_UNIQUE,     OPT_REPEATS,   OPT_COUNTS,
    OPT_TOP,           OPT_ONLY_MATCHING, OPT_SAVE_EVERY, OPT_LOCK_WAIT, OPT_SPOOL,
    OPT_LINE_BUFFERED, OPT_STRICT,        OPT_THREADS,    OPT_QUIET,     OPT_JSON,
    OPT_TIME_KEY,      OPT_HELP,          OPT_KIND,       OPT_SEED,      OPT_SECRET_FILE,
    OPT_MAX_MEMORY,    CLI_LINE_OPTIONS,  OPT_END};

typedef struct uniq_run {
    const cli_settings *s;
    cli_add_job watch; /* watches the plan; adds nothing */
    cli_output out;
    cli_uniq_state state;
    cli_line_times times;
    cli_loss loss;
    bool changed; /* since the last measure() */
    bool unsaved;
    bool unsure;          /* the filter has lines that may not have been written yet */
    pthread_mutex_t lock; /* held while any of this changes */
    umbel_filter *hasher; /* whose hashes the lines get: the filter, if it takes hashes */
    bool by_hash, warned, repeats, keys_only;
    int warned_level, warned_loss; /* the steps already reported ... */
    double warned_losses;          /* ... and the lines, as they were then */
    uint64_t seen, next_look;      /* keys, and how many when the loss is looked at again */
    uint64_t new_lines, since_save;
    cli_header header;
} uniq_run;

/* How many steps a rate is above the promise (1, 2, 10, 100 ... times), and that in words. */
static int excess(double times, char *words) {
    static const char *const small[] = {"", "above", "more than twice", "more than ten times"};
    enum { SMALL = sizeof small / sizeof *small, MOST = 17 };
    char count[UMBEL_QUANTITY];
    int level = times > 10 ? 2 + (int)fmin(log10(times), MOST - 2) : (times > 1) + (times > 2);
    if (level < SMALL) {
        strcpy(words, small[level]);
    } else {
        snprintf(words, UMBEL_QUANTITY, "more than %.23s times",
                 umbel_count_text((uint64_t)pow(10, level - 2), count));
    }
    return level;
}

/* The share of new lines that are lost: 0.1%, 1%, 10%, 50%. */
static int loss_level(double share) {
    return (share >= 0.001) + (share >= 0.01) + (share >= 0.1) + (share >= 0.5);
}

/* Warns at each step of the rate and of the share lost; a window by the clock has its own.  `last`:
 * all lines are read, so unless a summary follows, the last warning must say what was lost. */
static void warn_beyond_plan(uniq_run *u, bool last) {
    char now[UMBEL_QUANTITY], promised[UMBEL_QUANTITY], words[UMBEL_QUANTITY],
        count[UMBEL_QUANTITY];
    char lost[2 * UMBEL_QUANTITY] = "an unknown number of new lines was";
    u->next_look = u->seen + u->seen / 4 + 1;
    if (!(u->loss.info.fpr > 0) || u->state.clock.step) return;
    int level = excess(u->loss.now.rate / u->loss.info.fpr, words);
    double losses = cli_loss_estimate(&u->loss), share = 1;
    if (isfinite(losses)) {
        share = losses > 0 ? losses / (losses + (double)u->loss.new_keys) : 0;
        bool one = round(losses) == 1;
        int used = snprintf(lost, sizeof lost, "about %.30s new line%s",
                            umbel_count_text((uint64_t)round(losses), count), one ? "" : "s");
        if (share >= 0.001) {
            snprintf(lost + used, sizeof lost - (size_t)used, " (%s)",
                     umbel_rate_text(share, count));
        }
        strcat(lost, one ? " was" : " were");
    }
    bool outdated = last && u->s->quiet && !u->s->json && round(losses) > round(u->warned_losses);
    bool step = level > u->warned_level || loss_level(share) > u->warned_loss;
    if (!level || !(step || outdated)) return;
    if (level > u->warned_level) u->warned_level = level;
    u->warned_loss = loss_level(share);
    u->warned_losses = losses;
    cli_warn("plan_exceeded", u->watch.name,
             "more keys than planned: the false-positive rate is %s, %s the %s promised; "
             "%s lost (-n plans for more, --strict stops)",
             umbel_rate_text(u->loss.now.rate, now), words,
             umbel_rate_text(u->loss.info.fpr, promised), lost);
}

static void measure_loss(uniq_run *u) {
    cli_loss_measure(&u->loss);
    warn_beyond_plan(u, false);
}

/* Keys were added; hits marks the new ones. */
static void count_new(uniq_run *u, const uint8_t *hits, const uint64_t *hashes, size_t n) {
    u->seen += n;
    if (cli_loss_count(&u->loss, hits, hashes, n)) {
        measure_loss(u);
    } else if (u->warned_level && u->seen >= u->next_look) {
        warn_beyond_plan(u, false); /* a full filter finds nothing new, and is not measured again */
    }
}

static _Noreturn void refuse_rate(const uniq_run *u, const char *why) {
    char rate[UMBEL_QUANTITY], promised[UMBEL_QUANTITY];
    cli_die(u->watch.name, "-n KEYS plans for more", "%s: the false-positive rate is %s, not %s",
            why, umbel_rate_text(u->loss.now.rate, rate),
            umbel_rate_text(u->loss.info.fpr, promised));
}

static void warn_of_rate(uniq_run *u) {
    if (u->s->strict) refuse_rate(u, "more keys in a step than planned");
    char rate[UMBEL_QUANTITY], promised[UMBEL_QUANTITY];
    if (!u->warned) {
        cli_warn("plan_exceeded", u->watch.name,
                 "more keys in a step than planned: the false-positive rate is %s, not %s",
                 umbel_rate_text(u->loss.now.rate, rate),
                 umbel_rate_text(u->loss.info.fpr, promised));
    }
    u->warned = true;
}

/* Measures what was added since the last time: at the end, and before part of it is forgotten.
 * With a clock, a step may bring any number of keys: true if there were too many. */
static bool measure(uniq_run *u) {
    if (!u->changed) return false;
    cli_loss_finish(&u->loss);
    warn_beyond_plan(u, false);
    u->changed = false;
    return u->state.clock.step && u->loss.now.rate > u->loss.info.fpr;
}

/* First the lines, then the state, on disk as well: a crash between them repeats lines but loses
 * none. */
static void save(uniq_run *u) {
    u->unsure = true;
    if (u->s->state) {
        cli_output_sync(&u->out, "the state was not saved: the next run prints these lines again");
    } else if (u->out.used) {
        cli_output_flush(&u->out);
    }
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    if (u->loss.sketching && u->s->state && !u->loss.info.grows) {
        e = cli_sketch_store(&u->loss.sketch, u->state.filter, &diag);
    }
    if (!e && u->loss.watching && u->s->state) {
        e = cli_loss_store(&u->loss, u->state.filter, &diag);
    }
    if (e) cli_die_err(u->s->state, e, &diag, NULL);
    cli_uniq_state_save(&u->state, u->s);
    u->unsaved = u->unsure = false;
    u->since_save = 0;
}

/* Called before an error or a signal exits: saves what was printed, unless writing itself failed.
 * Keeps the lock, so that nothing is printed afterwards. */
static void save_before_exit(void *ctx) {
    uniq_run *u = ctx;
    pthread_mutex_lock(&u->lock);
    if (u->unsaved && !u->unsure) save(u);
}

/* --save-every DURATION: even while the input pauses. */
static void *save_by_time(void *ctx) {
    uniq_run *u = ctx;
    for (;;) {
        struct timespec left = {.tv_sec = (time_t)u->s->save_every.step};
        while (nanosleep(&left, &left) != 0) continue;
        pthread_mutex_lock(&u->lock);
        if (u->unsaved && !u->unsure) save(u);
        pthread_mutex_unlock(&u->lock);
    }
    return NULL;
}

static void save_while_reading(uniq_run *u) {
    pthread_t thread;
    if (!u->s->save_every.step) return;
    if (pthread_create(&thread, NULL, save_by_time, u) != 0) {
        cli_die("--save-every", NULL, "cannot start a thread");
    }
    pthread_detach(thread);
}

/* Also saves at each step: endless streams are ended by a signal.  In a log that is replayed steps
 * take no time. */
static void follow_clock(uniq_run *u, uint64_t now) {
    uint64_t steps = cli_uniq_state_steps_due(&u->state, now);
    if (!steps) return;
    bool changed = u->changed, too_many = measure(u);
    cli_uniq_state_advance(&u->state, steps);
    if (u->loss.watching && changed) measure_loss(u); /* the rate fell */
    if (too_many) warn_of_rate(u);
    if (changed && !u->state.time) save(u);
}

static void hash_keys(void *ctx, cli_batch *b) {
    const uniq_run *u = ctx;
    if (u->by_hash || u->loss.sketching) {
        umbel_hash_many(u->hasher, b->keys, b->lines, b->hashes, NULL);
    }
}

/* --strict: adds keys one by one while the plan has room. */
static size_t add_within_plan(uniq_run *u, cli_batch *b, umbel_err *e) {
    umbel_filter *f = u->state.filter;
    size_t i = 0;
    for (; i < b->lines; i++) {
        const umbel_key *k = &b->keys[i];
        bool was_new = false;
        bool full = cli_loss_keys(&u->loss) > (double)u->watch.capacity - 0.5;
        if (full && !umbel_contains(f, k->data, k->len)) break;
        if ((*e = umbel_add(f, k->data, k->len, &was_new, NULL))) break;
        b->hits[i] = was_new;
        count_new(u, &b->hits[i], &b->hashes[i], 1);
    }
    return i;
}

/* Returns the number of lines added: not all after an error, or where --strict stops. */
static size_t add(uniq_run *u, cli_batch *b, umbel_err *e) {
    umbel_filter *f = u->state.filter;
    bool strict = u->s->strict && u->watch.capacity;
    if (b->lines == 0) return 0; /* a block inside a long line */
    if (strict && cli_loss_keys(&u->loss) + (double)b->lines > (double)u->watch.capacity - 0.5) {
        return add_within_plan(u, b, e);
    }
    size_t done = 0;
    while (done < b->lines && !*e) {
        size_t n = b->lines - done, added = 0;
        if (u->loss.watching && u->loss.step - u->loss.since < n)
            n = (size_t)(u->loss.step - u->loss.since);
        *e = u->by_hash ? umbel_add_hashes(f, b->hashes + done, n, b->hits + done, &added, NULL)
                        : umbel_add_many(f, b->keys + done, n, b->hits + done, &added, NULL);
        count_new(u, b->hits + done, b->hashes + done, added);
        done += added;
    }
    return done;
}

/* Lines without a key are new: they are left out while adding, and marked afterwards. */
static size_t add_present(uniq_run *u, cli_batch *b, umbel_err *e) {
    uint8_t *present = cli_alloc(b->lines + 1);
    cli_batch keyed = *b;
    size_t n = 0, lines = b->lines, i = 0;
    for (; i < lines; i++) {
        present[i] = b->keys[i].data != NULL;
        if (!present[i]) continue;
        b->keys[n] = b->keys[i];
        b->hashes[n++] = b->hashes[i];
    }
    keyed.lines = n;
    size_t done = n ? add(u, &keyed, e) : 0, all = 0, at = done;
    for (i = 0; all < lines && (!present[all] || i < done); all++) i += present[all];
    for (i = all; i-- > 0;) {
        at -= present[i];
        b->hits[i] = present[i] ? b->hits[at] : 1;
        b->keys[i] = present[i] ? b->keys[at] : (umbel_key){NULL, 0};
    }
    free(present);
    return all;
}

/* The lines of a batch from one on, or those of them until a step of the lines' clock ends. */
static cli_batch lines_within_step(const uniq_run *u, const cli_batch *b, size_t from) {
    const umbel_clock *clock = &u->state.clock;
    cli_batch part = *b;
    size_t n = b->lines - from;
    if (u->state.time) {
        for (n = 0; from + n < b->lines; n++) {
            if (u->times.at[from + n] >= clock->advanced + clock->step) break;
        }
    }
    part.lines = n;
    part.idle = b->idle && from + n == b->lines;
    if (from == 0) return part; /* a batch without lines has no arrays */
    part.starts += from, part.ends += from, part.keys += from;
    part.hashes += from, part.hits += from;
    return part;
}

/* Returns the number of lines added and, if they are new, printed: as for add. */
static size_t pass_part(uniq_run *u, cli_batch *b, umbel_err *e) {
    u->unsure = true;
    cli_batch added = *b;
    added.lines = b->missing ? add_present(u, b, e) : add(u, b, e);
    u->changed |= added.lines != 0;
    u->unsaved |= added.lines != 0;
    uint8_t sep = u->s->null ? 0 : '\n';
    uint64_t printed = u->keys_only ? cli_output_keys(&u->out, &added, !u->repeats, sep)
                                    : cli_output_lines(&u->out, &added, !u->repeats);
    u->new_lines += u->repeats ? added.lines - printed : printed;
    u->unsure = false;
    u->since_save += b->lines;
    if (u->s->save_every.keys && u->since_save >= u->s->save_every.keys) save(u);
    return added.lines;
}

static void pass_new(void *ctx, cli_batch *b) {
    uniq_run *u = ctx;
    umbel_err e = UMBEL_OK;
    size_t passed = 0, some;
    pthread_mutex_lock(&u->lock);
    if (!u->keys_only) cli_output_header(&u->out, b, &u->header);
    if (u->state.time) cli_line_times_read(&u->times, b, &u->state.clock);
    do {
        if (!u->state.time) follow_clock(u, cli_uniq_now());
        if (u->state.time && b->lines) follow_clock(u, u->times.at[passed]);
        cli_batch part = lines_within_step(u, b, passed);
        some = pass_part(u, &part, &e);
        passed += some;
        if (some < part.lines) break;
    } while (passed < b->lines);
    cli_add_job_check_error(&u->watch, e);
    if (passed < b->lines) {
        char plan[UMBEL_QUANTITY];
        cli_die(u->watch.name, "-n KEYS plans for more", "more keys than the %s planned",
                umbel_count_text(u->watch.capacity, plan));
    }
    pthread_mutex_unlock(&u->lock);
}

static void summarise_json(const uniq_run *u, const cli_lines *read) {
    cli_report r = cli_report_begin(true);
    cli_report_lines(&r, read);
    cli_report_count(&r, NULL, "new", u->new_lines);
    cli_report_json(&r, "lost_estimated", cli_json_real(cli_loss_estimate(&u->loss)));
    cli_report_json(&r, "fpr_now", cli_json_real(u->loss.now.rate));
    cli_report_json(&r, "fpr",
                    u->loss.info.fpr > 0 ? cli_json_real(u->loss.info.fpr) : json_null());
    cli_report_count(&r, NULL, "bytes", u->loss.info.bytes);
}

static void summarise(const uniq_run *u, const cli_lines *read) {
    char all[UMBEL_QUANTITY], new_lines[UMBEL_QUANTITY], size[UMBEL_QUANTITY];
    FILE *to = cli_sentence();
    fprintf(to, "uniq: %s, %s of them new; ", cli_count_noun(read->count, "line", all),
            umbel_count_text(u->new_lines, new_lines));
    double lost = cli_loss_estimate(&u->loss);
    if (isfinite(lost)) {
        char count[UMBEL_QUANTITY];
        if (lost < 10) snprintf(count, sizeof count, "%.2f", fmax(lost, 0.01));
        fprintf(to, "%s %s new lines mistaken for repeated", lost < 0.01 ? "fewer than" : "about",
                lost < 10 ? count : umbel_count_text((uint64_t)llround(lost), count));
    } else {
        fputs("how many new lines were lost cannot be estimated: every bit is set", to);
    }
    fprintf(to, ", in %s", umbel_size_text(u->loss.info.bytes, size));
    cli_sentence_end(to);
}

/* Recursive, because an error may occur anywhere while it is held. */
static void init_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* The filter itself or, if it does not take hashes, another with the same secret. */
static umbel_filter *hasher_for(umbel_filter *f, const cli_settings *s) {
    umbel_info info;
    umbel_describe(f, &info);
    return info.takes_hashes ? f : cli_hasher_new(s);
}

static int run(const cli_settings *s) {
    static uniq_run u; /* a thread may still be waiting for the lock when this returns */
    cli_refuse_as_input("-", s->args, s->nargs);
    cli_mode keep = s->mode[GROUP_KEEP];
    bool filters = keep == KEEP_FIRST || keep == KEEP_REPEATS;
    if (!filters || s->mode[GROUP_TALLY] != TALLY_NONE) return cli_uniq_counts(s);
    if (s->state) cli_refuse_as_input(s->state, s->args, s->nargs);
    u.s = s;
    u.repeats = keep == KEEP_REPEATS;
    u.keys_only = s->mode[GROUP_SHOW] == SHOW_KEYS;
    u.state = cli_uniq_state_open(s);
    umbel_filter *f = u.state.filter;
    u.watch = cli_add_job_new(f, s->state ? s->state : "uniq", s);
    u.watch.strict = false; /* add_within_plan sees to it */
    umbel_info info;
    umbel_describe(f, &info);
    /* A filter that grows keeps its promise: only the summary needs figures. */
    bool watching = !info.grows || !s->quiet || s->json || s->strict;
    cli_loss_begin(&u.loss, f, u.state.fresh, watching);
    if (!u.state.fresh && watching) warn_beyond_plan(&u, false);
    u.hasher = hasher_for(f, s);
    u.by_hash = u.hasher == f && (u.loss.sketching || s->threads > 1);
    umbel_recipe *recipe = cli_recipe_of(f, u.watch.name, s);
    if (strcmp(umbel_recipe_text(recipe), umbel_get_recipe(f)) != 0) {
        cli_die(u.watch.name, "its own options are applied without giving them; another --state",
                "its keys are made differently: %s", umbel_get_recipe(f));
    }
    umbel_recipe *recipes[] = {recipe, u.state.time};
    cli_feed feed = cli_feed_of(s, s->args, s->nargs, recipes);
    if (u.state.time) feed.nrecipes = 2;
    feed.numbered = u.state.time;
    bool failed = false;
    feed.failed = s->nargs > 1 ? &failed : NULL;
    feed.eager = true;
    feed.skips_missing = false;
    if (!s->quiet && !isatty(STDOUT_FILENO)) feed.activity = "uniq";
    feed.filling = f;
    feed.capacity = u.watch.capacity;
    if (s->state) cli_output_end_line(&u.out, feed.sep);
    cli_job job = {hash_keys, pass_new, &u};
    init_lock(&u.lock);
    cli_on_early_exit(save_before_exit, &u);
    save_while_reading(&u);
    cli_lines read = cli_pipeline(&feed, &job);
    pthread_mutex_lock(&u.lock); /* for good: from here on no signal interferes */
    if (u.loss.watching && measure(&u)) warn_of_rate(&u);
    if (u.warned_level) warn_beyond_plan(&u, true);
    save(&u);
    if (s->strict && u.loss.info.fpr > 0 && u.loss.now.rate > u.loss.info.fpr) {
        refuse_rate(&u, "exceeds the promised rate");
    }
    if (s->json) {
        summarise_json(&u, &read);
    } else if (!s->quiet) {
        summarise(&u, &read);
    }
    free(u.out.buffer);
    free(u.header.text);
    if (u.hasher != f) umbel_free(u.hasher);
    umbel_free(f);
    int status =
        cli_misfits_status(&read, recipe, u.keys_only ? "not printed" : "printed",
                           u.warned || u.warned_level || u.header.mixed ? CLI_INCOMPLETE : CLI_YES);
    if (u.state.time) status = cli_line_times_end(&u.times, status);
    umbel_recipe_free(u.state.time);
    umbel_recipe_free(recipe);
    return failed ? CLI_ERROR : status;
}

const cli_command cli_command_uniq = {
    .name = "uniq",
    .summary = "drop repeated lines from a stream, in little memory",
    .synopsis = "[-n KEYS] [-p RATE|-m SIZE] [--state FILTER] [OPTION]... [FILE]...",
    .examples = "# Unlike sort -u, it keeps the order and reads the input once\n"
                "umbel uniq -n 100M urls.txt > once.txt\n"
                "# A crawler that fetches nothing twice, across many runs\n"
                "extract-links | umbel uniq -n 1e9 --state seen.umb > to-fetch.txt\n"
                "# The last million keys of an endless stream\n"
                "tail -F events.log | umbel uniq --window 1M -k 3\n"
                "# Each alarm once a day, even across restarts\n"
                "tail -F alarms.log | umbel uniq --window 24h/1h -n 1M --state day.umb\n"
                "# The same for last week's log, by the time in its lines\n"
                "umbel uniq --window 24h/1h -n 1M -k 7 --time-key 4 access.log\n"
                "# The first line of each repeated key\n"
                "umbel uniq -d --csv --header -k customer orders.csv\n"
                "# How often each address occurs, and the ten most frequent\n"
                "umbel uniq -c -k 1 access.log\n"
                "tail -n 1000000 access.log | umbel uniq --top 10 -k 1 --only-matching\n",
    .text =
        "Lines whose key is new are printed immediately; of those, at most the promised share (-p, 0.1%) "
        "is mistaken for repeated and lost, however many keys come: the filter grows. With -m "
        "memory is fixed instead, and when more keys come than it was planned for, warnings and "
        "exit status 3 say how many lines are lost; --strict stops before. With --state the promise "
        "is for all runs together, and what was printed is remembered; with --window at least the "
        "last N keys, or those of the last DURATION, are remembered, and older ones count as new.\n\n"
        "Memory is also fixed with a --kind that does not grow and at rates below 1 in 100,000,000. "
        "Warnings come at 1, 2, 10, 100 ... times the promised rate, and when 0.1%, 1%, 10% and 50% "
        "of the new lines are lost.\n\n"
        "Without -n a filter that grows starts with room for a million keys (100,000 below 1 in "
        "10,000, where growing takes several times the memory of a fixed plan), one that does not is "
        "planned for 10 million; without -p the rate is 0.1%, and -m alone fixes for how many keys. "
        "If the number of keys is known, -n with --kind auto takes the least memory. How many lines "
        "were lost is estimated from the rate that each new line met or, when many are, from an "
        "independent count of the different keys. A line that does not have the field of -k is "
        "always printed.\n\n"
        "--window DURATION/STEP forgets by the clock: a key is remembered for DURATION after "
        "it was last seen, and forgotten at most one STEP later. DURATION is rounded up to "
        "whole steps, at most 255; units are s, m, h, d and w. -n is the maximum "
        "number of different keys within DURATION. A step with "
        "more than its share raises the rate: a warning, or an error with --strict. "
        "With --state, time continues between runs, and the state is saved after each "
        "step. If the clock is set back, nothing is forgotten.\n\n"
        "--time-key makes the time in the lines that clock, so that last week's log gives what it "
        "would have given last week. Times are RFC 3339 (2026-11-19 21:42:06 as well; without a zone "
        "it is UTC), 19/Nov/2026:21:42:06 +0000, or seconds since 1970 (13, 16 or 19 digits: milli-, "
        "micro- or nanoseconds). A line without a time, or a late one, has the latest time before it; "
        "those without, and those more than a step late, cause a warning and exit status 3. The state "
        "keeps the option, and is saved at the end and by --save-every.\n\n"
        "-c prints, before the first line of each key, how often the key occurs in all the input, "
        "in order of first occurrence and in the format of uniq(1). -d prints the first line of each key "
        "that is repeated, -D all lines of such keys, -u the lines of keys that are not; -c goes with -d "
        "and -u. Files are read twice, and a pipe is kept in a file in between (--tmp). Nothing is "
        "lost or printed wrongly: a table takes 20 to 40 bytes per key (half as much again while "
        "it grows), and counts are exact unless two keys have the same 64-bit hash, once in 400,000 "
        "runs of 10 million keys; every run draws a secret for its hashes. --top N prints the N most "
        "frequent keys, the most frequent first, from 65,536 counters, or 64 N if that is more. "
        "With more keys than counters, counts may be too high, by at most lines / "
        "counters, and are printed as LOW-HIGH: the truth lies in between. A warning and exit "
        "status 3 say if a line may not belong to the top N.\n\n"
        "--repeats prints the other lines, as an endless stream goes by: each but the first of its key. "
        "New lines that are mistaken for repeated ones, which are lost otherwise, are printed.\n\n"
        "--state keeps the filter for the next run. It is replaced in one step after all "
        "lines have been written, even if an error or SIGHUP, SIGINT or SIGTERM ends the run. "
        "If the output cannot be written, or after SIGKILL, the previous state remains: lines since "
        "then are printed again, and none is lost. The same holds after a power failure if standard "
        "output is a regular file, which is synced before the state is saved. In a pipe a "
        "line counts as printed: if its reader loses it, it is not printed again. Commands that "
        "change one file take turns: a second run with the same --state waits, and says so.",
    .exits = CLI_EXITS_LINES,
    .prints_lines = true,
    .options = options,
    .run = run,
};
