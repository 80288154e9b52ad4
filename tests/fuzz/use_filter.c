/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../support/any_filter.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"
#include "umbel_recipe.h"

/* Four bytes each or not: Badger's keys have four. */
static const char *const words[] = {"",
                                    "key0",
                                    "key1",
                                    "ada",
                                    "\x01\x02\x03\x04",
                                    "https://example.org/",
                                    "zzzz",
                                    "0123456789abcdef0123456789abcdef"};

enum { KEYS = sizeof words / sizeof words[0] };

static umbel_key key_at(size_t i) {
    return (umbel_key){words[i], strlen(words[i])};
}

/* ---- Answers ---- */

static void use_numbers(const umbel_filter *f) {
    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    insist(info.layout && info.kernel && info.layers > 0, "a filter has a layout");
    insist(now.bits_set <= info.bits, "no more bits are set than there are");
    insist(info.bytes >= info.bits / 8, "the bits are in the bytes");
    insist(info.fpr >= 0 && info.fpr <= 1, "the promise is a rate");
    insist(now.rate >= 0 && now.rate <= 1, "the live rate is one");
    insist(now.keys >= 0, "the estimate is a number of keys");
    insist(umbel_kind_name(info.kind) && umbel_format_name(info.format), "there are names for it");
}

static void use_belongings(const umbel_filter *f) {
    const char *name, *value;
    insist(strlen(umbel_get_recipe(f)) > 0, "there is always a recipe");
    for (size_t i = 0; umbel_meta_at(f, i, &name, &value); i++) {
        size_t len = strlen(name);
        insist(len > 0 && len < 256 && strlen(value) < 1 << 20, "metadata is text");
    }
    char text[128];
    umbel_err e = umbel_text(f, text, sizeof text, NULL);
    insist(e == UMBEL_ENOTSUP || (!e && strlen(text) > 0), "128 bytes do for a text");
    size_t extra;
    insist((umbel_get_data(f, &extra) != NULL) == (extra > 0), "data where there is some");
}

void use_answers(const umbel_filter *f) {
    umbel_key keys[KEYS];
    uint64_t hashes[KEYS];
    uint8_t many[KEYS], hashed[KEYS];
    use_numbers(f);
    use_belongings(f);
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = key_at(i);
        hashes[i] = one_hash(f, keys[i].data, keys[i].len);
    }
    umbel_contains_many(f, keys, KEYS, many);
    umbel_contains_hashes(f, hashes, KEYS, hashed);
    bool taken = takes_hashes(f);
    for (size_t i = 0; i < KEYS; i++) {
        bool one = umbel_contains(f, keys[i].data, keys[i].len);
        insist(one == many[i], "many keys get the answers of one");
        insist(one == (umbel_count(f, keys[i].data, keys[i].len) > 0), "a count above 0 is in");
        insist(taken ? one == hashed[i] : hashed[i], "a hash gets the answer of its key");
        insist(umbel_contains_hash(f, hashes[i]) == hashed[i], "one hash gives the same answer");
        if (!taken) insist(hashes[i] == 0, "no hash where none is taken");
    }
}

/* ---- Changes ---- */

static umbel_filter *copy_of(const umbel_filter *f) {
    umbel_filter *copy = NULL;
    insist(!umbel_copy(f, &copy, NULL) && copy, "a filter can be copied");
    insist(umbel_equal(f, copy) && umbel_equal(copy, f), "a copy is equal");
    insist(keys_added(f) == keys_added(copy), "with the same count");
    return copy;
}

static void add_word(umbel_filter *f, umbel_kind kind, umbel_key key) {
    bool before = umbel_contains(f, key.data, key.len), was_new = false;
    umbel_err e = umbel_add(f, key.data, key.len, &was_new, NULL);
    if (e) {
        insist(e == UMBEL_EFULL || e == UMBEL_EINVAL || e == UMBEL_EFROZEN || e == UMBEL_ELIMIT ||
                   e == UMBEL_ENOTSUP || e == UMBEL_ENOMEM,
               "adding has the errors it should");
        insist(before == umbel_contains(f, key.data, key.len), "failure changes nothing");
        return;
    }
    insist(umbel_contains(f, key.data, key.len), "what was added is in");
    /* A window may have moved on before it took the key. */
    if (kind != UMBEL_KIND_WINDOW) insist(was_new == !before, "new is what was not in");
    if (kind == UMBEL_KIND_WINDOW && !before) insist(was_new, "what a window lacks is new");
}

static void use_removal(umbel_filter *f, umbel_key key) {
    uint32_t count = umbel_count(f, key.data, key.len);
    umbel_err e = umbel_remove(f, key.data, key.len, NULL);
    if (e == UMBEL_ENOTSUP) return;
    insist(e == (count ? UMBEL_OK : UMBEL_EABSENT), "what is in can be removed");
    uint32_t left = umbel_count(f, key.data, key.len);
    insist(left == (count && count < 15 ? count - 1 : count), "a removal takes one, or none of 15");
}

static void use_sets(umbel_filter *grown, const umbel_filter *f) {
    bool subset = false;
    umbel_filter *common = copy_of(grown);
    umbel_err e = umbel_merge(grown, f, NULL);
    insist(!e || e == UMBEL_ENOTSUP || e == UMBEL_EMISMATCH || e == UMBEL_EFROZEN,
           "merge's errors");
    if (!e) {
        insist(!umbel_is_subset(f, grown, &subset, NULL) && subset, "a part of what it went into");
        insist(!umbel_intersect(common, f, NULL), "what merges intersects");
        insist(!umbel_is_subset(common, f, &subset, NULL) && subset, "common is a part of each");
    }
    umbel_free(common);
}

static void use_fold(umbel_filter *f, double fpr) {
    umbel_info before, after;
    uint8_t in[KEYS];
    for (size_t i = 0; i < KEYS; i++) in[i] = umbel_contains(f, words[i], strlen(words[i]));
    umbel_describe(f, &before);
    umbel_err e = umbel_fold(f, fpr, NULL);
    umbel_describe(f, &after);
    if (e) {
        insist(after.bytes == before.bytes, "failure changes nothing");
        return;
    }
    insist(after.bytes <= before.bytes, "folding makes no filter larger");
    insist(after.bytes == before.bytes || measured(f).rate <= fpr, "folding keeps the rate");
    for (size_t i = 0; i < KEYS; i++) {
        if (in[i]) insist(umbel_contains(f, words[i], strlen(words[i])), "folding keeps keys");
    }
    use_answers(f);
}

static void use_snapshot(const umbel_filter *f) {
    umbel_filter *snapshot = NULL;
    if (umbel_snapshot(f, &snapshot, NULL)) return;
    use_answers(snapshot);
    for (size_t i = 0; i < KEYS; i++) {
        bool in = umbel_contains(f, words[i], strlen(words[i]));
        insist(in == umbel_contains(snapshot, words[i], strlen(words[i])), "a snapshot is alike");
    }
    umbel_free(snapshot);
}

void use_changes(const umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    umbel_filter *grown = copy_of(f);
    for (size_t i = 0; i < KEYS; i++) add_word(grown, info.kind, key_at(i));
    use_answers(grown);
    use_snapshot(grown);
    use_sets(grown, f);
    for (size_t i = 0; i < KEYS; i++) use_removal(grown, key_at(i));
    for (int i = 0; i < 3 && !umbel_advance(grown, NULL); i++) use_answers(grown);
    use_fold(grown, 0.1);
    umbel_err e = umbel_clear(grown, NULL);
    insist(!e || e == UMBEL_EFROZEN, "a filter can be cleared");
    if (!e) {
        insist(umbel_is_empty(grown) && keys_added(grown) == 0, "cleared is empty");
        use_answers(grown);
        add_word(grown, info.kind, key_at(1));
    }
    umbel_free(grown);
}

/* ---- Formats ---- */

uint8_t *bytes_in(const umbel_filter *f, umbel_format format, size_t *len) {
    uint64_t size = umbel_encoded_size(f, format);
    uint8_t *bytes = some_bytes((size_t)size);
    umbel_err e = umbel_encode(f, format, bytes, (size_t)size, NULL);
    insist(!e == (size > 0), "what has a size can be written");
    *len = (size_t)size;
    if (!e) insist(umbel_encode(f, format, bytes, *len - 1, NULL) == UMBEL_ESPACE, "not in less");
    if (!e) return bytes;
    free(bytes);
    return NULL;
}

/* What the bytes of these two do not say, `as` and the secret do. */
static void use_format(const umbel_filter *f, const umbel_foreign *as, const uint8_t *secret) {
    size_t len, again_len;
    uint8_t *bytes = bytes_in(f, as->format, &len);
    if (!bytes) return;
    umbel_filter *again = NULL;
    umbel_info info, other;
    umbel_describe(f, &info);
    umbel_opts opts = {.secret = secret};
    insist(!umbel_decode(bytes, len, UMBEL_LOAD, as, &opts, &again, NULL),
           "what was written is read");
    umbel_describe(again, &other);
    if (other.format == info.format) insist(umbel_equal(f, again), "as it was");
    insist(measured(again).bits_set == measured(f).bits_set, "with the same bits");
    uint8_t *twice = bytes_in(again, as->format, &again_len);
    insist(twice && again_len == len && memcmp(twice, bytes, len) == 0, "and written the same");
    free(twice);
    free(bytes);
    umbel_free(again);
}

void use_formats(const umbel_filter *f, const umbel_foreign *as, const uint8_t *secret) {
    for (umbel_format format = UMBEL_FMT_NATIVE; umbel_format_name(format); format++) {
        umbel_foreign other = {.format = format};
        use_format(f, format == as->format ? as : &other,
                   format == UMBEL_FMT_NATIVE ? secret : NULL);
    }
}
