/* SPDX-License-Identifier: MIT */
#include "core/filter.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"

umbel_err umbeli_filter_new(const umbeli_ops *ops, const char *layout, const umbeli_shape *shape,
                            uint64_t data_len, const uint8_t *borrow,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    if (settings->concurrent && !borrow && !ops->concurrent) {
        return umbeli_invalid(diag, "concurrent: only blocked and line filters support it");
    }
    umbel_filter *f = umbeli_new(settings, ops->size);
    if (!f) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
    umbeli_set_ops(f, ops);
    f->layout = layout;
    f->shape = *shape;
    f->settings = *settings;
    f->data_len = data_len;
    f->concurrent = settings->concurrent && !borrow;
    if (borrow) {
        f->data = (uint8_t *)(uintptr_t)borrow; /* frozen: never written */
        f->frozen = true;
        f->settings.concurrent = false; /* read-only */
    } else {
        umbel_err e = umbeli_array_new(settings, data_len, &f->array, diag);
        if (e) {
            umbeli_delete(settings, f);
            return e;
        }
        f->data = f->array.data;
    }
    *out = f;
    return UMBEL_OK;
}

umbel_err umbeli_filter_finish(umbel_filter *f, umbel_err e, umbel_filter **out) {
    if (e) {
        umbeli_filter_free(f);
    } else {
        *out = f;
    }
    return e;
}

uint8_t *umbeli_filter_segment(const umbel_filter *f, size_t i, uint64_t *len) {
    if (i > 0) return f->ops->segment ? f->ops->segment(f, i, len) : NULL;
    *len = f->data_len;
    return f->data;
}

uint64_t umbeli_filter_bytes(const umbel_filter *f) {
    uint64_t sum = 0, len = 0;
    for (size_t i = 0; umbeli_filter_segment(f, i, &len); i++) sum += len;
    return sum;
}

uint8_t *umbeli_filter_run(const umbel_filter *f, uint64_t offset, uint64_t *len) {
    uint8_t *bytes;
    for (size_t i = 0; (bytes = umbeli_filter_segment(f, i, len)) != NULL; i++) {
        if (offset < *len) {
            *len -= offset;
            return bytes + offset;
        }
        offset -= *len;
    }
    return NULL;
}

const uint8_t *umbeli_filter_peek(const umbel_filter *f, uint64_t offset, uint8_t room[UMBELI_PEEK],
                                  uint64_t *len) {
    const uint8_t *bytes = umbeli_filter_run(f, offset, len);
    if (!bytes) return NULL;
    if (*len > UMBELI_PEEK) *len = UMBELI_PEEK;
    if (!f->concurrent) return bytes;
    umbeli_bits_copy_seen(room, bytes, *len);
    return room;
}

void umbeli_filter_put_bits(const umbel_filter *f, umbeli_writer *w) {
    if (f->data_len == 0) return;
    umbeli_put(w, f->data, (size_t)f->data_len - 1);
    umbeli_put_u8(w, umbeli_last_byte(f));
}

static umbel_err copy_exceptions(umbel_filter *f, const umbeli_exceptions *from) {
    if (!from) return UMBEL_OK;
    size_t size = sizeof *from + from->count * sizeof from->hashes[0];
    f->exceptions = umbeli_new(&f->settings, size);
    if (!f->exceptions) return UMBEL_ENOMEM;
    memcpy(f->exceptions, from, size);
    umbeli_set_ops(f, &f->exceptions->ops);
    return UMBEL_OK;
}

void umbeli_filter_drop_exceptions(umbel_filter *f) {
    if (!f->exceptions) return;
    umbeli_set_ops(f, f->exceptions->plain);
    umbeli_delete(&f->settings, f->exceptions);
    f->exceptions = NULL;
}

umbel_err umbeli_filter_copy(const umbel_filter *from, umbel_filter **out) {
    umbel_filter *f = NULL;
    const umbeli_ops *ops = from->exceptions ? from->exceptions->plain : from->ops;
    umbeli_settings settings = from->settings;
    if (from->array.raw) settings.max_bytes = 0; /* it was within the limit when made */
    umbel_err e = umbeli_filter_new(ops, from->layout, &from->shape, from->data_len, NULL,
                                    &settings, &f, NULL);
    if (e) return e;
    f->settings = from->settings;
    /* The kind's own fields follow the base; ops->copy takes care of pointers among them. */
    memcpy((char *)f + sizeof *f, (const char *)from + sizeof *from, from->ops->size - sizeof *f);
    if (from->concurrent) {
        umbeli_bits_copy_seen(f->data, from->data, from->data_len);
    } else {
        memcpy(f->data, from->data, (size_t)from->data_len);
    }
    if (umbeli_has_stray_bits(from)) f->data[f->data_len - 1] = umbeli_last_byte(from);
    umbeli_set_keys_added(f, umbeli_keys_added(from));
    f->uncounted = from->uncounted;
    f->count_error = from->count_error;
    if (from->ops->copy) e = from->ops->copy(f, from);
    if (!e) e = umbeli_extra_set(f, from->extra, from->extra_len, NULL);
    if (!e) e = umbeli_meta_copy(f, from);
    if (!e) e = copy_exceptions(f, from->exceptions);
    return umbeli_filter_finish(f, e, out);
}

umbel_err umbeli_extra_set(umbel_filter *f, const void *bytes, size_t len, umbel_diag *diag) {
    uint8_t *own = NULL;
    if (len) {
        own = umbeli_new(&f->settings, len);
        if (!own) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the data section");
        memcpy(own, bytes, len);
    }
    umbeli_delete(&f->settings, f->extra);
    f->extra = own;
    f->extra_len = len;
    return UMBEL_OK;
}

void umbeli_filter_free(umbel_filter *f) {
    if (!f) return;
    if (f->unmap) f->unmap(f->mapping, f->mapping_len);
    if (f->ops->dispose) f->ops->dispose(f);
    umbeli_settings settings = f->settings;
    for (size_t i = 0; i < f->meta_count; i++) umbeli_delete(&settings, f->meta[i].name);
    umbeli_delete(&settings, f->meta);
    umbeli_delete(&settings, f->extra);
    umbeli_delete(&settings, f->exceptions);
    umbeli_delete(&settings, f->pieces);
    umbeli_array_delete(&settings, &f->array);
    umbeli_delete(&settings, f);
}

static void *same_address(void *ctx, void *ptr) {
    (void)ctx;
    return ptr;
}

/* Gives a filter fresh memory in place of a large `data`: new pages are zero, and cost nothing
 * until they are touched.  False: there is no memory, or clearing is quicker. */
static bool renew(umbel_filter *f) {
    enum { LARGE = 1 << 20 };
    const umbeli_mover mover = {.move = same_address};
    umbeli_settings settings = f->settings;
    umbeli_array fresh;
    settings.max_bytes = 0;
    if (f->concurrent || f->data_len < LARGE) return false;
    if (umbeli_array_new(&settings, f->data_len, &fresh, NULL)) return false;
    umbeli_array_delete(&settings, &f->array);
    f->array = fresh;
    f->data = fresh.data;
    if (f->ops->relocate) (void)f->ops->relocate(f, 0, &mover); /* which points into it */
    return true;
}

void umbeli_filter_clear(umbel_filter *f) {
    uint64_t len = 0;
    uint8_t *bytes;
    if (f->ops->clear) f->ops->clear(f);
    for (size_t i = renew(f) ? 1 : 0; (bytes = umbeli_filter_segment(f, i, &len)) != NULL; i++) {
        memset(bytes, 0, (size_t)len);
    }
    umbeli_filter_drop_exceptions(f);
    umbeli_set_keys_added(f, 0);
    f->uncounted = false;
    f->count_error = 0;
}

/* Moves the handle and everything else that does not belong to the kind. */
static umbel_filter *relocate_base(umbel_filter *f, const umbeli_mover *mover) {
    f = mover->move(mover->ctx, f);
    if (f->array.raw && umbeli_array_move(&f->settings, &f->array, f->data_len, mover)) {
        f->data = f->array.data;
    }
    uint8_t *extra = f->extra ? mover->move(mover->ctx, f->extra) : NULL;
    if (extra != f->extra) f->extra = extra;
    umbeli_exceptions *exceptions = f->exceptions ? mover->move(mover->ctx, f->exceptions) : NULL;
    if (exceptions != f->exceptions) {
        f->exceptions = exceptions;
        umbeli_set_ops(f, &exceptions->ops);
    }
    umbeli_meta_entry *meta = f->meta ? mover->move(mover->ctx, f->meta) : NULL;
    if (meta != f->meta) f->meta = meta;
    for (size_t i = 0; i < f->meta_count; i++) {
        umbeli_meta_entry *entry = &f->meta[i];
        size_t value_at = (size_t)(entry->value - entry->name);
        char *name = mover->move(mover->ctx, entry->name);
        if (name != entry->name) *entry = (umbeli_meta_entry){name, name + value_at};
    }
    return f;
}

bool umbeli_filter_relocate_step(umbel_filter **filter, size_t step, const umbeli_mover *mover) {
    if (step == 0) *filter = relocate_base(*filter, mover);
    return (*filter)->ops->relocate ? (*filter)->ops->relocate(*filter, step, mover) : false;
}

void umbeli_filter_relocate(umbel_filter **filter, const umbeli_mover *mover) {
    for (size_t step = 0; umbeli_filter_relocate_step(filter, step, mover); step++) continue;
}

umbel_err umbeli_filter_shrink(umbel_filter *f, const uint8_t *data, uint64_t bits, double fpr,
                               umbel_diag *diag) {
    uint64_t len = bits / 8 + (bits % 8 != 0);
    umbeli_array smaller;
    umbel_err e = umbeli_array_new(&f->settings, len, &smaller, diag);
    if (e) return e;
    memcpy(smaller.data, data, (size_t)len);
    umbeli_array_delete(&f->settings, &f->array);
    f->array = smaller;
    f->data = smaller.data;
    f->data_len = len;
    f->shape.bits = bits;
    f->shape.fpr = fpr;
    return UMBEL_OK;
}

const char *umbeli_shape_mismatch(const umbeli_shape *a, const umbeli_shape *b) {
    if (a->kind != b->kind) return "the kinds differ";
    if (a->scheme != b->scheme || a->format != b->format) return "the layouts differ";
    if (a->hash != b->hash) return "the hash functions differ";
    if (!umbeli_same_secret(a->secret, b->secret)) return "the secrets differ";
    if (a->seed != b->seed) return "the seeds differ";
    if (a->bits != b->bits) return "the sizes differ";
    if (a->hashes != b->hashes) return "the numbers of hashes differ";
    return NULL;
}

void umbeli_merge_range(umbel_filter *into, const umbel_filter *from, uint64_t at, uint64_t end) {
    uint8_t room[UMBELI_PEEK];
    for (uint64_t len = 0; at < end; at += len) {
        const uint8_t *bytes = umbeli_filter_peek(from, at, room, &len);
        if (len > end - at) len = end - at;
        (into->concurrent ? umbeli_bits_or_seen : umbeli_bits_or)(into->data + at, bytes, len);
    }
}

umbel_err umbeli_merge_bits(umbel_filter *into, const umbel_filter *from, umbel_diag *diag) {
    (void)diag;
    umbeli_merge_range(into, from, 0, into->data_len);
    umbeli_count_added(into, umbeli_keys_added(from));
    return UMBEL_OK;
}

uint64_t umbeli_fold_factor(uint64_t n, bool (*fits)(void *ctx, uint64_t factor), void *ctx) {
    enum { MOST = 2048 }; /* no number below 2^40 has more */
    uint64_t small[MOST], i = 1;
    size_t count = 0;
    for (; i <= n / i && count < MOST; i++) {
        if (n % i == 0) small[count++] = i;
    }
    /* In order they are the small ones, then n divided by each of them, the largest first. */
    size_t low = 0, high = 2 * count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        uint64_t factor = middle < count ? small[middle] : n / small[2 * count - 1 - middle];
        *(fits(ctx, factor) ? &low : &high) = middle;
    }
    return low < count ? small[low] : n / small[2 * count - 1 - low];
}

umbel_err umbeli_intersect_bits(umbel_filter *into, const umbel_filter *with, umbel_diag *diag) {
    (void)diag;
    umbeli_bits_and(into->data, with->data, into->data_len);
    return UMBEL_OK;
}
