/* SPDX-License-Identifier: MIT */
#include "model_filters.h"

#include "use_filter.h"

const uint8_t model_secret[16] = "sixteen bytes...";

const umbel_params model_choices[MODEL_CHOICES] = {
    {.kind = UMBEL_BLOCKED, .bytes = 64},
    {.kind = UMBEL_BLOCKED, .bytes = 512, .seed = 7, .concurrent = true},
    {.kind = UMBEL_CLASSIC, .keys = 40, .fpr = 0.01},
    {.format = UMBEL_FMT_REDISBLOOM, .keys = 5, .fpr = 0.01, .expansion = 1},
    {.kind = UMBEL_CLASSIC, .bytes = 33, .hashes = 20},
    {.kind = UMBEL_COUNTING, .keys = 40, .fpr = 0.01},
    {.kind = UMBEL_COUNTING, .bytes = 128},
    {.kind = UMBEL_SCALABLE, .bytes = 64, .fpr = 0.3, .layers = 4},
    {.kind = UMBEL_SCALABLE, .bytes = 64, .fpr = 0.3, .expansion = 1},
    {.kind = UMBEL_WINDOW, .keys = 10, .fpr = 0.1, .generations = 2},
    {.kind = UMBEL_WINDOW, .keys = 40, .fpr = 0.1, .generations = 3, .manual = true},
    {.format = UMBEL_FMT_PARQUET, .keys = 40, .fpr = 0.01},
    {.format = UMBEL_FMT_LEVELDB, .keys = 40, .bits_per_key = 10},
    {.format = UMBEL_FMT_BADGER, .keys = 40, .fpr = 0.01},
    {.format = UMBEL_FMT_GUAVA, .keys = 40, .fpr = 0.03},
    {.format = UMBEL_FMT_REDISBLOOM, .keys = 5, .fpr = 0.01},
    {.format = UMBEL_FMT_REDISBLOOM, .keys = 20, .fpr = 0.01, .nonscaling = true},
    {.format = UMBEL_FMT_DCSO, .keys = 40, .fpr = 0.01},
    {.kind = UMBEL_BLOCKED, .bytes = 64, .key = model_secret},
    {.kind = UMBEL_CLASSIC, .bytes = 256, .hashes = 3, .seed = 1, .key = model_secret},
    {.kind = UMBEL_COUNTING, .bytes = 128, .key = model_secret},
    {.kind = UMBEL_SCALABLE, .bytes = 64, .fpr = 0.3, .key = model_secret},
    {.kind = UMBEL_WINDOW, .keys = 10, .fpr = 0.1, .generations = 2, .key = model_secret},
};

/* Planning takes longer than all the rest, so a planned filter is made once and read from then on. */
umbel_filter *model_make(const umbel_params *choice, const umbel_opts *opts) {
    static struct {
        uint8_t *bytes;
        size_t len;
    } saved[MODEL_CHOICES];
    umbel_filter *f = NULL;
    umbel_format format = choice->format ? choice->format : UMBEL_FMT_NATIVE;
    size_t which = (size_t)(choice - model_choices);
    if (saved[which].bytes) {
        umbel_opts keyed = *opts;
        keyed.key = choice->key;
        umbel_err e = umbel_decode(format, saved[which].bytes, saved[which].len, &keyed, &f, NULL);
        insist(!e, "an empty filter can be read");
        return f;
    }
    insist(!umbel_create(choice, opts, &f, NULL), "the parameters are good");
    if (choice->keys) saved[which].bytes = bytes_in(f, format, &saved[which].len);
    return f;
}
