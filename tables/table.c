/* SPDX-License-Identifier: MIT */
#include "tables/table.h"

#include <string.h>

#include "core/diag.h"
#include "core/mapping.h"
#include "core/size.h"
#include "umbel_foreign.h"

umbel_err umbeli_array_grow(const umbeli_settings *m, void **array, size_t size, size_t count,
                            size_t *cap) {
    if (count < *cap) return UMBEL_OK;
    uint64_t bytes, more = *cap ? (uint64_t)*cap * 2 : 16;
    if (!umbeli_size_mul(more, size, &bytes) || bytes > SIZE_MAX) return UMBEL_ENOMEM;
    void *larger = umbeli_new(m, (size_t)bytes);
    if (!larger) return UMBEL_ENOMEM;
    if (count) memcpy(larger, *array, count * size);
    umbeli_delete(m, *array);
    *array = larger;
    *cap = (size_t)more;
    return UMBEL_OK;
}

uint64_t umbeli_list_bytes(size_t cap, size_t size) {
    uint64_t bytes = (uint64_t)cap * size;
    return bytes < UMBELI_SHORT_LIST ? 0 : bytes;
}

umbel_err umbeli_table_grow(umbel_table *t, void **array, size_t size, size_t count, size_t *cap) {
    uint64_t before = umbeli_list_bytes(*cap, size), after = umbeli_list_bytes(*cap, 2 * size);
    if (count < *cap) return UMBEL_OK;
    if (after > t->settings.max_bytes - t->held) return UMBEL_ELIMIT; /* with both in memory */
    umbel_err e = umbeli_array_grow(&t->settings, array, size, count, cap);
    if (!e) t->held += after - before;
    return e;
}

umbel_err umbeli_table_add(umbel_table *t, const umbeli_place *place) {
    if (t->count * sizeof *place >= t->settings.max_bytes) return UMBEL_ELIMIT;
    void *places = t->places;
    umbel_err e = umbeli_table_grow(t, &places, sizeof *place, t->count, &t->cap);
    if (e) return e;
    t->places = places;
    t->places[t->count++] = *place;
    return UMBEL_OK;
}

umbel_err umbeli_table_note(umbel_table *t, umbel_err err, uint64_t offset, const char *what) {
    umbel_diag why;
    (void)umbeli_fail_at(&why, err, offset, what);
    return umbeli_table_note_diag(t, err, &why);
}

umbel_err umbeli_table_note_diag(umbel_table *t, umbel_err err, const umbel_diag *why) {
    if (!t->faults) {
        t->faults = umbeli_new(&t->settings, UMBELI_MAX_FAULTS * sizeof *t->faults);
        if (!t->faults) return UMBEL_ENOMEM;
    }
    if (t->nfaults < UMBELI_MAX_FAULTS) {
        t->faults[t->nfaults++] = (umbeli_fault){.err = err, .diag = *why};
    }
    return UMBEL_OK;
}

umbel_err umbeli_table_note_loss(umbel_table *t, umbel_err err, const umbel_diag *why) {
    return err == UMBEL_OK || err == UMBEL_ENOMEM ? err : umbeli_table_note_diag(t, err, why);
}

umbel_opts umbeli_table_opts(const umbel_table *t) {
    return (umbel_opts){.alloc = t->settings.hook.alloc ? &t->settings.hook : NULL};
}

umbel_err umbeli_table_view(const umbel_table *t, const umbeli_place *p, const umbel_foreign *as,
                            umbel_filter **out, umbel_diag *diag) {
    umbel_opts opts = umbeli_table_opts(t);
    return umbel_decode(p->bytes, (size_t)p->seen.len, UMBEL_MAP, as, &opts, out, diag);
}

umbel_err umbeli_table_ask_place(const umbel_table *t, const umbeli_place *p, const void *key,
                                 size_t len, uint8_t *may, umbel_diag *diag) {
    *may = p->seen.state != UMBEL_TABLE_EMPTY;
    if (p->seen.state != UMBEL_TABLE_FILTER) return UMBEL_OK;
    umbel_filter *f = NULL;
    umbel_err e = t->ops->filter(t, p, &f, diag);
    if (e) return e;
    *may = umbel_contains(f, key, len);
    umbel_free(f);
    return UMBEL_OK;
}

umbel_err umbeli_table_ask(const umbel_table *t, uint32_t column, const void *key, size_t len,
                           uint8_t *may, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    for (size_t i = 0; i < t->count && !e; i++) {
        const umbeli_place *p = &t->places[i];
        if (p->column == column) e = umbeli_table_ask_place(t, p, key, len, &may[i], diag);
    }
    return e;
}

/* ---- The public functions ---- */

void umbel_table_close(umbel_table *t) {
    if (!t) return;
    t->ops->close(t);
    umbeli_settings settings = t->settings;
    umbeli_delete(&settings, t->places);
    umbeli_delete(&settings, t->faults);
    umbeli_mapping_close(t->mapped, t->len);
    umbeli_delete(&settings, t);
}

umbel_table_system umbel_table_system_of(const umbel_table *t) {
    return t->ops->system;
}

size_t umbel_table_count(const umbel_table *t) {
    return t->count;
}

void umbel_table_place_of(const umbel_table *t, size_t i, umbel_table_place *place) {
    *place = t->places[i].seen;
}

umbel_err umbel_table_filter(const umbel_table *t, size_t i, umbel_filter **out, umbel_diag *diag) {
    const umbeli_place *p = &t->places[i];
    if (p->seen.state != UMBEL_TABLE_FILTER) {
        return umbeli_fail_at(diag, UMBEL_ENOTSUP, p->seen.offset, "no filter here");
    }
    return t->ops->filter(t, p, out, diag);
}

umbel_err umbel_table_fault(const umbel_table *t, size_t i, umbel_diag *fault) {
    if (i >= t->nfaults) return UMBEL_OK;
    if (fault) *fault = t->faults[i].diag;
    return t->faults[i].err;
}

bool umbel_table_fact_of(const umbel_table *t, size_t i, umbel_table_fact *fact) {
    return t->ops->fact && t->ops->fact(t, i, fact);
}

umbel_err umbel_table_key(const umbel_table *t, const char *column, const char *type,
                          const void *text, size_t len, void *key, size_t cap, size_t *key_len,
                          umbel_diag *diag) {
    if (t->ops->key) {
        return t->ops->key(t, column, type, (umbel_key){text, len}, key, cap, key_len, diag);
    }
    umbel_type as = UMBEL_TYPE_STRING;
    if (column) return umbeli_invalid(diag, "column: this table has none");
    if (type && !umbel_type_named(type, &as)) return umbeli_invalid(diag, "type: unknown");
    return umbel_typed_key(as, text, len, key, cap, key_len, diag);
}

umbel_err umbel_table_check(const umbel_table *t, const char *column, const void *key, size_t len,
                            uint8_t *may, umbel_table_answer *answer, umbel_diag *diag) {
    uint8_t *each = umbeli_new(&t->settings, t->count ? t->count : 1);
    if (!each) return umbeli_fail(diag, UMBEL_ENOMEM, "one byte per place");
    umbel_table_answer found = {0};
    umbel_err e = t->ops->check(t, column, key, len, each, &found, diag);
    if (!e) {
        for (size_t i = 0; i < t->count; i++) found.places += each[i];
        found.may_contain = found.may_contain || found.places > 0;
        if (may) memcpy(may, each, t->count);
        if (answer) *answer = found;
    }
    umbeli_delete(&t->settings, each);
    return e;
}
