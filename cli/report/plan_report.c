/* SPDX-License-Identifier: MIT
 *
 * plan_report.c - plans as text, a table and a plot
 */
#include "report/plan_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options/filter_options.h"
#include "options/quantity.h"
#include "report/wrap.h"
#include "umbel_plan.h"

const double cli_curve[CLI_CURVE] = {0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4};

static const double default_rate = 0.01;

/* What each kind is for; a kind that is missing here is shown without a purpose. */
static const char *purpose(const char *kind) {
    static const char *const words[][2] = {
        {"blocked", "fast and general: one cache line per key"},
        {"classic", "the smallest that keys can be added to later"},
        {"static", "small and fast, built once from all keys"},
        {"counting", "keys can be removed"},
        {"scalable", "grows; for an unknown number of keys"},
        {"window", "remembers only the latest keys"},
        {"tight", "the smallest, built once from all keys"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], kind) == 0) return words[i][1];
    }
    return "";
}

/* Better in what is to be computed: the rate, the bytes or the keys. */
static bool better(const cli_settings *s, const umbel_plan *a, const umbel_plan *b) {
    if (s->keys && s->bytes) return a->rate < b->rate;
    return s->keys ? a->bytes < b->bytes : a->capacity > b->capacity;
}

/* The best of all kinds, or of those that can take keys later; NULL if no kind can do it. */
static const umbel_plan *best_of(const cli_settings *s, const cli_plans *p, bool mutable) {
    const umbel_plan *best = NULL;
    for (size_t i = 0; i < p->count; i++) {
        const umbel_plan *x = &p->at[i].plan;
        if (!p->at[i].possible || (mutable && cli_is_built_once(x->kind))) continue;
        if (!best || better(s, x, best)) best = x;
    }
    return best;
}

/* Sizes that look alike would contradict each other: then in bytes. */
static char *size_beside(uint64_t bytes, uint64_t other, char *out) {
    char beside[CLI_QUANTITY];
    if (strcmp(cli_size_text(bytes, out), cli_size_text(other, beside)) != 0) return out;
    return cli_count_noun(bytes, "byte", out);
}

/* What it would take with this kind, and how far the space goes. */
static void say_alternatives(const cli_settings *s, umbel_kind kind, double target) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], rate[CLI_QUANTITY], space[CLI_QUANTITY];
    umbel_plan need = {.kind = kind, .capacity = s->keys, .fpr = target};
    umbel_plan hold = {.kind = kind, .bytes = s->bytes, .fpr = target};
    cli_rate_text(target, rate);
    if (umbel_plan_solve(&need, NULL) == UMBEL_OK) {
        cli_say("With %s, these keys take %s at %s.", umbel_kind_name(kind),
                size_beside(need.bytes, s->bytes, size), rate);
    }
    if (umbel_plan_solve(&hold, NULL) == UMBEL_OK) {
        cli_say("With %s, %s holds %s at %s.", umbel_kind_name(kind),
                cli_size_text(s->bytes, space), cli_count_noun(hold.capacity, "key", keys), rate);
    }
}

/* -n and -m: the rate, and how far it is from 1% unless -p says otherwise. */
static void say_rate(const cli_settings *s, const cli_plans *p) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], rate[CLI_QUANTITY], bound[CLI_QUANTITY];
    double bits = 8.0 * (double)s->bytes / (double)s->keys;
    cli_say("%s in %s is %.*f bits per key.", cli_count_noun(s->keys, "key", keys),
            cli_size_text(s->bytes, size), bits < 10 ? 2 : 1, bits);
    cli_say("No filter of any kind can have a false-positive rate below %s there.",
            cli_rate_text(exp2(-bits), bound));
    const umbel_plan *best = best_of(s, p, false), *open = best_of(s, p, true);
    if (best) {
        cli_say("%s %s gets %s.", p->count > 1 ? "Of the kinds here," : "This one,",
                umbel_kind_name(best->kind), cli_rate_text(best->rate, rate));
    }
    if (open && open != best) {
        cli_say("If keys must be added later, %s gets %s.", umbel_kind_name(open->kind),
                cli_rate_text(open->rate, rate));
    }
    double target = s->fpr > 0 ? s->fpr : default_rate;
    cli_rate_text(target, rate);
    if (best && best->rate <= target) {
        if (s->fpr > 0) cli_say("%s is possible.", rate);
        return;
    }
    if (exp2(-bits) > target) {
        cli_say("No filter of any kind can reach %s in that space.", rate);
    } else if (p->count == 1) {
        cli_say("%s does not reach %s in that space.", umbel_kind_name(p->at[0].plan.kind), rate);
    } else {
        cli_say("None of the kinds here reaches %s in that space.", rate);
    }
    if (p->count == 1) {
        say_alternatives(s, p->at[0].plan.kind, target);
    } else {
        say_alternatives(s, UMBEL_KIND_TIGHT, target);
        say_alternatives(s, UMBEL_KIND_CLASSIC, target);
    }
}

static void say_size(const cli_settings *s) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], rate[CLI_QUANTITY];
    double bits = -log2(s->fpr);
    cli_say("%s at a false-positive rate of %s: no filter of any kind can take less than %s "
            "(%.2f bits per key).",
            cli_count_noun(s->keys, "key", keys), cli_rate_text(s->fpr, rate),
            cli_size_text((uint64_t)ceil(bits * (double)s->keys / 8), size), bits);
}

static void say_keys(const cli_settings *s) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], rate[CLI_QUANTITY];
    double max = 8.0 * (double)s->bytes / -log2(s->fpr);
    cli_say("%s at a false-positive rate of %s: no filter of any kind can hold more than %s.",
            cli_size_text(s->bytes, size), cli_rate_text(s->fpr, rate),
            max < 1e18 ? cli_count_noun((uint64_t)max, "key", keys) : "1e18 keys");
}

static void table(const cli_plans *p) {
    printf("\n%-10s %16s %10s %9s %6s %14s  %s\n", "kind", "keys", "size", "bits/key", "hashes",
           "rate", "for");
    for (size_t i = 0; i < p->count; i++) {
        const umbel_plan *x = &p->at[i].plan;
        const char *kind = p->at[i].format ? p->at[i].format : umbel_kind_name(x->kind);
        char keys[CLI_QUANTITY], size[CLI_QUANTITY], rate[CLI_QUANTITY];
        if (!p->at[i].possible) {
            printf("%-10s impossible: %s\n", kind, x->why);
            continue;
        }
        bool chosen = p->chosen.possible && p->chosen.plan.kind == x->kind && p->count > 1;
        printf("%-10s %16s %10s %9.2f %6u %14s  %s%s\n", kind, cli_count_text(x->capacity, keys),
               cli_size_text(x->bytes, size), x->bits_per_key, x->hashes,
               cli_rate_text(x->rate, rate), purpose(kind), chosen ? " (auto)" : "");
        if (x->verdict) printf("It cannot do better: %s.\n", x->why);
    }
}

/* What the same keys cost without a filter.  A set of b-bit hashes also errs, at n / 2^b. */
static void for_scale(uint64_t keys) {
    static const struct {
        const char *what;
        int bytes;
    } sets[] = {{"hash set of 4-byte hashes", 4}, {"hash set of 8-byte hashes", 8}};
    puts("\nFor scale");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char size[CLI_QUANTITY], rate[CLI_QUANTITY];
        double n = (double)keys, wrong = -expm1(n * log1p(-exp2(-8.0 * sets[i].bytes)));
        printf("%-26s %10s  plus pointers and gaps; still wrong for %s\n", sets[i].what,
               cli_size_text(keys * (uint64_t)sets[i].bytes, size), cli_rate_text(wrong, rate));
    }
    char size[CLI_QUANTITY];
    printf("%-26s %10s  never wrong, but only for 32-bit integers\n", "bitmap",
           cli_size_text(UINT64_C(1) << 29, size));
}

void cli_plan_report_print(const cli_settings *s, const cli_plans *p) {
    if (p->chosen.format) {
        table(p);
        return;
    }
    if (s->keys && s->bytes) {
        say_rate(s, p);
    } else if (s->keys) {
        say_size(s);
    } else {
        say_keys(s);
    }
    table(p);
    const umbel_plan *best = best_of(s, p, false);
    uint64_t keys = s->keys ? s->keys : best ? best->capacity : 0;
    if (keys && keys < UINT64_MAX / 8) for_scale(keys);
}

void cli_plan_report_plot(const umbel_plan *plan) {
    enum { WIDTH = 50 };
    double rates[CLI_CURVE], top = 0;
    for (int i = 0; i < CLI_CURVE; i++) {
        rates[i] = umbel_plan_rate(plan, (uint64_t)(cli_curve[i] * (double)plan->capacity));
        if (rates[i] > top) top = rates[i];
    }
    printf("\nFalse-positive rate of %s against keys, relative to the plan\n",
           umbel_kind_name(plan->kind));
    for (int i = 0; i < CLI_CURVE; i++) {
        char rate[CLI_QUANTITY];
        int bar = top > 0 ? (int)lround(WIDTH * rates[i] / top) : 0;
        printf("%5.2fx %18s  ", cli_curve[i], cli_rate_text(rates[i], rate));
        for (int j = 0; j < bar; j++) putchar('#');
        puts(cli_curve[i] == 1 ? "| the plan" : "");
    }
}
