/* SPDX-License-Identifier: MIT
 *
 * api_sets.c - whole filters as sets
 */
#include <math.h>
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "core/filter.h"
#include "kind/checked_pieces.h"
#include "kind/exceptions.h"
#include "kind/key_count.h"
#include "recipe/recipe.h"
#include "umbel_recipe.h"

static umbel_err frozen(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_EFROZEN, "the filter is read-only");
}

static umbel_err no_sets(const umbel_filter *filter, umbel_diag *diag) {
    const char *why = filter->ops->no_sets;
    return umbeli_fail(diag, UMBEL_ENOTSUP, why ? why : "filters of this form cannot be merged");
}

/* Filters of other sizes, hashes or secrets have other bits for the same key, those of other
 * recipes other keys for the same record, and damaged ones any bits. */
static umbel_err need_alike(const umbel_filter *a, const umbel_filter *b, umbel_diag *diag) {
    const char *differs = umbeli_shape_mismatch(&a->shape, &b->shape);
    if (!differs && !umbeli_recipes_agree(umbel_get_recipe(a), umbel_get_recipe(b))) {
        differs = "recipe: the filters make keys from records differently";
    }
    if (differs) return umbeli_fail(diag, UMBEL_EMISMATCH, differs);
    umbel_err e = umbeli_check_now(a, diag);
    return e ? e : umbeli_check_now(b, diag);
}

umbel_err umbel_merge(umbel_filter *into, const umbel_filter *from, umbel_diag *diag) {
    if (into->frozen) return frozen(diag);
    if (!into->ops->merge) return no_sets(into, diag);
    umbel_err e = need_alike(into, from, diag);
    if (e) return e;
    uint64_t mine = umbeli_keys_added(into), theirs = umbeli_keys_added(from);
    e = into->ops->merge(into, from, diag);
    if (e) return e;
    umbeli_filter_drop_exceptions(into); /* the keys of `from` are not known */
    into->uncounted |= from->uncounted;
    into->count_error = hypot(into->count_error, from->count_error);
    if (!into->concurrent) umbeli_count_together(into, mine, theirs);
    return UMBEL_OK;
}

umbel_err umbel_intersect(umbel_filter *into, const umbel_filter *with, umbel_diag *diag) {
    if (into->frozen) return frozen(diag);
    if (!into->ops->intersect) return no_sets(into, diag);
    umbel_err e = need_alike(into, with, diag);
    if (e) return e;
    umbel_measurement mine = {0}, theirs = {0}, both = {0};
    into->ops->measure(into, &mine);
    with->ops->measure(with, &theirs);
    e = into->ops->intersect(into, with, diag);
    if (e) return e;
    into->ops->measure(into, &both);
    umbeli_count_common(into, mine.bits_set, theirs.bits_set, both.bits_set);
    return UMBEL_OK;
}

static bool bits_within(const umbel_filter *part, const umbel_filter *whole) {
    uint8_t room[2][UMBELI_PEEK];
    const uint8_t *x, *y;
    uint64_t len = 0;
    for (uint64_t at = 0; (x = umbeli_filter_peek(part, at, room[0], &len)) != NULL; at += len) {
        y = umbeli_filter_peek(whole, at, room[1], &len);
        if (!umbeli_bits_subset(x, y, len)) return false;
    }
    return true;
}

umbel_err umbel_is_subset(const umbel_filter *part, const umbel_filter *whole, bool *yes,
                          umbel_diag *diag) {
    if (!part->ops->merge) return no_sets(part, diag);
    umbel_err e = need_alike(part, whole, diag);
    if (e) return e;
    *yes = part->ops->subset ? part->ops->subset(part, whole) : bits_within(part, whole);
    return UMBEL_OK;
}

/* Chains with the same bits may have different segments. */
static bool same_payload(const umbel_filter *a, const umbel_filter *b) {
    uint8_t room[2][UMBELI_PEEK];
    uint64_t at = 0, bytes = umbeli_filter_bytes(a);
    if (bytes != umbeli_filter_bytes(b)) return false;
    while (at < bytes) {
        uint64_t mine = 0, theirs = 0;
        const uint8_t *x = umbeli_filter_peek(a, at, room[0], &mine);
        const uint8_t *y = umbeli_filter_peek(b, at, room[1], &theirs);
        uint64_t both = mine < theirs ? mine : theirs;
        bool stray = at + both == bytes && (umbeli_has_stray_bits(a) || umbeli_has_stray_bits(b));
        if (memcmp(x, y, (size_t)both - stray) != 0) return false;
        if (stray) return umbeli_last_byte(a) == umbeli_last_byte(b);
        at += both;
    }
    return true;
}

bool umbel_equal(const umbel_filter *a, const umbel_filter *b) {
    return !umbeli_shape_mismatch(&a->shape, &b->shape) && !umbeli_check_now(a, NULL) &&
           !umbeli_check_now(b, NULL) && same_payload(a, b) && umbeli_same_exceptions(a, b);
}

bool umbel_is_empty(const umbel_filter *filter) {
    uint64_t len = 0, at = 0;
    const uint8_t *bytes;
    umbel_traits traits;
    umbel_kind_traits(filter->shape.kind, &traits);
    if (traits.built_once) return umbeli_keys_added(filter) == 0; /* their bits may all be 0 */
    if (umbeli_check_now(filter, NULL)) return false;
    if (filter->concurrent) {
        uint8_t room[UMBELI_PEEK];
        for (; (bytes = umbeli_filter_peek(filter, at, room, &len)) != NULL; at += len) {
            if (!umbeli_bits_none(bytes, len)) return false;
        }
        return true;
    }
    for (size_t i = 0; (bytes = umbeli_filter_segment(filter, i, &len)) != NULL; i++) {
        if (!umbeli_bits_none(bytes, len)) return false;
    }
    return true;
}

umbel_err umbel_clear(umbel_filter *filter, umbel_diag *diag) {
    if (filter->frozen) return frozen(diag);
    umbeli_filter_clear(filter);
    return UMBEL_OK;
}

umbel_err umbel_fold(umbel_filter *filter, double fpr, umbel_diag *diag) {
    if (filter->frozen) return frozen(diag);
    if (!filter->ops->fold) {
        const char *why = filter->ops->no_fold;
        return umbeli_fail(diag, UMBEL_ENOTSUP,
                           why ? why : "filters of this form cannot be folded");
    }
    if (!(fpr > 0 && fpr < 1)) return umbeli_invalid(diag, "fpr: must be between 0 and 1");
    uint64_t before = filter->shape.bits;
    umbel_err e = filter->ops->fold(filter, fpr, diag);
    if (filter->shape.bits != before) umbeli_filter_drop_exceptions(filter);
    return e;
}

umbel_err umbel_snapshot(const umbel_filter *filter, umbel_filter **out, umbel_diag *diag) {
    if (!filter->ops->snapshot) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "only counting filters have snapshots");
    }
    umbel_err e = umbeli_check_now(filter, diag);
    if (!e) e = filter->ops->snapshot(filter, out, diag);
    const umbeli_exceptions *x = filter->exceptions;
    if (e || !x) return e;
    e = umbeli_except(*out, x->hashes, x->count, x->outdated,
                      diag); /* its keys are found in the same way */
    if (e) umbeli_filter_free(*out);
    return e;
}
