/* SPDX-License-Identifier: MIT */
#include "model_filters.h"

#include "target.h"
#include "umbel_foreign.h"

const uint8_t model_secret[16] = "sixteen bytes...";

const any_params model_choices[MODEL_CHOICES] = {
    {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 64}},
    {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 512, .seed = 7, .concurrent = true}},
    {.native = {.kind = UMBEL_KIND_CLASSIC, .capacity = 40, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 5, .fpr = 0.01, .expansion = 1}},
    {.native = {.kind = UMBEL_KIND_CLASSIC, .bytes = 33, .hashes = 20}},
    {.native = {.kind = UMBEL_KIND_COUNTING, .capacity = 40, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_COUNTING, .bytes = 128}},
    {.native = {.kind = UMBEL_KIND_SCALABLE, .bytes = 64, .fpr = 0.3, .scalable.max_layers = 4}},
    {.native = {.kind = UMBEL_KIND_SCALABLE, .bytes = 64, .fpr = 0.3, .scalable.expansion = 1}},
    {.native = {.kind = UMBEL_KIND_WINDOW, .capacity = 10, .fpr = 0.1, .window.generations = 2}},
    {.native = {.kind = UMBEL_KIND_WINDOW,
                .capacity = 40,
                .fpr = 0.1,
                .window.generations = 3,
                .window.manual = true}},
    {.foreign = {.format = UMBEL_FMT_PARQUET, .capacity = 40, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_LEVELDB, .capacity = 40, .bits_per_key = 10}},
    {.foreign = {.format = UMBEL_FMT_BADGER, .capacity = 40, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_GUAVA, .capacity = 40, .fpr = 0.03}},
    {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 5, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 20, .fpr = 0.01, .nonscaling = true}},
    {.foreign = {.format = UMBEL_FMT_DCSO, .capacity = 40, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 64, .secret = model_secret}},
    {.native = {.kind = UMBEL_KIND_CLASSIC,
                .bytes = 256,
                .hashes = 3,
                .seed = 1,
                .secret = model_secret}},
    {.native = {.kind = UMBEL_KIND_COUNTING, .bytes = 128, .secret = model_secret}},
    {.native = {.kind = UMBEL_KIND_SCALABLE, .bytes = 64, .fpr = 0.3, .secret = model_secret}},
    {.native = {.kind = UMBEL_KIND_WINDOW,
                .capacity = 10,
                .fpr = 0.1,
                .window.generations = 2,
                .secret = model_secret}},
    {.native = {.kind = UMBEL_KIND_LINE, .bytes = 512, .hashes = 4, .concurrent = true}},
    {.native = {.kind = UMBEL_KIND_LINE, .bytes = 192, .seed = 7}},
    {.native = {.kind = UMBEL_KIND_LINE, .bytes = 64, .hashes = 16, .secret = model_secret}},
};

/* Planning takes longer than all the rest, so a planned filter is made once and read from then on. */
umbel_filter *model_make(const any_params *choice, const umbel_opts *opts) {
    static struct {
        uint8_t *bytes;
        size_t len;
    } saved[MODEL_CHOICES];
    umbel_filter *f = NULL;
    size_t which = (size_t)(choice - model_choices);
    if (saved[which].bytes) {
        umbel_opts keyed = *opts;
        keyed.secret = choice->native.secret;
        umbel_foreign as = {.format = choice->foreign.format};
        umbel_err e = umbel_decode(saved[which].bytes, saved[which].len, &as, &keyed, &f, NULL);
        insist(!e, "an empty filter can be read");
        return f;
    }
    insist(!any_create(choice, opts, &f, NULL), "the parameters are good");
    bool planned = choice->native.capacity || choice->foreign.capacity;
    if (planned) saved[which].bytes = bytes_in(f, UMBEL_FMT_ANY, &saved[which].len);
    return f;
}
