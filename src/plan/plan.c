/* SPDX-License-Identifier: MIT
 *
 * plan.c - the planner's entry: checks the request and chooses a kind for UMBEL_KIND_AUTO
 */
#include "plan/plan.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/platform.h"
#include "plan/plan_model.h"

/* Filters would have different sizes on different machines. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "doubles are computed with more than 53 bits here; with gcc add -msse2 -mfpmath=sse"
#endif

/* Why AUTO chose what it did. */
#define WHY_BLOCKED "one cache line per key; line would be slower in the cache and save little"
#define WHY_BLOCKED_LARGE "one cache line per key; line would save nothing"
#define WHY_LINE "one cache line per key, in clearly less memory than blocked"
#define WHY_LINE_LARGE "one cache line per key, as fast as blocked beyond the caches, and smaller"
#define WHY_CLASSIC "at least 25% smaller than with one cache line per key"
#define WHY_ONLY "the only kind that takes adds and can do this"

#define ADDRESS(name) &umbeli_model_##name,
static const umbeli_model *const models[] = {UMBELI_KINDS(ADDRESS)};
#undef ADDRESS

static const umbeli_model *model_of(umbel_kind kind) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (models[i]->id == kind) return models[i];
    }
    return NULL;
}

/* A kind's answer to a request. */
typedef struct answer {
    const umbeli_model *model;
    umbel_plan plan;
    umbel_err err;
} answer;

static answer ask(const umbeli_model *model, const umbel_plan *asked) {
    answer a = {.model = model, .plan = *asked};
    a.err = umbeli_model_solve(model, &a.plan);
    return a;
}

/* Bytes that a kind needs for the capacity and fpr of a solved plan; 0: not possible. */
static double bytes_for(const answer *a, const umbel_plan *asked, const umbel_plan *promise) {
    if (asked->bytes == 0) return a->err ? 0.0 : (double)a->plan.bytes; /* the same promise */
    answer least = ask(
        a->model,
        &(umbel_plan){.capacity = promise->capacity, .fpr = promise->fpr, .hashes = asked->hashes});
    return least.err ? 0.0 : (double)least.plan.bytes;
}

/* How many times as many bytes `a` needs as `b` for the promise of this solved plan. */
static double ratio(const answer *a, const answer *b, const umbel_plan *asked,
                    const umbel_plan *promise) {
    return bytes_for(a, asked, promise) / bytes_for(b, asked, promise);
}

/* What lines must save.  In the cache they take up to 1.5 times as long as blocks of half a line,
 * and a few kilobytes do not matter; beyond it memory decides, and a line is one access either way.
 * Measured: docs/notes/kinds.md, Line. */
static double least_ratio(uint64_t bytes) {
    const uint64_t second_level = 1024 * 1024, last_level = 32 * second_level;
    return bytes <= second_level ? 1.12 : bytes <= last_level ? 1.06 : 1.02;
}

/* Blocked or line; if only one is possible, that one. */
static const answer *choose_fast(const answer *blocked, const answer *line, const umbel_plan *asked,
                                 const char **why) {
    double least = line->err ? HUGE_VAL : least_ratio(line->plan.bytes);
    bool lines =
        blocked->err || (!line->err && ratio(blocked, line, asked, &blocked->plan) >= least);
    bool large = least < 1.05;
    *why = blocked->err || line->err ? WHY_ONLY
           : lines                   ? (large ? WHY_LINE_LARGE : WHY_LINE)
                                     : (large ? WHY_BLOCKED_LARGE : WHY_BLOCKED);
    return lines ? line : blocked;
}

static umbel_err settle(umbel_plan *plan, const answer *a, const char *why) {
    *plan = a->plan;
    if (!a->err) plan->why = why;
    return a->err;
}

static umbel_err solve_fast(umbel_plan *plan) {
    const answer blocked = ask(&umbeli_model_blocked, plan), line = ask(&umbeli_model_line, plan);
    const char *why;
    const answer *fast = choose_fast(&blocked, &line, plan, &why);
    return settle(plan, fast, why);
}

/* With one cache line per key a filter is several times faster than classic: that is worth up to a
 * third more memory. */
static umbel_err solve_auto(umbel_plan *plan) {
    const double quarter_less = 0.75;
    const umbel_plan asked = *plan;
    const answer blocked = ask(&umbeli_model_blocked, plan), line = ask(&umbeli_model_line, plan);
    const answer classic = ask(&umbeli_model_classic, plan);
    const char *why;
    const answer *fast = choose_fast(&blocked, &line, &asked, &why);
    if (fast->err) return settle(plan, &classic, WHY_ONLY);
    if (classic.err || ratio(&classic, fast, &asked, &fast->plan) > quarter_less) {
        return settle(plan, fast, why);
    }
    if (!line.err && ratio(&classic, &line, &asked, &line.plan) > quarter_less) {
        return settle(plan, &line, WHY_LINE);
    }
    return settle(plan, &classic, WHY_CLASSIC);
}

static umbel_err solve(umbel_plan *plan, umbel_err (*choose)(umbel_plan *plan)) {
    int given = (plan->capacity != 0) + (plan->fpr != 0.0) + (plan->bytes != 0);
    bool only_exact = plan->universe && plan->kind == UMBEL_KIND_AUTO;
    const umbeli_model *model = only_exact ? &umbeli_model_exact : model_of(plan->kind);
    if (plan->kind != UMBEL_KIND_AUTO && model == NULL) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BAD_KIND, "kind: no such kind");
    }
    if (plan->fpr != 0.0 && !(plan->fpr > 0.0 && plan->fpr < 1.0)) { /* also NaN */
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BAD_RATE,
                                   "fpr: must be between 0 and 1, exclusive, such as 0.01");
    }
    if (plan->universe && model != &umbeli_model_exact) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BAD_KIND,
                                   "universe: only exact filters are built against one");
    }
    if (given < 2 && !(plan->universe && plan->capacity)) {
        return umbeli_plan_verdict(
            plan, UMBEL_PLAN_UNDERDETERMINED,
            "give at least two of capacity, fpr and bytes; 0 means not given");
    }
    return model ? umbeli_model_solve(model, plan) : choose(plan);
}

typedef umbel_err (*chooser)(umbel_plan *plan);

/* A request and its answer.  A program that makes thousands of filters asks for few different
 * plans, and solving one takes longer than making and filling a small filter. */
typedef struct solved {
    chooser choose;
    umbel_plan asked, answer;
    umbel_err err;
} solved;

static solved *remembered(const umbel_plan *asked) {
    static UMBELI_PER_THREAD solved last[4];
    uint64_t rate;
    memcpy(&rate, &asked->fpr, sizeof rate);
    return &last[umbel_mix(asked->capacity ^ asked->bytes ^ rate) % (sizeof last / sizeof *last)];
}

static bool is_same(const umbel_plan *a, const umbel_plan *b) {
    return a->kind == b->kind && a->hashes == b->hashes && a->capacity == b->capacity &&
           a->fpr == b->fpr && a->bytes == b->bytes && a->generations == b->generations &&
           a->universe == b->universe;
}

static umbel_err solve_by(umbel_plan *plan, chooser choose) {
    solved *s = remembered(plan);
    if (s->choose == choose && is_same(&s->asked, plan)) {
        *plan = s->answer;
        return s->err;
    }
    const umbel_plan asked = *plan;
    plan->bits = 0;
    plan->rate = plan->bits_per_key = plan->bound = 0.0;
    if (plan->capacity != 0 && plan->bytes != 0) {
        plan->bits_per_key = (double)plan->bytes * 8.0 / (double)plan->capacity;
        plan->bound = umbeli_bound_rate((double)plan->bytes * 8.0, plan->capacity);
    }
    int saved = errno; /* set when a rate underflows */
    umbel_err e = solve(plan, choose);
    errno = saved;
    *remembered(&asked) = (solved){choose, asked, *plan, e};
    return e;
}

umbel_err umbeli_plan_solve(umbel_plan *plan) {
    return solve_by(plan, solve_auto);
}

umbel_err umbeli_plan_concurrent(umbel_plan *plan) {
    return solve_by(plan, solve_fast);
}

double umbeli_plan_rate(const umbel_plan *plan, uint64_t keys) {
    const umbeli_model *model = model_of(plan->kind);
    if (model == NULL || plan->bits == 0) return 1.0;
    if (keys == 0) return 0.0;
    int saved = errno;
    double rate = model->rate_after ? model->rate_after(plan, keys)
                                    : model->rate(plan->bits / 8, plan->hashes, keys);
    errno = saved;
    return rate;
}

double umbeli_bound_rate(double bits, uint64_t keys) {
    return keys == 0 ? 0.0 : exp2(-bits / (double)keys);
}

double umbeli_bound_bits(uint64_t keys, double fpr) {
    return -log2(fpr) * (double)keys;
}
