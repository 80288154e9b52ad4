/* SPDX-License-Identifier: MIT
 *
 * table_open.c - from bytes, a file or a part's directory to a table
 */
#define _DEFAULT_SOURCE /* opendir */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/diag.h"
#include "core/mapping.h"
#include "tables/table.h"

static const umbeli_table_ops *const systems[] = {&umbeli_sstable_ops, &umbeli_rocks_ops,
                                                  &umbeli_columns_ops, &umbeli_part_ops};
enum { SYSTEMS = sizeof systems / sizeof systems[0], PATH_BYTES = 4096 };

static const uint64_t default_held = UINT64_C(1) << 30;

const char *umbel_table_system_name(umbel_table_system system) {
    for (size_t i = 0; i < SYSTEMS; i++) {
        if (systems[i]->system == system) return systems[i]->name;
    }
    return NULL;
}

static umbel_err check_hints(const umbel_table_hints *h, umbel_diag *diag) {
    if (!umbeli_reserved_zero(h->reserved, sizeof h->reserved)) {
        return umbeli_invalid(diag, "hints: reserved fields must be zero");
    }
    if ((unsigned)h->system > UMBEL_TABLE_ROCKSDB) {
        return umbeli_invalid(diag, "hints: unknown system");
    }
    return UMBEL_OK;
}

static const umbeli_table_ops *system_of(const uint8_t *bytes, size_t len,
                                         umbel_table_system wanted) {
    for (size_t i = 0; i < SYSTEMS; i++) {
        if (wanted ? systems[i]->system == wanted : systems[i]->recognise(bytes, len)) {
            return systems[i];
        }
    }
    return NULL;
}

umbel_err umbel_table_read(const void *bytes, size_t len, const umbel_table_hints *hints,
                           const umbel_opts *opts, umbel_table **out, umbel_diag *diag) {
    static const umbel_table_hints no_hints = {0};
    if (!hints) hints = &no_hints;
    umbeli_settings settings;
    umbel_err e = check_hints(hints, diag);
    if (!e) e = umbeli_settings_from(opts, &settings, diag);
    if (e) return e;
    const umbeli_table_ops *ops = system_of(bytes, len, hints->system);
    if (!ops) {
        return umbeli_fail(diag, UMBEL_ECORRUPT,
                           "neither the magic number of a table of LevelDB or RocksDB or of a "
                           "Parquet file, nor a compressed block of ClickHouse");
    }
    umbel_table *t = umbeli_new(&settings, sizeof *t);
    if (!t) return umbeli_fail(diag, UMBEL_ENOMEM, "the table's handle");
    if (!settings.max_bytes) settings.max_bytes = default_held;
    t->ops = ops;
    t->bytes = bytes;
    t->len = len;
    t->settings = settings;
    e = ops->open(t, hints, diag);
    if (e) {
        umbel_table_close(t);
        return e;
    }
    *out = t;
    return UMBEL_OK;
}

/* ---- Files ---- */

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

/* The file of marks next to skp_idx_x.idx; its name depends on the ClickHouse version. */
static void map_marks(const char *path, umbeli_mapping *marks) {
    static const char *const suffixes[] = {".cmrk2", ".cmrk3", ".cmrk4", ".mrk2", ".mrk3", ".mrk4"};
    char marks_path[PATH_BYTES];
    if (!ends_in(path, ".idx")) return;
    int stem = (int)strlen(path) - 4;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && !marks->bytes; i++) {
        int n = snprintf(marks_path, sizeof marks_path, "%.*s%s", stem, path, suffixes[i]);
        if (n > 0 && (size_t)n < sizeof marks_path)
            (void)umbeli_mapping_open(marks_path, marks, NULL);
    }
}

static umbel_err open_file(const char *path, const umbel_table_hints *hints, const umbel_opts *opts,
                           umbel_table **out, umbel_diag *diag) {
    umbeli_mapping file, marks = {0};
    umbel_table_hints with = {0};
    if (hints) with = *hints;
    umbel_err e = umbeli_mapping_open(path, &file, diag);
    if (e) return e;
    if (!with.marks) {
        map_marks(path, &marks);
        with.marks = marks.bytes;
        with.marks_len = marks.len;
    }
    e = umbel_table_read(file.bytes, file.len, &with, opts, out, diag);
    umbeli_mapping_close(marks.bytes, marks.len); /* discarded once read */
    if (e) {
        umbeli_mapping_close(file.bytes, file.len);
    } else {
        (*out)->mapped = file.bytes;
    }
    return e;
}

/* ---- A part's directory ---- */

/* Finds the path of the index to read. */
static umbel_err choose_index(DIR *dir, const char *path, const char *name, char *chosen,
                              umbel_diag *diag) {
    char wanted[PATH_BYTES];
    if (name && snprintf(wanted, sizeof wanted, "skp_idx_%s.idx", name) >= PATH_BYTES) {
        return umbeli_invalid(diag, "name: too long");
    }
    unsigned found = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        bool is_index =
            strncmp(entry->d_name, "skp_idx_", 8) == 0 && ends_in(entry->d_name, ".idx");
        if (!is_index || (name && strcmp(entry->d_name, wanted) != 0)) continue;
        found++;
        int n = snprintf(chosen, PATH_BYTES, "%s/%s", path, entry->d_name);
        if (n < 0 || n >= PATH_BYTES) return umbeli_invalid(diag, "path: too long");
    }
    if (found == 1) return UMBEL_OK;
    return umbeli_fail(
        diag, UMBEL_EINVAL,
        found  ? "name: this part has several indexes (skp_idx_*.idx); say which"
        : name ? "name: this part has no such index"
               : "no skp_idx_*.idx in this directory, so it is not a part with an index");
}

static umbel_err open_part(DIR *dir, const char *path, const umbel_table_hints *hints,
                           const umbel_opts *opts, umbel_table **out, umbel_diag *diag) {
    char chosen[PATH_BYTES];
    umbel_err e = choose_index(dir, path, hints ? hints->name : NULL, chosen, diag);
    return e ? e : open_file(chosen, hints, opts, out, diag);
}

umbel_err umbel_table_open(const char *path, const umbel_table_hints *hints, const umbel_opts *opts,
                           umbel_table **out, umbel_diag *diag) {
    int saved = errno;
    DIR *dir = opendir(path);
    umbel_err e = dir ? open_part(dir, path, hints, opts, out, diag)
                      : open_file(path, hints, opts, out, diag);
    if (dir) closedir(dir);
    errno = saved;
    return e;
}
