/* SPDX-License-Identifier: MIT
 *
 * fuzz_plan.c - the planner: any numbers as input, and results that keep what umbel.h says
 *
 *   byte  what
 *   0     1: the format's plan and a filter, instead of umbel_plan_solve
 *   1     the kind; or the format plus 12 times the kind of native filters
 *   2     which of the numbers that follow are given, one bit each
 *   3..5  keys, bytes: this many bits fewer; the form of fpr
 *   6...  keys, fpr, bytes, then 32 bits each: hashes, generations, bits_per_key, variant,
 *         expansion, layers; zeros where the input ends
 */
#include <math.h>
#include <string.h>

#include "../support/any_filter.h"
#include "core/bytes.h"
#include "target.h"
#include "umbel_foreign.h"

enum { GIVES_KEYS = 1, GIVES_FPR = 2, GIVES_BYTES = 4, GIVES_HASHES = 8, GIVES_GENERATIONS = 16 };
enum { GIVES_BITS_PER_KEY = 32, GIVES_EXPANSION = 64, GIVES_LAYERS = 128 };
enum { KINDS = 10, FORMATS = 12, MAX_BYTES = 1 << 20 };

static double rate_of(uint8_t form, double raw, uint64_t bits) {
    switch (form % 4) {
    case 0: return raw;
    case 1: return ldexp(1.0, -(int)(bits % 1100));
    case 2: return (double)(bits % 1000000) / 1e6;
    default: return 1.0 / (1.0 + (double)bits);
    }
}

static any_params params_of(const uint8_t *bytes, size_t len) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    any_params p = {0};
    umbeli_take_u8(&r);
    unsigned which = umbeli_take_u8(&r), given = umbeli_take_u8(&r);
    unsigned keys_less = umbeli_take_u8(&r) % 64, bytes_less = umbeli_take_u8(&r) % 64;
    uint8_t form = umbeli_take_u8(&r);
    uint64_t keys = umbeli_take_u64le(&r) >> keys_less;
    uint64_t bits = 0;
    double raw = umbeli_take_f64le(&r);
    memcpy(&bits, &raw, sizeof bits);
    uint64_t size = umbeli_take_u64le(&r) >> bytes_less;
    uint32_t numbers[6];
    for (size_t i = 0; i < 6; i++) numbers[i] = umbeli_take_u32le(&r);
    p.native.kind = (umbel_kind)(bytes[0] & 1 ? which / FORMATS % KINDS : which % KINDS);
    p.foreign.format = (umbel_format)(which % FORMATS);
    if (given & GIVES_KEYS) p.native.capacity = p.foreign.capacity = keys;
    if (given & GIVES_FPR) p.native.fpr = p.foreign.fpr = rate_of(form, raw, bits);
    if (given & GIVES_BYTES) p.native.bytes = p.foreign.bytes = size;
    if (given & GIVES_HASHES) p.native.hashes = p.foreign.hashes = numbers[0];
    if (given & GIVES_GENERATIONS) p.native.window.generations = numbers[1];
    if (given & GIVES_BITS_PER_KEY) p.foreign.bits_per_key = numbers[2];
    p.foreign.variant = numbers[3];
    if (given & GIVES_EXPANSION) p.native.scalable.expansion = p.foreign.expansion = numbers[4];
    if (given & GIVES_LAYERS) p.native.scalable.max_layers = numbers[5];
    return p;
}

/* ---- umbel_plan_solve ---- */

static bool same_double(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void check_refused(const umbel_plan *asked, const umbel_plan *got) {
    insist(got->verdict != UMBEL_PLAN_OK && got->why && got->why[0], "a refusal has words");
    insist(got->kind == asked->kind && got->capacity == asked->capacity &&
               got->bytes == asked->bytes && same_double(got->fpr, asked->fpr),
           "a refused plan stays as it was");
}

static void check_solved(const umbel_plan *asked, const umbel_plan *got) {
    insist(got->verdict == UMBEL_PLAN_OK && got->why, "a solved plan says so");
    insist(umbel_kind_name(got->kind) && got->kind != UMBEL_KIND_AUTO, "it has a kind");
    insist(asked->kind == UMBEL_KIND_AUTO || asked->kind == got->kind, "the one asked for");
    insist(got->capacity > 0 && got->bytes > 0 && got->hashes > 0, "it has all numbers");
    insist(got->bits > 0 && got->bits / 8 <= got->bytes, "the bits fit the bytes");
    insist(got->fpr > 0 && got->fpr < 1, "it promises a rate");
    insist(got->rate >= 0 && got->rate <= got->fpr, "its mean keeps the promise");
    insist(got->bound >= 0 && got->bound <= 1, "the bound is a rate");
    insist(got->bits_per_key > 0 && isfinite(got->bits_per_key), "bits per key are a number");
    insist(!asked->capacity || asked->capacity == got->capacity, "given keys stay");
    insist(asked->fpr == 0 || got->fpr <= asked->fpr, "a given rate is kept");
    insist(!asked->bytes || got->bytes <= asked->bytes, "given bytes do");
    insist(!asked->hashes || asked->hashes == got->hashes, "given hashes stay");
}

static bool can(umbel_kind kind, const umbel_plan *like, uint64_t keys, double fpr,
                uint64_t bytes) {
    umbel_plan plan = {.kind = kind,
                       .capacity = keys,
                       .fpr = fpr,
                       .bytes = bytes,
                       .hashes = like->hashes,
                       .generations = like->generations};
    return umbel_plan_solve(&plan, NULL) == UMBEL_OK;
}

/* A solved plan can be requested again, and is the best of its kind. */
static void check_best(const umbel_plan *asked, const umbel_plan *got) {
    insist(can(got->kind, asked, got->capacity, got->fpr, got->bytes), "a solved plan is possible");
    insist(can(got->kind, got, got->capacity, got->fpr, got->bytes), "with its own hashes too");
    bool keys = asked->capacity != 0, fpr = asked->fpr != 0, bytes = asked->bytes != 0;
    if (keys && fpr && !bytes && got->bytes > 1 && got->kind != UMBEL_KIND_SCALABLE) {
        insist(!can(got->kind, asked, got->capacity, got->fpr, got->bytes - 1),
               "no fewer bytes do");
    }
    if (fpr && bytes && !keys && got->capacity < UINT64_MAX && got->kind != UMBEL_KIND_WINDOW) {
        insist(!can(got->kind, asked, got->capacity + 1, asked->fpr, asked->bytes),
               "no more keys fit");
    }
    if (keys && bytes && !fpr && got->fpr > 1e-290) {
        insist(!can(got->kind, asked, got->capacity, got->fpr * 0.999, asked->bytes),
               "no lower rate");
    }
}

static void check_rates(const umbel_plan *plan) {
    double none = umbel_plan_rate(plan, 0), half = umbel_plan_rate(plan, plan->capacity / 2 + 1);
    double full = umbel_plan_rate(plan, plan->capacity), max = umbel_plan_rate(plan, UINT64_MAX);
    insist(none >= 0 && half >= 0 && full <= 1 && max <= 1, "rates are rates");
    insist(half <= full * 1.000001 || plan->capacity < 2, "fewer keys, a lower rate");
    insist(full <= max * 1.000001, "more keys, a higher rate");
    if (plan->kind != UMBEL_KIND_WINDOW) {
        insist(fabs(full - plan->rate) <= 1e-6 * plan->rate + 1e-300, "the same rate twice");
    }
}

static void solve(const umbel_params *p) {
    umbel_plan asked = {.kind = p->kind,
                        .capacity = p->capacity,
                        .fpr = p->fpr,
                        .bytes = p->bytes,
                        .hashes = p->hashes,
                        .generations = p->window.generations};
    umbel_plan got = asked;
    if (umbel_plan_solve(&got, NULL)) {
        check_refused(&asked, &got);
        return;
    }
    check_solved(&asked, &got);
    check_best(&asked, &got);
    check_rates(&got);
}

/* ---- umbel_plan_foreign, umbel_create_foreign, umbel_create ---- */

/* Both halves of the parameters have these numbers. */
static void check_made(const umbel_params *p, const umbel_filter *f) {
    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    insist(info.bytes <= MAX_BYTES, "no more than the limit");
    insist(now.bits_set == 0 && info.keys_added == 0, "made empty");
    insist(info.fpr >= 0 && info.fpr <= 1 && now.rate >= 0 && now.rate <= 1, "with rates");
    if (p->bytes) insist(info.bytes <= p->bytes, "in the bytes given");
    if (info.format == UMBEL_FMT_NATIVE && p->fpr != 0) {
        insist(info.fpr > 0 && info.fpr <= p->fpr, "with the promise asked for");
    }
}

static void check_planned(const umbel_plan *plan, const umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    bool chain = info.format == UMBEL_FMT_REDISBLOOM; /* whose plan is about its first link */
    umbel_kind kind = chain && info.kind == UMBEL_KIND_SCALABLE ? UMBEL_KIND_CLASSIC : info.kind;
    insist(info.bits == plan->bits && info.hashes == plan->hashes && kind == plan->kind,
           "what was planned is made");
    insist(plan->capacity == info.capacity, "for as many keys");
}

static void make(any_params p) {
    umbel_filter *f = NULL;
    umbel_plan plan = {0};
    umbel_diag diag = {0};
    umbel_opts opts = {.max_bytes = MAX_BYTES};
    umbel_err planned = umbel_plan_foreign(&p.foreign, &plan, &diag);
    insist(!planned || diag.what, "a refusal has words");
    if (!planned) {
        insist(plan.rate >= 0 && plan.rate <= 1, "the plan has a rate");
        insist(plan.fpr >= 0 && plan.fpr <= 1, "and a promise");
        insist(plan.bound >= 0 && plan.bound <= 1, "and a bound");
        insist(plan.bits_per_key >= 0 && isfinite(plan.bits_per_key) && plan.why, "and bits");
    }
    diag = (umbel_diag){0};
    bool native = p.foreign.format <= UMBEL_FMT_NATIVE;
    umbel_err made = native ? umbel_create(&p.native, &opts, &f, &diag)
                            : umbel_create_foreign(&p.foreign, &opts, &f, &diag);
    insist(!native || planned == UMBEL_EINVAL, "only other systems' filters are planned here");
    insist(!made == (f != NULL) && (!made || diag.what), "a filter, or words");
    if (!native && made != UMBEL_ELIMIT && made != UMBEL_ENOMEM) {
        insist(!planned == !made, "what can be planned can be made");
    }
    if (!made) check_made(&p.native, f);
    if (!made && !planned) check_planned(&plan, f);
    umbel_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (len < 6) return 0;
    any_params p = params_of(bytes, len);
    if (bytes[0] & 1) {
        make(p);
    } else {
        solve(&p.native);
    }
    return 0;
}
