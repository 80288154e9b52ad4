/* SPDX-License-Identifier: MIT */
#include "format/codec_params.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "plan/plan.h"
#include "umbel_foreign.h"

umbel_err umbeli_params_check(const umbel_foreign *p, uint32_t takes, uint32_t variants,
                              umbel_diag *diag) {
    const struct {
        uint32_t name;
        bool given;
        const char *what;
    } fields[] = {
        {UMBEL_FIELD_CAPACITY, p->capacity != 0, "capacity: this format does not take it"},
        {UMBEL_FIELD_FPR, p->fpr != 0, "fpr: this format does not take it"},
        {UMBEL_FIELD_BYTES, p->bytes != 0, "bytes: this format does not take it"},
        {UMBEL_FIELD_SEED, p->seed != 0, "seed: this format has none"},
        {UMBEL_FIELD_HASHES, p->hashes != 0,
         "hashes: follows from the other parameters in this format"},
        {UMBEL_FIELD_BITS_PER_KEY, p->bits_per_key != 0,
         "bits_per_key: this format does not take it"},
        {UMBEL_FIELD_EXPANSION, p->expansion != 0, "expansion: this format does not grow"},
        {UMBEL_FIELD_NONSCALING, p->nonscaling, "nonscaling: this format does not grow"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].given && !(takes & fields[i].name)) {
            return umbeli_invalid(diag, fields[i].what);
        }
    }
    if (p->variant & ~variants) {
        return umbeli_invalid(diag, "variant: does not belong to this format");
    }
    if (!umbeli_reserved_zero(p->reserved, sizeof p->reserved)) {
        return umbeli_invalid(diag, "foreign.reserved: must be 0");
    }
    if (p->fpr != 0 && !(p->fpr > 0 && p->fpr < 1)) {
        return umbeli_invalid(diag, "fpr: must be between 0 and 1");
    }
    return UMBEL_OK;
}

umbel_err umbeli_params_need_capacity_and_fpr(const umbel_foreign *p, umbel_diag *diag) {
    if (p->capacity == 0) return umbeli_invalid(diag, "capacity: this format needs it");
    if (p->fpr == 0) return umbeli_invalid(diag, "fpr: this format needs it");
    return UMBEL_OK;
}

/* The share of equally likely outcomes hit by `draws` draws, each with probability `chance`. */
static double hit_share(double draws, double chance) {
    return chance < 1 ? -expm1(draws * log1p(-chance)) : 1;
}

double umbeli_narrow_fill(uint64_t bits, double draws, unsigned hash_bits) {
    uint64_t range = UINT64_C(1) << hash_bits;
    double values = (double)range;
    /* `more` bits are each the image of one more hash value than the others. */
    double fewest = (double)(range / bits), more = (double)(range % bits);
    return more * (fewest + 1) / values * hit_share(draws, (fewest + 1) / values) +
           ((double)bits - more) * fewest / values * hit_share(draws, fewest / values);
}

double umbeli_narrow_rate(uint64_t bits, uint32_t hashes, uint64_t keys, unsigned hash_bits) {
    if (keys == 0) return hashes ? 0 : 1;
    if (hashes == 0 || bits == 0) return 1;
    double collide = hit_share((double)keys, 1 / (double)(UINT64_C(1) << hash_bits));
    double fill = umbeli_narrow_fill(bits, (double)keys * hashes, hash_bits);
    return collide + (1 - collide) * pow(fill, hashes);
}

uint64_t umbeli_bits_at_end(const umbel_filter *f, const uint8_t *bytes, uint64_t len) {
    (void)bytes;
    return len - umbeli_filter_bytes(f);
}

umbel_err umbeli_classic_read(const umbeli_scheme *scheme, umbeli_shape shape, const uint8_t *bits,
                              umbeli_decoding how, const umbeli_settings *settings,
                              umbel_filter **out, umbel_diag *diag) {
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    const uint8_t *borrow = how == UMBELI_BORROW ? bits : NULL;
    umbel_err e = umbeli_classic_new(scheme, shape, borrow, settings, out, diag);
    if (!e && !borrow && (*out)->data_len) memcpy((*out)->data, bits, (size_t)(*out)->data_len);
    return e;
}

umbel_err umbeli_words_read(const umbeli_scheme *scheme, umbeli_shape shape, const uint8_t *words,
                            uint64_t left, uint64_t at, umbeli_decoding how,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    uint64_t need = shape.bits / 8;
    if (left < need) return umbeli_bad(diag, at + left, "the words are cut off");
    if (left > need) return umbeli_bad(diag, at + need, "bytes after the words");
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    umbel_err e = umbeli_classic_new(scheme, shape, NULL, settings, out, diag);
    if (!e) umbeli_swap_words((*out)->data, words, (size_t)(need / 8));
    return e;
}

void umbeli_params_plan(const umbeli_shape *shape, double rate, const char *beyond,
                        umbel_plan *plan) {
    double bits = (double)shape->bits;
    bool missed = shape->fpr > 0 && rate > (1 + UMBELI_RATE_ERROR) * shape->fpr;
    *plan = (umbel_plan){
        .kind = UMBEL_KIND_CLASSIC,
        .capacity = shape->capacity,
        .fpr = shape->fpr > 0 ? shape->fpr : rate,
        .bytes = umbeli_ceil_div(shape->bits, 8),
        .hashes = shape->hashes,
        .bits = shape->bits,
        .rate = rate,
        .bits_per_key = shape->capacity ? bits / (double)shape->capacity : 0,
        .bound = umbeli_bound_rate(bits, shape->capacity),
        .verdict = missed ? UMBEL_PLAN_BEYOND_KIND : UMBEL_PLAN_OK,
        .why = missed                                ? beyond
               : shape->fpr > 0 && rate > shape->fpr ? "the system's rounded sizes keep the rate "
                                                       "within 5%"
                                                     : "the system's own sizes keep the promise",
    };
}
