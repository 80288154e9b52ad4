/* SPDX-License-Identifier: MIT
 *
 * filter.h - the handle: what every filter has, and the table of what its kind can do
 *
 * A kind puts `umbel_filter base` first in its own struct and fills in a const umbeli_ops for each
 * kernel it has.  The table is chosen when the filter is made; after that no call tests the kind or
 * the CPU.
 */
#ifndef UMBELI_FILTER_H
#define UMBELI_FILTER_H

#include <stdatomic.h>

#include "core/bytes.h"
#include "core/memory.h"
#include "core/settings.h"
#include "umbel.h"

/* Everything that decides where a key's bits are, and what was promised.  Two filters whose shapes
 * match (umbeli_shape_mismatch returns NULL) may be merged. */
typedef struct umbeli_shape {
    umbel_kind kind;
    umbel_format format; /* whose system's hashing and sizing */
    uint32_t scheme;     /* how positions follow from a key; numbers in docs/formats/native.md */
    uint32_t hash;       /* the hash function; numbers in the same place */
    uint32_t hashes;     /* probes per key */
    uint64_t seed;
    umbeli_secret secret; /* of keyed filters; else 0 */
    uint64_t bits;
    uint64_t capacity; /* keys planned for, 0: unknown */
    double fpr;        /* rate promised at capacity, 0: none */
} umbeli_shape;

struct umbeli_kind;         /* kind/kind.h */
struct umbeli_chain_policy; /* kind/chain/chain.h */

/* NULL for operations that the kind does not have: the API returns UMBEL_ENOTSUP.  Operations that
 * write are never called on frozen filters, and set operations only see matching shapes. */
typedef struct umbeli_ops {
    size_t size;                    /* of the kind's struct */
    const struct umbeli_kind *kind; /* the kind in native files; NULL: cannot be stored in one */
    const struct umbeli_chain_policy *policy; /* of chains; NULL for all others */
    const char *kernel;
    bool concurrent; /* any number of threads can add, if the filter was made for that */

    bool (*contains)(const umbel_filter *f, const void *key, size_t len);
    umbel_err (*add)(umbel_filter *f, const void *key, size_t len, bool *was_new);
    void (*contains_many)(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit);
    /* *done, never NULL, is the number of keys added: n unless an error is returned.  was_new, if
     * not NULL, is set for these keys and untouched after them. */
    umbel_err (*add_many)(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                          size_t *done);

    /* Kinds that need 64 bits of hash per key; else all NULL. */
    void (*hash_many)(const umbel_filter *f, const umbel_key *keys, size_t n, uint64_t *hashes);
    bool (*contains_hash)(const umbel_filter *f, uint64_t hash);
    void (*contains_hashes)(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit);
    umbel_err (*add_hashes)(umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *was_new,
                            size_t *done);

    /* umbel_probes, of a hash in kinds that take hashes, of a key in others. */
    size_t (*probes)(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                     size_t cap);
    /* How many bytes a lookup may read from the byte of a probe on; 0: a slot, at most 8.  And how
     * many at the start of the payload every lookup may read; NULL: none. */
    uint32_t reach;
    uint64_t (*always_read)(const umbel_filter *f);

    umbel_err (*merge)(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);
    umbel_err (*intersect)(umbel_filter *into, const umbel_filter *with, umbel_diag *diag);
    umbel_err (*fold)(umbel_filter *f, double fpr, umbel_diag *diag);
    /* umbel_is_subset for kinds with merge whose data is not plain bits; else NULL. */
    bool (*subset)(const umbel_filter *part, const umbel_filter *whole);
    /* The message why merge and intersect, or fold, are NULL; NULL for the general one. */
    const char *no_sets, *no_fold;

    umbel_err (*remove)(umbel_filter *f, const void *key, size_t len);
    uint32_t (*count)(const umbel_filter *f, const void *key, size_t len);
    umbel_err (*advance)(umbel_filter *f);
    umbel_err (*snapshot)(const umbel_filter *f, umbel_filter **out, umbel_diag *diag);

    /* Payload beyond `data`: segment i >= 1 of umbeli_filter_segment. */
    uint8_t *(*segment)(const umbel_filter *f, size_t i, uint64_t *len);

    /* Kinds whose struct holds pointers: after the fields were copied as bytes, copy replaces them
     * by copies that `into` owns (on failure it leaves a state that dispose can handle); dispose
     * frees them; relocate moves those of one step of umbeli_filter_relocate_step. */
    umbel_err (*copy)(umbel_filter *into, const umbel_filter *from);
    void (*dispose)(umbel_filter *f);
    bool (*relocate)(umbel_filter *f, size_t step, const umbeli_mover *mover);
    void (*clear)(umbel_filter *f); /* before the remaining payload is zeroed */

    /* Sets the set bits and the live rate; kinds without keys_of_bits also set the keys. */
    void (*measure)(const umbel_filter *f, umbel_measurement *now);
    /* Distinct keys, estimated from a number of set bits, infinite for all of them, and its
     * standard error.  kind/key_count.h derives the answer from this and the count of adds. */
    double (*keys_of_bits)(const umbel_filter *f, uint64_t bits_set, double *error);
    /* The model's rate after this many keys; NULL: no add goes uncounted. */
    double (*rate_after)(const umbel_filter *f, uint64_t keys);
    void (*describe)(const umbel_filter *f,
                     umbel_info *info); /* fields that only the kind knows; may be NULL */
} umbeli_ops;

/* Hashes that lookups must not find (kind/exceptions.h), and the operations that ensure it.  The
 * filter has these operations only while it has exceptions, so that one without them never
 * checks. */
typedef struct umbeli_exceptions {
    umbeli_ops ops;
    const umbeli_ops *plain; /* those of the kind */
    bool outdated;           /* keys were added after they were found */
    uint32_t count;
    uint64_t hashes[]; /* ascending */
} umbeli_exceptions;

typedef struct umbeli_meta_entry {
    char *name, *value; /* one allocation, value after name */
} umbeli_meta_entry;

struct umbeli_pieces; /* kind/checked_pieces.h */

struct umbel_filter {
    /* Changes, even while others read it, once the last piece of a mapped file has been checked. */
    _Atomic(const umbeli_ops *) ops;
    const char *layout; /* scheme and hash as text, for people */
    umbeli_shape shape;
    uint8_t *data;     /* the bits, as in a native file; never written when frozen */
    uint64_t data_len; /* bytes at data; chains may have more, in further segments */
    _Atomic uint64_t keys_added;
    bool uncounted;     /* it came from a format that does not say how many adds there were */
    double count_error; /* standard error of keys_added, after an intersection */
    bool frozen;
    bool concurrent;

    umbeli_settings settings;
    umbeli_array array; /* what `data` points into; empty where it points into a file */

    /* The file whose mapped bits `data` points to, if the filter has to unmap it; else NULL. */
    void (*unmap)(void *mapping, size_t len);
    void *mapping;
    size_t mapping_len;

    uint8_t *extra; /* umbel_set_data */
    size_t extra_len;

    umbeli_exceptions *exceptions; /* NULL: none */
    struct umbeli_pieces *pieces;  /* not checked when it was opened; NULL: there are none */
    uint64_t file_sums[2]; /* of the native file that it was opened from, which they identify:
                              its header's and its trailer's; else 0 */

    umbeli_meta_entry *meta; /* the recipe is one of them */
    size_t meta_count, meta_cap;
};

/* Makes a filter of ops->size bytes, all zero except what is given here.  With `borrow` NULL it
 * owns data_len zeroed bytes; otherwise it is frozen and borrows those bytes. */
umbel_err umbeli_filter_new(const umbeli_ops *ops, const char *layout, const umbeli_shape *shape,
                            uint64_t data_len, const uint8_t *borrow,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

/* Ends a function that makes a filter: after an error frees it, else passes it on. */
umbel_err umbeli_filter_finish(umbel_filter *f, umbel_err e, umbel_filter **out);

/* The payload as a sequence of runs of memory: run i, or NULL after the last.  A filter that is not
 * a chain has one. */
uint8_t *umbeli_filter_segment(const umbel_filter *f, size_t i, uint64_t *len);

/* Payload bytes in all segments. */
uint64_t umbeli_filter_bytes(const umbel_filter *f);

/* The payload from byte `offset` on, as far as it is contiguous; NULL at the end. */
uint8_t *umbeli_filter_run(const umbel_filter *f, uint64_t offset, uint64_t *len);

/* Like umbeli_filter_run, for readers: at most UMBELI_PEEK bytes, which do not change while you
 * read them.  They lie in the filter itself or, if other threads may be adding to it, are copied to
 * `room`, so a byte that is needed twice must come from one call.  In such filters `offset` is a
 * multiple of 8. */
enum { UMBELI_PEEK = 16 * 1024 };
const uint8_t *umbeli_filter_peek(const umbel_filter *f, uint64_t offset, uint8_t room[UMBELI_PEEK],
                                  uint64_t *len);

/* The last byte of a filter whose data is plain bits, with the bits after the last one cleared:
 * only decoding checks those, so a view may have any. */
static inline uint8_t umbeli_last_byte(const umbel_filter *f) {
    unsigned used = f->shape.bits % 8;
    uint8_t last = f->data[f->data_len - 1];
    return used ? (uint8_t)(last & ((1u << used) - 1)) : last;
}

/* Whether that byte differs from the one in memory, which can happen only in classic filters: other
 * kinds' bits are whole bytes. */
static inline bool umbeli_has_stray_bits(const umbel_filter *f) {
    return f->shape.kind == UMBEL_KIND_CLASSIC && f->data_len > 0 &&
           f->data_len == f->shape.bits / 8 + (f->shape.bits % 8 != 0) &&
           umbeli_last_byte(f) != f->data[f->data_len - 1];
}

/* Writes the bits of such a filter without stray ones. */
void umbeli_filter_put_bits(const umbel_filter *f, umbeli_writer *w);

/* An owned, mutable copy; the kind's own fields are copied as bytes.  The limit applies only to
 * copies of views, whose bits took no memory so far. */
umbel_err umbeli_filter_copy(const umbel_filter *from, umbel_filter **out);
void umbeli_filter_free(umbel_filter *f);

/* Forgets all keys: all bits become 0, and chains that grew return to their initial layers. */
void umbeli_filter_clear(umbel_filter *f);

/* Every key that has its bits set is found again. */
void umbeli_filter_drop_exceptions(umbel_filter *f);

/* For defragmenting allocators: moves the memory that the filter owns, itself included, in one go
 * or in steps from 0 until one returns false.  What stays in its place is not written, so that its
 * memory can be counted in this way while other threads read the filter. */
void umbeli_filter_relocate(umbel_filter **filter, const umbeli_mover *mover);
bool umbeli_filter_relocate_step(umbel_filter **filter, size_t step, const umbeli_mover *mover);

/* Gives the filter fewer bits, copied from `data` into memory of exactly that size, and the promise
 * `fpr`. */
umbel_err umbeli_filter_shrink(umbel_filter *f, const uint8_t *data, uint64_t bits, double fpr,
                               umbel_diag *diag);

/* What differs, as text; NULL when a key has the same bits in both. */
const char *umbeli_shape_mismatch(const umbeli_shape *a, const umbeli_shape *b);

/* Changing a filter's operations tells other threads nothing: all tables are constant for as long
 * as it exists. */
static inline void umbeli_set_ops(umbel_filter *f, const umbeli_ops *ops) {
    atomic_store_explicit(&f->ops, ops, memory_order_relaxed);
}

static inline uint64_t umbeli_keys_added(const umbel_filter *f) {
    return atomic_load_explicit(&f->keys_added, memory_order_relaxed);
}

static inline void umbeli_set_keys_added(umbel_filter *f, uint64_t n) {
    atomic_store_explicit(&f->keys_added, n, memory_order_relaxed);
}

/* Counts adds that changed the filter. */
static inline void umbeli_count_added(umbel_filter *f, uint64_t n) {
    if (f->concurrent) {
        atomic_fetch_add_explicit(&f->keys_added, n, memory_order_relaxed);
    } else {
        umbeli_set_keys_added(f, umbeli_keys_added(f) + n);
    }
}

/* Set operations for every kind whose data is plain bits. */
umbel_err umbeli_merge_bits(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);
/* Bytes [at, end) of umbeli_merge_bits. */
void umbeli_merge_range(umbel_filter *into, const umbel_filter *from, uint64_t at, uint64_t end);
umbel_err umbeli_intersect_bits(umbel_filter *into, const umbel_filter *with, umbel_diag *diag);

/* The largest divisor of n, the parts of a filter, that `fits`, as 1 does and, if one does, those
 * below it. */
uint64_t umbeli_fold_factor(uint64_t n, bool (*fits)(void *ctx, uint64_t factor), void *ctx);

/* umbel_set_data, but also on frozen filters; bytes may be the filter's own. */
umbel_err umbeli_extra_set(umbel_filter *f, const void *bytes, size_t len, umbel_diag *diag);

/* The entry that holds the canonical text of the filter's recipe; there is none for "line". */
#define UMBELI_META_RECIPE "recipe"

/* Metadata; limits as umbel_set_meta documents them.  Lengths let a decoder pass texts that do not
 * end in NUL; neither may contain one. */
umbel_err umbeli_meta_set(umbel_filter *f, const char *name, size_t name_len, const char *value,
                          size_t value_len, umbel_diag *diag);
const char *umbeli_meta_get(const umbel_filter *f, const char *name); /* NULL: there is none */
void umbeli_meta_remove(umbel_filter *f, const char *name);

/* The canonical text of a recipe, or one that is unknown here. */
umbel_err umbeli_recipe_set(umbel_filter *f, const char *text, umbel_diag *diag);
umbel_err umbeli_meta_copy(umbel_filter *into, const umbel_filter *from);

/* How many of the filter's first entries can follow these without exceeding the limits. */
size_t umbeli_meta_fitting(const umbel_filter *f, const umbeli_meta_entry *before, size_t count);

#endif
