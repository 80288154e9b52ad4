/* SPDX-License-Identifier: MIT
 *
 * summary.c - a filter in one line or in full detail
 */
#define _POSIX_C_SOURCE 200809L
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/safe_text.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "filter/filter_state.h"
#include "options/filter_options.h"
#include "umbel_experimental.h"
#include "umbel_recipe.h"
#include "umbel_text.h"

static bool is_estimated(const umbel_health *health) {
    return llround(health->keys_error) != 0;
}

/* For people, an estimate is rounded to the digits that its error leaves. */
static uint64_t shown(double value, double error) {
    double unit = 1;
    while (unit * 10 <= error) unit *= 10;
    return (uint64_t)llround(round(value / unit) * unit);
}

static double bits_per_key(const umbel_info *info, const umbel_health *health) {
    return health->keys > 0.5 ? (double)info->bits / round(health->keys) : 0;
}

char *cli_keys_text(const umbel_health *health, char *out) {
    char keys[UMBEL_QUANTITY];
    if (health->keys_known) {
        snprintf(out, UMBEL_QUANTITY, "%s%s", is_estimated(health) ? "about " : "",
                 cli_count_noun(shown(health->keys, health->keys_error), "key", keys));
    } else {
        snprintf(out, UMBEL_QUANTITY, "an unknown number of keys");
    }
    return out;
}

static void summarise_lines(const cli_lines *read, FILE *to) {
    char count[UMBEL_QUANTITY];
    fprintf(to, "%s, ", cli_count_noun(read->count, "line", count));
    if (read->nothing.count) {
        fprintf(to, "%s of them without the field and skipped, ",
                umbel_count_text(read->nothing.count, count));
    }
    if (read->malformed.count) {
        fprintf(to, "%s of them malformed and skipped, ",
                umbel_count_text(read->malformed.count, count));
    }
}

/* Whether the filter is never wrong about a universe of known keys. Its rate is then that of all
 * other keys, and must never be shown without saying so. */
static bool knows_universe(const umbel_info *info) {
    umbel_traits traits;
    return umbel_kind_traits(info->kind, &traits) && traits.universe;
}

static const char *exact_text(const umbel_info *info, double rate, char *text, size_t cap) {
    char keys[UMBEL_QUANTITY], others[UMBEL_QUANTITY];
    uint64_t known = info->universe > UINT64_MAX - info->keys_added
                         ? UINT64_MAX
                         : info->universe + info->keys_added;
    snprintf(text, cap, "%s known key%s, %s for others", umbel_count_text(known, keys),
             known == 1 ? "" : "s", umbel_rate_text(rate, others));
    return text;
}

void cli_summary(const umbel_filter *f, const cli_settings *s, const cli_lines *read) {
    bool to_stdout = s->output && strcmp(s->output, "-") == 0;
    if (s->json) {
        cli_report r = cli_report_begin(true);
        cli_report_text(&r, NULL, "file", s->output ? s->output : s->args[0]);
        if (read) cli_report_lines(&r, read);
        cli_describe(&r, f);
    }
    if (s->json || s->quiet) return;
    cli_state state = cli_state_of(f);
    const umbel_info *info = &state.info;
    char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], now[CLI_RATE_NOW];
    char each[UMBEL_QUANTITY + 16] = "";
    char promised[UMBEL_QUANTITY + 16] = "";
    if (info->fpr > 0) {
        char rate[UMBEL_QUANTITY];
        bool native = info->format == UMBEL_FMT_NATIVE; /* others round what was asked for */
        bool asked = !native && s->fpr > 0;
        snprintf(promised, sizeof promised, ", %s %s",
                 native  ? "promised"
                 : asked ? "asked for"
                         : "planned",
                 umbel_rate_text(asked ? s->fpr : info->fpr, rate));
    }
    FILE *to = cli_sentence();
    cli_print_safe(to, "%s: ", s->output ? s->output : s->args[0]);
    if (read) summarise_lines(read, to);
    struct stat st;
    char file[UMBEL_QUANTITY], takes[UMBEL_QUANTITY + 16] = "";
    if (!to_stdout && stat(s->output ? s->output : s->args[0], &st) == 0 && S_ISREG(st.st_mode) &&
        (double)st.st_size > 1.5 * (double)info->bytes) {
        snprintf(takes, sizeof takes, ", a file of %s",
                 umbel_size_text((uint64_t)st.st_size, file));
    }
    double bits = bits_per_key(info, &state.health);
    char number[UMBEL_QUANTITY];
    if (bits > 0) snprintf(each, sizeof each, " (%s bits per key)", cli_real_text(bits, 1, number));
    fprintf(to, "%s in %s%s%s, %s", cli_keys_text(&state.health, keys),
            umbel_size_text(info->bytes, size), each, takes, umbel_kind_name(info->kind));
    if (knows_universe(info)) {
        char exact[4 * UMBEL_QUANTITY];
        fprintf(to, " for %s", exact_text(info, state.now.rate, exact, sizeof exact));
    } else {
        fprintf(to, "; false-positive rate %s%s", cli_rate_now_text(&state.health, now), promised);
    }
    cli_sentence_end(to);
}

static void describe_meta(cli_report *r, const umbel_filter *f) {
    const char *name, *value;
    json_t *o = json_object();
    for (size_t i = 0; umbel_meta_at(f, i, &name, &value); i++) {
        enum { SHOWN = 60 };
        char label[64], text[SHOWN + UMBEL_QUANTITY];
        snprintf(label, sizeof label, "meta %.48s", name);
        snprintf(text, sizeof text, "%.*s... (%zu bytes)", SHOWN, value, strlen(value));
        cli_report_text(r, label, NULL, strlen(value) > 4 * SHOWN ? text : value);
        json_object_set_new(o, name, cli_json_text(value));
    }
    cli_report_json(r, "meta", o);
}

/* A window forgets, so it is never full. */
static void describe_window(cli_report *r, const umbel_filter *f, const umbel_info *info) {
    umbel_clock clock;
    if (umbel_get_clock(f, &clock, NULL) || !clock.step) {
        cli_report_count(r, "remembers the last", "capacity", info->capacity);
        return;
    }
    char duration[UMBEL_QUANTITY], step[UMBEL_QUANTITY], text[3 * UMBEL_QUANTITY];
    snprintf(text, sizeof text, "%s, in steps of %s",
             umbel_duration_text(clock.step * clock.generations, duration),
             umbel_duration_text(clock.step, step));
    cli_report_text(r, "remembers the last", NULL, text);
    cli_report_count(r, "planned for", "capacity", info->capacity);
}

/* In JSON, unknown is null. */
static void describe_keys(cli_report *r, const umbel_health *health) {
    char text[3 * UMBEL_QUANTITY], keys[UMBEL_QUANTITY], error[UMBEL_QUANTITY];
    if (!health->keys_known) {
        cli_report_text(r, "keys", NULL, "unknown: every bit is set");
        cli_report_json(r, "keys", json_null());
        cli_report_json(r, "keys_error", json_null());
        return;
    }
    double doubt = health->keys_error;
    snprintf(text, sizeof text, is_estimated(health) ? "about %s, give or take %s" : "%s",
             umbel_count_text(shown(health->keys, doubt), keys),
             umbel_count_text(shown(doubt, doubt), error));
    cli_report_text(r, "keys", NULL, text);
    cli_report_json(r, "keys", cli_json_count((uint64_t)llround(health->keys)));
    cli_report_json(r, "keys_error", cli_json_real(doubt));
}

void cli_report_rate_now(cli_report *r, const char *label, const umbel_health *health) {
    char text[CLI_RATE_NOW];
    cli_report_text(r, label, NULL, cli_rate_now_text(health, text));
    cli_report_json(r, "fpr_now", cli_json_real(health->rate));
    if (health->rate_below > 0) {
        cli_report_json(r, "fpr_below", cli_json_real(health->rate_below));
    }
}

static void describe_load(cli_report *r, const umbel_filter *f, const cli_state *s) {
    const umbel_info *info = &s->info;
    const umbel_measurement *now = &s->now;
    describe_keys(r, &s->health);
    cli_report_count(r, NULL, "keys_added", info->keys_added);
    double fill = info->bits ? (double)now->bits_set / (double)info->bits : 0;
    char text[32];
    snprintf(text, sizeof text, "%.1f%% of the bits", 100 * fill);
    cli_report_text(r, "fill", NULL, text);
    cli_report_json(r, "fill", cli_json_real(fill));
    cli_report_count(r, NULL, "bits_set", now->bits_set);
    bool exact = knows_universe(info);
    if (exact) {
        char known[4 * UMBEL_QUANTITY];
        cli_report_text(r, "exact for", NULL, exact_text(info, now->rate, known, sizeof known));
        cli_report_count(r, NULL, "universe", info->universe);
    }
    cli_report_rate_now(r, exact ? "rate for others" : "rate now", &s->health);
    if (info->fpr > 0) cli_report_rate(r, "rate promised", "fpr", info->fpr);
    if (cli_alike_fails(s)) {
        cli_report_rate(r, "rate of like keys", "fpr_alike", now->rate_alike);
        cli_report_text(r, "warning", NULL,
                        "the format's hash hardly tells keys like those in it apart");
    }
    if (info->exceptions) {
        cli_report_count(r, "exceptions", "exceptions", info->exceptions);
        cli_report_flag(r, NULL, "outdated", info->outdated);
        if (info->outdated) {
            cli_report_text(r, "warning", NULL,
                            "keys were added after the exceptions were found: build it again");
        }
    }
    if (!info->capacity) return;
    if (info->kind == UMBEL_KIND_WINDOW) {
        describe_window(r, f, info);
        return;
    }
    cli_report_count(r, "planned for", "capacity", info->capacity);
    if (!info->grows) {
        cli_report_count(r, "room left", "headroom", s->health.room);
        if (s->health.overfull) cli_report_text(r, "warning", NULL, cli_overfull_text(s));
    }
    cli_report_flag(r, NULL, "overfull", s->health.overfull);
}

/* Identifies the secret without revealing it. */
static void describe_secret(cli_report *r, const umbel_info *info) {
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, info->fingerprint);
    if (info->fingerprint) cli_report_text(r, "keyed, fingerprint", "fingerprint", text);
    cli_report_flag(r, NULL, "keyed", info->fingerprint != 0);
}

void cli_describe(cli_report *r, const umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    cli_report_text(r, "kind", "kind", umbel_kind_name(info.kind));
    cli_report_text(r, "format", "format", umbel_format_name(info.format));
    cli_report_text(r, "layout", "layout", info.layout);
    cli_report_count(r, "hashes", "hashes", info.hashes);
    if (info.layers > 1 || info.grows) cli_report_count(r, "layers", "layers", info.layers);
    cli_report_flag(r, NULL, "grows", info.grows);
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, info.seed);
    cli_report_text(r, "seed", NULL, seed);
    cli_report_json(r, "seed", cli_json_count(info.seed));
    describe_secret(r, &info);
    cli_report_size(r, "size", "bytes", info.bytes);
    cli_report_count(r, NULL, "bits", info.bits);
    if (r->to) fflush(r->to); /* what follows reads all bits */
    cli_state state = cli_state_of(f);
    double each = bits_per_key(&info, &state.health);
    if (each > 0) cli_report_real(r, "bits per key", "bits_per_key", each, 2);
    char own[128]; /* gocrc32's String() and the like */
    if (umbel_text(f, own, sizeof own, NULL) == UMBEL_OK) {
        cli_report_text(r, "as text", "text", own);
    }
    describe_load(r, f, &state);
    cli_report_text(r, "recipe", "recipe", umbel_get_recipe(f));
    describe_meta(r, f);
}
