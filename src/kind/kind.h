/* SPDX-License-Identifier: MIT
 *
 * kind.h - what a kind offers before a filter of it exists
 */
#ifndef UMBELI_KIND_H
#define UMBELI_KIND_H

#include "core/bytes.h"
#include "core/filter.h"
#include "plan/plan_model.h"
#include "umbel_plan.h"

typedef struct umbeli_kind {
    umbel_kind id;
    const char *name;
    umbel_traits traits;

    /* An empty filter, natively hashed.  params->kind is this kind.  NULL: built once. */
    umbel_err (*create)(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag);

    /* A filter over stored bits: a zeroed one of that shape for the caller to fill, or, with
     * `borrow`, a frozen one that borrows those bytes.  Checks every field of the shape and
     * data_len. */
    umbel_err (*restore)(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

    /* The kind's own parameters in native files; all NULL for kinds that have none.
     * take_kind_params completes what `restore` made, before anything else touches it:
     * UMBEL_ECORRUPT or UMBEL_EVERSION for what does not fit the shape and data_len. */
    uint64_t (*kind_params_len)(const umbel_filter *f);
    void (*put_kind_params)(const umbel_filter *f, umbeli_writer *w);
    umbel_err (*take_kind_params)(umbel_filter *f, umbeli_reader *params, umbel_diag *diag);

    /* UMBEL_ECORRUPT when this kind cannot have the bits of a restored filter; NULL: it can have
     * any.  Without this check, lookups and adds still stay within the filter's memory. */
    umbel_err (*check_bits)(const umbel_filter *f, umbel_diag *diag);
} umbeli_kind;

/* UMBEL_EINVAL, naming the field, when there is no such kind or params set a field of another
 * kind. */
umbel_err umbeli_kind_params(const umbel_params *params, umbel_diag *diag);

/* Plans params (capacity, fpr, bytes, hashes) for this kind: UMBEL_EINVAL with the planner's
 * message.  Not for bytes alone, which need no plan. */
umbel_err umbeli_kind_plan(umbel_kind kind, const umbel_params *params, umbel_plan *plan,
                           umbel_diag *diag);

/* Seed, hash function and secret of a natively hashed filter; all else is 0. */
umbeli_shape umbeli_kind_shape(const umbel_params *params, const umbeli_settings *settings);

/* For kinds made of equal units: how many bytes a unit has, how many there may be, and the probes
 * per key unless others are given. */
typedef struct umbeli_units {
    uint64_t bytes, max;
    uint32_t hashes;   /* 0: must be given */
    const char *fixed; /* the message for another number; NULL: others are possible */
    const char *large; /* the message for too many units */
} umbeli_units;

/* The shape of a new filter: the planner's or, if only bytes is given, as many units as they hold,
 * without a promise. */
umbel_err umbeli_kind_new_shape(umbel_kind kind, const umbeli_units *units,
                                const umbel_params *params, const umbeli_settings *settings,
                                umbeli_shape *shape, umbel_diag *diag);

/* What every restore checks first: that scheme and hash function are native ones, and that the
 * payload has the bytes of shape->bits. */
umbel_err umbeli_kind_check(const umbeli_shape *shape, uint32_t scheme, uint64_t data_len,
                            umbel_diag *diag);

/* The layout's name: `keyed` for filters with a secret. */
const char *umbeli_kind_layout(const umbeli_shape *shape, const char *unkeyed, const char *keyed);

/* Only the size is given, so nothing is promised. */
static inline bool umbeli_bytes_alone(const umbel_params *params) {
    return params->bytes != 0 && params->capacity == 0 && params->fpr == 0;
}

#define UMBELI_DECLARE(name) extern const umbeli_kind umbeli_kind_##name;
UMBELI_KINDS(UMBELI_DECLARE)
#undef UMBELI_DECLARE

/* NULL at the end. */
extern const umbeli_kind *const umbeli_kinds[];

/* NULL: no such kind. */
const umbeli_kind *umbeli_kind_by_id(umbel_kind id);

/* Members of umbeli_ops for natively hashed kinds, made from their contains_hashes and
 * add_hashes. */
void umbeli_hashed_hash_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                             uint64_t *hashes);
void umbeli_hashed_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                 uint8_t *hit);
umbel_err umbeli_hashed_add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                                 size_t *done);

#endif
