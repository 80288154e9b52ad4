/* SPDX-License-Identifier: MIT
 *
 * fuzz_model.c - random operations on filters of every kind, compared with an exact set
 *
 * Byte 0 chooses the parameters of two filters, the current one and the other.  Then each byte is
 * an operation; those that need a key or a number take it from the next byte.  Static filters,
 * which no operation changes, are built from keys instead: use_static.c.
 */
#include <stdlib.h>
#include <string.h>

#include "../support/any_filter.h"
#include "../support/watched_memory.h"
#include "core/bytes.h"
#include "core/filter.h"
#include "target.h"
#include "umbel_foreign.h"

enum { MAX_OPERATIONS = 400, MAX_AT_ONCE = 70 };

/* ---- Filters ---- */

static const uint8_t model_secret[16] = "sixteen bytes...";

static const any_params model_choices[] = {
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
    {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 64}, .secret = model_secret},
    {.native = {.kind = UMBEL_KIND_CLASSIC, .bytes = 256, .hashes = 3, .seed = 1},
     .secret = model_secret},
    {.native = {.kind = UMBEL_KIND_COUNTING, .bytes = 128}, .secret = model_secret},
    {.native = {.kind = UMBEL_KIND_SCALABLE, .bytes = 64, .fpr = 0.3}, .secret = model_secret},
    {.native = {.kind = UMBEL_KIND_WINDOW, .capacity = 10, .fpr = 0.1, .window.generations = 2},
     .secret = model_secret},
    {.native = {.kind = UMBEL_KIND_LINE, .bytes = 512, .hashes = 4, .concurrent = true}},
    {.native = {.kind = UMBEL_KIND_LINE, .bytes = 192, .seed = 7}},
    {.native = {.kind = UMBEL_KIND_LINE, .bytes = 64, .hashes = 16}, .secret = model_secret},
};

enum { MODEL_CHOICES = sizeof model_choices / sizeof model_choices[0] };

/* Planning takes longer than all the rest, so a planned filter is made once and read from then on. */
static umbel_filter *model_make(const any_params *choice, const umbel_opts *opts) {
    static struct {
        uint8_t *bytes;
        size_t len;
    } saved[MODEL_CHOICES];
    umbel_filter *f = NULL;
    size_t which = (size_t)(choice - model_choices);
    if (saved[which].bytes) {
        umbel_opts keyed = *opts;
        keyed.secret = choice->secret;
        umbel_foreign as = {.format = choice->foreign.format};
        umbel_err e =
            umbel_decode(saved[which].bytes, saved[which].len, UMBEL_LOAD, &as, &keyed, &f, NULL);
        insist(!e, "an empty filter can be read");
        return f;
    }
    insist(!any_create(choice, opts, &f, NULL), "the parameters are good");
    bool planned = choice->native.capacity || choice->foreign.capacity;
    if (planned) saved[which].bytes = bytes_in(f, UMBEL_FMT_ANY, &saved[which].len);
    return f;
}

typedef struct pair {
    const any_params *params;
    umbel_filter *f, *other;
    exact_set in_f, in_other;
    watched_memory memory;
    umbeli_reader input;
} pair;

static unsigned next(pair *p) {
    return umbeli_take_u8(&p->input);
}

/* ---- Keys ---- */

static bool is_window(const pair *p) {
    return p->params->native.kind == UMBEL_KIND_WINDOW;
}

/* What a filter that is not frozen may return for keys. */
static bool may_refuse(umbel_err e) {
    return e == UMBEL_EFULL || e == UMBEL_EINVAL || e == UMBEL_ENOMEM;
}

static umbel_err add_one(pair *p) {
    unsigned n = next(p);
    umbel_key key = exact_key(n);
    bool before = umbel_contains(p->f, key.data, key.len), was_new = false;
    umbel_err e = umbel_add(p->f, key.data, key.len, &was_new, NULL);
    bool after = umbel_contains(p->f, key.data, key.len);
    if (e) {
        insist(may_refuse(e) && after == before, "a refused key changes nothing");
        return e;
    }
    exact_add(&p->in_f, n);
    insist(after, "what was added is in");
    /* A window may have advanced before it took the key. */
    insist(is_window(p) ? was_new || before : was_new == !before, "new is what was not in");
    return UMBEL_OK;
}

static size_t some_keys(pair *p, umbel_key *keys, unsigned *numbers) {
    size_t n = next(p) % MAX_AT_ONCE;
    unsigned first = next(p), step = next(p);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = first + (unsigned)i * step;
        keys[i] = exact_key(numbers[i]);
    }
    return n;
}

/* One key as many times, on a copy. */
static umbel_err add_many(pair *p) {
    umbel_key keys[MAX_AT_ONCE];
    unsigned numbers[MAX_AT_ONCE];
    uint8_t was_new[MAX_AT_ONCE] = {0};
    umbel_filter *copy = NULL;
    size_t n = some_keys(p, keys, numbers), done = 0, in = SIZE_MAX;
    umbel_err e = umbel_copy(p->f, &copy, NULL), one = UMBEL_OK;
    if (e) return e;
    bool hashed = next(p) % 2 && takes_hashes(p->f);
    uint64_t hashes[MAX_AT_ONCE];
    for (size_t i = 0; i < n; i++) hashes[i] = one_hash(p->f, keys[i].data, keys[i].len);
    e = hashed ? umbel_add_hashes(p->f, hashes, n, was_new, &in, NULL)
               : umbel_add_many(p->f, keys, n, was_new, &in, NULL);
    p->memory.fail_at = 0;
    for (; done < n && !one; done += !one) {
        bool fresh = false;
        one = umbel_add(copy, keys[done].data, keys[done].len, &fresh, NULL);
        if (!one && !e) insist(fresh == was_new[done], "many are new as one by one");
    }
    if (e == UMBEL_ENOMEM) { /* the copy did not run out of it */
        insist(in < n, "not all of them are in");
    } else {
        insist(e == one && in == done, "many end as one by one");
        insist(umbel_equal(p->f, copy), "many give the bits of one by one");
    }
    for (size_t i = 0; i < in; i++) exact_add(&p->in_f, numbers[i]);
    umbel_free(copy);
    return e;
}

/* Only what was added, as umbel.h requires. */
static umbel_err remove_one(pair *p) {
    unsigned n = next(p) % EXACT_KEYS;
    umbel_key key = exact_key(n);
    uint32_t count = umbel_count(p->f, key.data, key.len);
    if (!p->in_f.count[n] && count) return UMBEL_OK;
    umbel_err e = umbel_remove(p->f, key.data, key.len, NULL);
    if (p->params->native.kind != UMBEL_KIND_COUNTING) {
        insist(e == UMBEL_ENOTSUP, "only counting filters forget a key");
        return e;
    }
    insist(e == (count ? UMBEL_OK : UMBEL_EABSENT), "what was added can be removed");
    if (e) return e;
    p->in_f.count[n]--;
    insist(umbel_count(p->f, key.data, key.len) == (count < 15 ? count - 1 : 15), "once");
    return UMBEL_OK;
}

/* ---- Time ---- */

static umbel_err advance(pair *p) {
    umbel_err e = umbel_advance(p->f, NULL);
    insist(e == (is_window(p) ? UMBEL_OK : UMBEL_ENOTSUP), "windows advance, others do not");
    if (e) return e;
    p->in_f.advances++;
    /* Windows that move by themselves are then ahead of their promise by an unknown number. */
    if (!p->params->native.window.manual) exact_clear(&p->in_f);
    bool all_old = true;
    for (unsigned n = 0; n < EXACT_KEYS; n++) all_old &= !exact_has(&p->in_f, n);
    if (p->params->native.window.manual && all_old)
        insist(umbel_is_empty(p->f), "a window forgets");
    return UMBEL_OK;
}

static umbel_err clear(pair *p) {
    insist(!umbel_clear(p->f, NULL), "a filter can be cleared");
    insist(umbel_is_empty(p->f) && keys_added(p->f) == 0, "then it is empty");
    exact_clear(&p->in_f);
    return UMBEL_OK;
}

/* ---- Whole filters ---- */

static umbel_err swap(pair *p) {
    umbel_filter *f = p->f;
    exact_set in_f = p->in_f;
    p->f = p->other;
    p->in_f = p->in_other;
    p->other = f;
    p->in_other = in_f;
    return UMBEL_OK;
}

static umbel_err copy(pair *p) {
    umbel_filter *same = NULL;
    umbel_err e = umbel_copy(p->f, &same, NULL);
    if (e) return e;
    insist(umbel_equal(p->f, same), "a copy is equal");
    umbel_free(p->f);
    p->f = same;
    return UMBEL_OK;
}

static umbel_err merge(pair *p) {
    umbel_err e = umbel_merge(p->f, p->other, NULL);
    bool yes = false;
    insist(!e || e == UMBEL_ENOTSUP || e == UMBEL_EMISMATCH, "merge has few errors");
    if (e) return e;
    for (unsigned n = 0; n < EXACT_KEYS; n++) p->in_f.count[n] += p->in_other.count[n];
    insist(!umbel_is_subset(p->other, p->f, &yes, NULL) && yes, "a part of the union");
    return UMBEL_OK;
}

static umbel_err intersect(pair *p) {
    umbel_err e = umbel_intersect(p->f, p->other, NULL);
    bool yes = false;
    insist(!e || e == UMBEL_ENOTSUP || e == UMBEL_EMISMATCH, "intersect has few errors");
    if (e) return e;
    for (unsigned n = 0; n < EXACT_KEYS; n++) {
        uint64_t other = p->in_other.count[n];
        if (other < p->in_f.count[n]) p->in_f.count[n] = other;
    }
    insist(!umbel_is_subset(p->f, p->other, &yes, NULL) && yes, "a part of either");
    return UMBEL_OK;
}

static umbel_err fold(pair *p) {
    double fpr = (1 + next(p)) / 300.0;
    umbel_err e = umbel_fold(p->f, fpr, NULL);
    insist(e || measured(p->f).rate <= fpr * 1.0000001, "a folded filter keeps the rate");
    return e;
}

static umbel_err snapshot(pair *p) {
    umbel_filter *bits = NULL;
    umbel_err e = umbel_snapshot(p->f, &bits, NULL);
    if (e) return e;
    insist(p->params->native.kind == UMBEL_KIND_COUNTING, "snapshots are of counting filters");
    exact_check(&p->in_f, bits);
    umbel_free(bits);
    return UMBEL_OK;
}

/* Encoded and decoded, it replaces the first. */
static umbel_err reload(pair *p) {
    umbel_info info;
    size_t len;
    umbel_filter *read = NULL, *seen = NULL;
    umbel_describe(p->f, &info);
    uint8_t *bytes = bytes_in(p->f, info.format, &len);
    insist(bytes != NULL, "a filter fits its own format");
    umbel_opts keyed = p->memory.opts, other = p->memory.opts;
    keyed.secret = p->params->secret;
    other.secret = keyed.secret ? NULL : model_secret;
    umbel_err e = umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = info.format},
                               &keyed, &read, NULL);
    if (!e) {
        insist(umbel_equal(p->f, read), "written and read it is equal");
        umbel_free(p->f);
        p->f = read;
    }
    insist(!e || e == UMBEL_ENOMEM, "what was written can be read");
    p->memory.fail_at = 0;
    if (info.format == UMBEL_FMT_NATIVE) {
        umbel_err without = umbel_decode(
            bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = info.format}, &other, &seen, NULL);
        insist(without == UMBEL_ESECRET && !seen, "the key must be the right one");
    }
    if (!umbel_decode(bytes, len, UMBEL_MAP, &(umbel_foreign){.format = info.format}, &keyed, &seen,
                      NULL)) {
        insist(umbel_equal(p->f, seen), "a view is equal too");
        insist(umbel_add(seen, "key", 3, NULL, NULL) == UMBEL_EFROZEN, "which is read-only");
        insist(umbel_clear(seen, NULL) == UMBEL_EFROZEN && umbel_equal(p->f, seen), "and stays");
        exact_find(&p->in_f, seen);
    }
    umbel_free(seen);
    free(bytes);
    return e;
}

/* All its memory moves, as with a defragmenting allocator. */
static umbel_err relocate(pair *p) {
    umbeli_mover mover = {.move = watched_move, .ctx = &p->memory};
    umbel_filter *copy = NULL;
    const char *name, *value;
    umbel_err e = umbel_set_meta(p->f, "name", "value", NULL);
    if (!e) e = umbel_copy(p->f, &copy, NULL);
    if (e) return e;
    umbeli_filter_relocate(&p->f, &mover);
    insist(umbel_equal(p->f, copy), "what moved is the same");
    insist(umbel_meta_at(p->f, 0, &name, &value) && strcmp(value, "value") == 0, "with its notes");
    umbel_free(copy);
    return UMBEL_OK;
}

static umbel_err look(pair *p) {
    exact_check(&p->in_f, p->f);
    use_answers(p->f);
    return UMBEL_OK;
}

/* ---- */

typedef umbel_err (*operation)(pair *p);

static const operation operations[] = {
    add_one, add_one, add_one, add_many,  add_many, remove_one, remove_one,
    advance, copy,    swap,    merge,     clear,    fold,       snapshot,
    reload,  look,    swap,    intersect, relocate,
};

/* One allocation of the operation fails, and the filter stays as it was. */
static void starve(pair *p, operation run) {
    umbel_filter *before = NULL;
    insist(!umbel_copy(p->f, &before, NULL), "a filter can be copied");
    uint64_t keys = keys_added(p->f);
    p->memory.fail_at = p->memory.calls + 1 + next(p) % 4;
    umbel_err e = run(p);
    p->memory.fail_at = 0;
    if (e == UMBEL_ENOMEM && run != add_many) {
        insist(umbel_equal(p->f, before) && keys_added(p->f) == keys,
               "without memory nothing changes");
    }
    umbel_free(before);
}

static void play(pair *p) {
    enum { STARVE = 0x80, OPERATIONS = sizeof operations / sizeof operations[0] };
    p->f = model_make(p->params, &p->memory.opts);
    p->other = model_make(p->params, &p->memory.opts);
    if (is_window(p)) {
        p->in_f.max_adds = p->params->native.window.manual ? 0 : p->params->native.capacity;
        p->in_f.max_advances =
            p->params->native.window.manual ? p->params->native.window.generations + 1 : 0;
        p->in_other = p->in_f;
    }
    for (unsigned i = 0; i < MAX_OPERATIONS && umbeli_left(&p->input) > 0; i++) {
        unsigned byte = next(p);
        operation run = operations[byte % STARVE % OPERATIONS];
        if (byte & STARVE) {
            starve(p, run);
        } else {
            run(p);
        }
        if (run != add_one) exact_find(&p->in_f, p->f);
    }
    exact_check(&p->in_f, p->f);
    exact_check(&p->in_other, p->other);
    umbel_free(p->f);
    umbel_free(p->other);
    insist(p->memory.blocks == 0, "all memory is given back");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (len < 1) return 0;
    pair p = {.input = umbeli_reader_over(bytes, len)};
    watch_memory(&p.memory, 0);
    p.memory.opts.max_bytes = 1 << 20;
    size_t which = next(&p) % (MODEL_CHOICES + 1);
    if (which == MODEL_CHOICES) {
        use_static(&p.input);
    } else {
        p.params = &model_choices[which];
        play(&p);
    }
    return 0;
}
