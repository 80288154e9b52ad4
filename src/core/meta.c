/* SPDX-License-Identifier: MIT
 *
 * meta.c - what is stored with a filter: its recipe, and named texts
 */
#include <string.h>

#include "core/diag.h"
#include "core/filter.h"

/* Entries are limited because their lengths also take room in a native header, and every new name
 * is compared with all others. */
enum { NAME_MAX_BYTES = 255, ALL_MAX_BYTES = 512 * 1024, MAX_ENTRIES = 1024 };

static umbeli_meta_entry *find(const umbel_filter *f, const char *name, size_t len) {
    for (size_t i = 0; i < f->meta_count; i++) {
        umbeli_meta_entry *entry = &f->meta[i];
        if (strlen(entry->name) == len && memcmp(entry->name, name, len) == 0) return entry;
    }
    return NULL;
}

static uint64_t entry_bytes(const umbeli_meta_entry *entry) {
    return strlen(entry->name) + strlen(entry->value);
}

static uint64_t bytes_of(const umbeli_meta_entry *entries, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += entry_bytes(&entries[i]);
    return sum;
}

size_t umbeli_meta_fitting(const umbel_filter *f, const umbeli_meta_entry *before, size_t count) {
    uint64_t bytes = bytes_of(before, count);
    size_t i = 0;
    for (; i < f->meta_count && count + i < MAX_ENTRIES; i++) {
        bytes += entry_bytes(&f->meta[i]);
        if (bytes > ALL_MAX_BYTES) break;
    }
    return i;
}

static umbel_err make_room(umbel_filter *f, umbel_diag *diag) {
    if (f->meta_count < f->meta_cap) return UMBEL_OK;
    size_t cap = f->meta_cap ? 2 * f->meta_cap : 4;
    umbeli_meta_entry *bigger = umbeli_new(&f->settings, cap * sizeof *bigger);
    if (!bigger) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for metadata");
    if (f->meta_count) memcpy(bigger, f->meta, f->meta_count * sizeof *bigger);
    umbeli_delete(&f->settings, f->meta);
    f->meta = bigger;
    f->meta_cap = cap;
    return UMBEL_OK;
}

umbel_err umbeli_meta_set(umbel_filter *f, const char *name, size_t name_len, const char *value,
                          size_t value_len, umbel_diag *diag) {
    if (name_len == 0 || name_len > NAME_MAX_BYTES || memchr(name, 0, name_len)) {
        return umbeli_invalid(diag, "a metadata name has 1 to 255 bytes, none of them NUL");
    }
    if (value_len && memchr(value, 0, value_len)) {
        return umbeli_invalid(diag, "a metadata value holds a NUL byte");
    }
    umbeli_meta_entry *old = find(f, name, name_len);
    uint64_t others = bytes_of(f->meta, f->meta_count) - (old ? entry_bytes(old) : 0);
    if (value_len > ALL_MAX_BYTES || others + name_len + value_len > ALL_MAX_BYTES) {
        return umbeli_invalid(diag, "metadata would exceed 512 KiB");
    }
    if (!old && f->meta_count == MAX_ENTRIES) {
        return umbeli_invalid(diag, "metadata already has 1024 names");
    }
    if (!old) {
        umbel_err e = make_room(f, diag);
        if (e) return e;
    }
    char *text = umbeli_new(&f->settings, name_len + value_len + 2);
    if (!text) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for metadata");
    memcpy(text, name, name_len);
    if (value_len) memcpy(text + name_len + 1, value, value_len);
    umbeli_meta_entry entry = {.name = text, .value = text + name_len + 1};
    if (old) {
        umbeli_delete(&f->settings, old->name);
        *old = entry;
    } else {
        f->meta[f->meta_count++] = entry;
    }
    return UMBEL_OK;
}

const char *umbeli_meta_get(const umbel_filter *f, const char *name) {
    const umbeli_meta_entry *entry = find(f, name, strlen(name));
    return entry ? entry->value : NULL;
}

void umbeli_meta_remove(umbel_filter *f, const char *name) {
    umbeli_meta_entry *entry = find(f, name, strlen(name));
    if (!entry) return;
    umbeli_delete(&f->settings, entry->name);
    size_t after = f->meta_count - (size_t)(entry - f->meta) - 1;
    memmove(entry, entry + 1, after * sizeof *entry);
    f->meta_count--;
}

umbel_err umbeli_recipe_set(umbel_filter *f, const char *text, umbel_diag *diag) {
    if (strcmp(text, "line") == 0) {
        umbeli_meta_remove(f, UMBELI_META_RECIPE);
        return UMBEL_OK;
    }
    return umbeli_meta_set(f, UMBELI_META_RECIPE, strlen(UMBELI_META_RECIPE), text, strlen(text),
                           diag);
}

umbel_err umbeli_meta_copy(umbel_filter *into, const umbel_filter *from) {
    for (size_t i = 0; i < from->meta_count; i++) {
        const umbeli_meta_entry *entry = &from->meta[i];
        umbel_err e = umbeli_meta_set(into, entry->name, strlen(entry->name), entry->value,
                                      strlen(entry->value), NULL);
        if (e) return e;
    }
    return UMBEL_OK;
}
