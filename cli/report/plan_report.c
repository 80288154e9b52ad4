/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "report/plan_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "options/filter_options.h"
#include "umbel_plan.h"

const double cli_curve[CLI_CURVE] = {0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4};

static const double default_rate = 0.01;

/* Better in what is computed: the rate, the bytes or the keys. */
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

/* In bytes if both sizes would otherwise look the same. */
static char *size_beside(uint64_t bytes, uint64_t other, char *out) {
    char other_text[UMBEL_QUANTITY];
    if (strcmp(umbel_size_text(bytes, out), umbel_size_text(other, other_text)) != 0) return out;
    return cli_count_noun(bytes, "byte", out);
}

/* What these keys would need with this kind, and how many fit the space. */
static void print_alternatives(const cli_settings *s, umbel_kind kind, double target) {
    char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY], space[UMBEL_QUANTITY];
    umbel_plan need = {.kind = kind, .capacity = s->keys, .fpr = target};
    umbel_plan hold = {.kind = kind, .bytes = s->bytes, .fpr = target};
    umbel_rate_text(target, rate);
    if (umbel_plan_solve(&need, NULL) == UMBEL_OK) {
        cli_print_sentence("With %s, these keys take %s at %s.", umbel_kind_name(kind),
                           size_beside(need.bytes, s->bytes, size), rate);
    }
    if (umbel_plan_solve(&hold, NULL) == UMBEL_OK) {
        cli_print_sentence("With %s, %s holds %s at %s.", umbel_kind_name(kind),
                           umbel_size_text(s->bytes, space),
                           cli_count_noun(hold.capacity, "key", keys), rate);
    }
}

/* For -n and -m: the rate, compared with -p or 1%. */
static void print_rate(const cli_settings *s, const cli_plans *p) {
    char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY], bound[UMBEL_QUANTITY];
    double bits = 8.0 * (double)s->bytes / (double)s->keys;
    cli_print_sentence("%s in %s is %.*f bits per key.", cli_count_noun(s->keys, "key", keys),
                       umbel_size_text(s->bytes, size), bits < 10 ? 2 : 1, bits);
    cli_print_sentence("No filter of any kind can have a false-positive rate below %s there.",
                       umbel_rate_text(exp2(-bits), bound));
    const umbel_plan *best = best_of(s, p, false), *open = best_of(s, p, true);
    if (best) {
        cli_print_sentence("%s%s gets %s.", p->count > 1 ? "Of the kinds here, " : "",
                           umbel_kind_name(best->kind), umbel_rate_text(best->rate, rate));
    }
    if (open && open != best) {
        cli_print_sentence("If keys must be added later, %s gets %s.", umbel_kind_name(open->kind),
                           umbel_rate_text(open->rate, rate));
    }
    double target = s->fpr > 0 ? s->fpr : default_rate;
    umbel_rate_text(target, rate);
    if (best && best->rate <= target) {
        if (s->fpr > 0) cli_print_sentence("%s is possible.", rate);
        return;
    }
    if (exp2(-bits) > target) {
        cli_print_sentence("No filter of any kind can reach %s in that space.", rate);
    } else if (p->count == 1) {
        cli_print_sentence("%s does not reach %s in that space.",
                           umbel_kind_name(p->at[0].plan.kind), rate);
    } else {
        cli_print_sentence("None of the kinds here reaches %s in that space.", rate);
    }
    if (p->count == 1) {
        print_alternatives(s, p->at[0].plan.kind, target);
    } else {
        print_alternatives(s, UMBEL_KIND_TIGHT, target);
        print_alternatives(s, UMBEL_KIND_CLASSIC, target);
    }
}

static void print_size(const cli_settings *s) {
    char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY];
    double bits = -log2(s->fpr);
    cli_print_sentence(
        "%s at a false-positive rate of %s: no filter of any kind can take less than %s "
        "(%.2f bits per key).",
        cli_count_noun(s->keys, "key", keys), umbel_rate_text(s->fpr, rate),
        umbel_size_text((uint64_t)ceil(bits * (double)s->keys / 8), size), bits);
}

/* For --universe: how many choices of the members there are, as bits. */
static void print_universe(const cli_settings *s, const umbel_plan *plan) {
    char keys[UMBEL_QUANTITY], known[UMBEL_QUANTITY], size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY];
    double n = (double)plan->capacity, others = (double)s->universe;
    double bits = (lgamma(n + others + 1) - lgamma(n + 1) - lgamma(others + 1)) / log(2);
    cli_print_sentence(
        "%s among %s that are known: no filter without a wrong answer for any of them can take "
        "less than %s (%.2f bits per key).",
        cli_count_noun(plan->capacity, "key", keys),
        umbel_count_text(plan->capacity + s->universe, known),
        umbel_size_text((uint64_t)ceil(bits / 8), size), bits / n);
    cli_print_sentence("Other keys are found at a rate of %s.", umbel_rate_text(plan->rate, rate));
}

static void print_keys(const cli_settings *s) {
    char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY];
    double max = 8.0 * (double)s->bytes / -log2(s->fpr);
    cli_print_sentence(
        "%s at a false-positive rate of %s: no filter of any kind can hold more than %s.",
        umbel_size_text(s->bytes, size), umbel_rate_text(s->fpr, rate),
        max < 1e18 ? cli_count_noun((uint64_t)max, "key", keys) : "1e18 keys");
}

/* For a column of this width. */
static char *narrow_count(uint64_t count, int width, char *out) {
    bool fits = (int)strlen(umbel_count_text(count, out)) <= width;
    return fits ? out : umbel_short_count((double)count, out);
}

/* Then a table would only repeat the reason for every kind. */
static bool is_below_bound(const cli_plans *p) {
    for (size_t i = 0; i < p->count; i++) {
        if (p->at[i].possible || p->at[i].plan.verdict != UMBEL_PLAN_BELOW_BOUND) return false;
    }
    return true;
}

/* Half of the sizes that a format gives may be unlucky ones. */
static void print_alike(const cli_settings *s, const umbel_plan *plan) {
    cli_filter_params params = cli_params_of(s);
    char rate[UMBEL_QUANTITY], avoided[CLI_AVOIDED];
    cli_print_sentence(
        "Keys of one form, such as user1@host1, user2@host2, may reach about %s: the format's hash "
        "hardly tells them apart where the number of bits is even%s.",
        umbel_rate_text(plan->rate_alike, rate),
        cli_alike_avoided(cli_foreign_params(&params), avoided));
}

static const char *purpose_of(umbel_kind kind) {
    umbel_traits traits;
    return umbel_kind_traits(kind, &traits) ? traits.purpose : "";
}

static void table(const cli_settings *s, const cli_plans *p) {
    enum { KIND = 10 };
    bool format = p->chosen.format; /* one row, of a system that makes one kind */
    if (!format) putchar('\n');
    int name = format ? 10 : 8, counts = 21 - name; /* formats have longer names */
    int width = cli_width(stdout);
    bool wide = width >= 60, purposes = !format && width >= 80;
    /* Narrow tables leave out what was given: the number of keys, or the size. */
    bool keys_shown = wide || !s->keys, size_shown = wide || s->keys;
    if (!wide) counts = 19 - name;
    if (!wide && size_shown) name = 10;
    printf("%-*s", name, format ? "format" : "kind");
    if (keys_shown) printf(" %*s", counts, "keys");
    if (size_shown) printf(" %9s", "size");
    printf(" %8s", "bits/key");
    if (wide) printf(" %6s", "hashes");
    printf(" %9s%s\n", "rate", purposes ? "  for" : "");
    for (size_t i = 0; i < p->count; i++) {
        const umbel_plan *x = &p->at[i].plan;
        const char *kind = p->at[i].format ? p->at[i].format : umbel_kind_name(x->kind);
        char keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY], why[500];
        if (!p->at[i].possible) {
            char reason[520];
            snprintf(reason, sizeof reason, "impossible: %s",
                     cli_in_options(x->why, why, sizeof why));
            printf("%-*s", KIND, kind);
            cli_wrapped(reason, KIND, KIND, stdout);
            continue;
        }
        printf("%-*s", name, kind);
        if (keys_shown) printf(" %*s", counts, narrow_count(x->capacity, counts, keys));
        if (size_shown) printf(" %9s", umbel_size_text(x->bytes, size));
        printf(" %8.2f", x->bits_per_key);
        if (wide) printf(" %6u", x->hashes);
        printf(" %9s%s%s\n", cli_narrow_rate(x->rate, rate), purposes ? "  " : "",
               purposes ? purpose_of(x->kind) : "");
        if (x->verdict) {
            cli_print_sentence("It cannot do better: %s.", cli_in_options(x->why, why, sizeof why));
        }
        if (x->rate_alike > 0) print_alike(s, x);
        if (x->caution) cli_print_sentence("%s.", x->caution);
    }
    if (p->chosen.possible && p->count > 1) {
        cli_print_sentence("Without --kind, umbel build makes a %s filter: %s.",
                           umbel_kind_name(p->chosen.plan.kind), p->chosen.plan.why);
    }
}

double cli_plan_name_rate(const umbel_plan *plan, int labels) {
    return fmin(1, labels * plan->rate);
}

static void print_names(const umbel_plan *plan) {
    char two[UMBEL_QUANTITY], four[UMBEL_QUANTITY];
    cli_print_sentence(
        "A name is asked with each of its parents, so its rate is at most %s with 2 labels, %s "
        "with 4.",
        umbel_rate_text(cli_plan_name_rate(plan, 2), two),
        umbel_rate_text(cli_plan_name_rate(plan, 4), four));
}

static void scale_row(const char *what, const char *size, const char *note) {
    bool below = cli_width(stdout) < 80;
    printf("%-26s %10s%s", what, size, below ? "\n  " : "  ");
    cli_wrapped(note, below ? 2 : 39, 2, stdout);
}

/* What the keys would cost without a filter.  A set of b-bit hashes also errs, at n / 2^b. */
static void for_scale(uint64_t keys) {
    static const struct {
        const char *what;
        int bytes;
    } sets[] = {{"hash set of 4-byte hashes", 4}, {"hash set of 8-byte hashes", 8}};
    puts("\nFor scale");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY];
        double n = (double)keys, wrong = -expm1(n * log1p(-exp2(-8.0 * sets[i].bytes)));
        char note[UMBEL_QUANTITY + 32];
        snprintf(note, sizeof note, "plus gaps; still wrong for %s", cli_narrow_rate(wrong, rate));
        scale_row(sets[i].what, umbel_size_text(keys * (uint64_t)sets[i].bytes, size), note);
    }
    char size[UMBEL_QUANTITY];
    scale_row("bitmap", umbel_size_text(UINT64_C(1) << 29, size),
              "never wrong, but only for 32-bit integers");
}

void cli_plan_report_print(const cli_settings *s, const cli_plans *p) {
    if (p->chosen.format) {
        table(s, p);
        return;
    }
    if (s->universe && p->chosen.possible) {
        print_universe(s, &p->chosen.plan);
    } else if (s->keys && s->bytes) {
        print_rate(s, p);
    } else if (s->keys) {
        print_size(s);
    } else {
        print_keys(s);
    }
    if (!is_below_bound(p)) table(s, p);
    if (s->names && p->chosen.possible) print_names(&p->chosen.plan);
    const umbel_plan *best = best_of(s, p, false);
    uint64_t keys = s->keys ? s->keys : best ? best->capacity : 0;
    if (keys && keys < UINT64_MAX / 8) for_scale(keys);
}

/* ---- The plot: rates on a logarithmic axis, from 10^-decades to 1 ---- */

enum { BARS_USUAL = 48, BARS_MAX = 100, BARS_AT = 18, BESIDE_BARS = 32, USUAL_DECADES = 8 };

/* Cells for the longest bar; numbers and a word are next to it. */
static int bar_cells(void) {
    int width = cli_width(stdout);
    if (width <= BARS_USUAL + BESIDE_BARS) return width - BESIDE_BARS + (width < 60 ? 4 : 0);
    return width - BESIDE_BARS < BARS_MAX ? width - BESIDE_BARS : BARS_MAX;
}

/* A rate below the axis is still not zero: it gets the thinnest bar. */
static double cells_of(double rate, int decades) {
    return rate > 0 ? fmax(0.125, bar_cells() * (1 + log10(rate) / decades)) : 0;
}

/* The axis and the rates at its ticks, below the bars. */
static void axis(int decades) {
    char line[BARS_MAX + 1], labels[BARS_MAX + 16], label[UMBEL_QUANTITY];
    int bars = bar_cells(), room = bars + 4;
    bool blocks = cli_utf8();
    memset(line, '-', sizeof line);
    memset(labels, ' ', sizeof labels);
    line[bars] = labels[sizeof labels - 1] = '\0';
    for (int d = 0, end = 0; d <= decades; d++) {
        int at = d * bars / decades;
        if (at < bars) line[at] = '+';
        cli_narrow_rate(pow(10, d - decades), label);
        if (d == decades) snprintf(label, sizeof label, "100%%");
        int len = (int)strlen(label), from = at - len / 2 > 0 ? at - len / 2 : 0;
        if (from < end || from + len > room) continue;
        memcpy(labels + from, label, (size_t)len);
        end = from + len + 1;
    }
    printf("%*s", BARS_AT, "");
    for (int i = 0; i < bars; i++) {
        fputs(!blocks ? (char[2]){line[i], '\0'} : line[i] == '+' ? "┴" : "─", stdout);
    }
    for (size_t n = strlen(labels); n && labels[n - 1] == ' '; n--) labels[n - 1] = '\0';
    printf("\n%*s%s\n", BARS_AT, "", labels);
}

void cli_plan_report_plot(const umbel_plan *plan) {
    if (cli_is_built_once(plan->kind)) {
        putchar('\n');
        cli_print_sentence(
            "A filter of kind %s is built once, for the keys that it has: its rate does not change.",
            umbel_kind_name(plan->kind));
        return;
    }
    double rates[CLI_CURVE], lowest = 0.1;
    bool colours = cli_colours(STDOUT_FILENO);
    for (int i = 0; i < CLI_CURVE; i++) {
        rates[i] = umbel_plan_rate(plan, (uint64_t)(cli_curve[i] * (double)plan->capacity));
        if (rates[i] > 0) lowest = fmin(lowest, rates[i]);
    }
    /* Wide enough for the plan's own bar to be seen. */
    double wide = fmax(USUAL_DECADES, 2 - floor(log10(plan->fpr)));
    int decades = (int)fmin(wide, ceil(-log10(lowest)));
    putchar('\n');
    cli_print_sentence("False-positive rate of a %s filter with more and fewer keys than planned",
                       umbel_kind_name(plan->kind));
    for (int i = 0; i < CLI_CURVE; i++) {
        char rate[UMBEL_QUANTITY];
        /* Kept, missed, missed by far: 10 times and more. */
        const char *tint = rates[i] <= plan->fpr        ? "\033[32m"
                           : rates[i] <= 10 * plan->fpr ? "\033[33m"
                                                        : "\033[31m";
        printf("%5.2fx %9s  ", cli_curve[i], cli_narrow_rate(rates[i], rate));
        if (colours) fputs(tint, stdout);
        cli_bar(cells_of(rates[i], decades), stdout);
        if (colours) fputs("\033[0m", stdout);
        puts(cli_curve[i] == 1 ? " the plan" : "");
    }
    axis(decades);
}
