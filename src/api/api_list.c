/* SPDX-License-Identifier: MIT
 *
 * api_list.c - a filter in a file that may be replaced while it is queried by its recipe
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/diag.h"
#include "core/mapping.h"
#include "core/memory.h"
#include "core/platform.h"
#include "umbel_meta.h"
#include "umbel_recipe.h"

enum { STACK = 1024, BATCH = 1024 };
static const off_t read_up_to = 64 << 20;

/* Identifies a file, as far as the system can tell. */
typedef struct identity {
    dev_t device;
    ino_t inode;
    off_t size;
    time_t modified;
    struct timespec changed;
} identity;

struct umbel_list {
    umbeli_settings settings;
    umbel_alloc alloc; /* of the caller, for the filters to come; ctx NULL and alloc NULL: malloc */
    umbel_opts opts;
    uint8_t secret[16];
    char *path;
    identity file, refused; /* in use; and the last one that is no filter for this list */
    umbel_filter *filter;
    umbel_recipe *recipe;
    uint32_t traits;
    time_t asked_at; /* the second in which the file was last checked */
    uint64_t replaced;
    umbel_err err, refused_err; /* of the last look at the file; of the last that was refused */
    umbel_diag diag, refused_diag;
};

static umbel_err identify(const char *path, identity *out, umbel_diag *diag) {
    struct stat st;
    if (stat(path, &st)) return umbeli_fail_sys(diag, errno, "cannot stat the file");
    *out = (identity){st.st_dev, st.st_ino, st.st_size, st.st_mtime, UMBELI_CHANGED(st)};
    return UMBEL_OK;
}

static bool same_file(const identity *a, const identity *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified == b->modified && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Reads the file with read(2): whoever truncates it meanwhile cannot kill us. */
static umbel_err load(const umbel_list *l, umbel_filter **out, umbel_diag *diag) {
    umbeli_mapping bytes;
    int fd;
    umbel_err e = umbeli_open(l->path, &fd, diag);
    if (e) return e;
    e = umbeli_bytes_of(fd, &l->settings, &bytes, diag);
    umbeli_close(fd);
    if (e) return e;
    e = umbel_decode(bytes.bytes, bytes.len, NULL, &l->opts, out, diag);
    umbeli_delete(&l->settings, bytes.bytes);
    return e;
}

/* Reads the current file; on failure the list stays as it was. */
static umbel_err read_file(umbel_list *l, const identity *file, umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbel_recipe *recipe = NULL;
    umbel_err e = file->size <= read_up_to ? load(l, &f, diag)
                                           : umbel_file_open(l->path, NULL, &l->opts, &f, diag);
    if (!e) e = umbel_recipe_parse(umbel_get_recipe(f), &recipe, diag);
    if (e) {
        umbel_free(f);
        return e;
    }
    umbel_free(l->filter);
    umbel_recipe_free(l->recipe);
    l->filter = f;
    l->recipe = recipe;
    l->traits = umbel_recipe_traits(recipe);
    l->file = *file;
    return UMBEL_OK;
}

/* A coarse clock: it costs a few nanoseconds, and seconds are all that is needed. */
static time_t second_now(void) {
    struct timespec now = {0};
#ifdef CLOCK_MONOTONIC_COARSE
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return now.tv_sec;
}

umbel_err umbel_list_open(const char *path, const umbel_opts *opts, umbel_list **out,
                          umbel_diag *diag) {
    umbeli_settings settings;
    identity file;
    int saved = errno;
    umbel_err e = umbeli_settings_from(opts, &settings, diag);
    if (e) return e;
    size_t len = strlen(path) + 1;
    umbel_list *l = umbeli_new(&settings, sizeof *l);
    if (!l) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a list");
    l->settings = settings;
    if (opts) l->opts = *opts;
    if (l->opts.alloc) {
        l->alloc = *l->opts.alloc;
        l->opts.alloc = &l->alloc;
    }
    if (l->opts.secret) {
        memcpy(l->secret, l->opts.secret, sizeof l->secret);
        l->opts.secret = l->secret;
    }
    l->path = umbeli_new(&settings, len);
    e = l->path ? identify(path, &file, diag)
                : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a list");
    if (!e) {
        memcpy(l->path, path, len);
        l->asked_at = second_now();
        e = read_file(l, &file, diag);
    }
    errno = saved;
    if (e) {
        umbel_list_close(l);
        return e;
    }
    *out = l;
    return UMBEL_OK;
}

void umbel_list_close(umbel_list *l) {
    if (!l) return;
    umbeli_settings settings = l->settings;
    umbel_free(l->filter);
    umbel_recipe_free(l->recipe);
    umbeli_delete(&settings, l->path);
    umbeli_delete(&settings, l);
}

/* ---- replacing ---------------------------------------------------------------------------- */

/* The same bytes would be refused again; memory and the system may do better next time.  A file
 * that has only just changed may change again within one tick of the file system's clock. */
static bool stays_refused(umbel_err e, const identity *file) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    bool settled = now.tv_sec - file->changed.tv_sec >= 2 || now.tv_sec < file->changed.tv_sec;
    return e && e != UMBEL_ENOMEM && e != UMBEL_EIO && settled;
}

umbel_err umbel_list_refresh(umbel_list *l, bool *replaced, umbel_diag *diag) {
    identity file;
    umbel_diag why = {0};
    int saved = errno;
    umbel_err e = identify(l->path, &file, &why);
    bool other = !e && !same_file(&file, &l->file);
    l->asked_at = second_now();
    if (other && same_file(&file, &l->refused)) {
        e = l->refused_err;
        why = l->refused_diag;
    } else if (other) {
        e = read_file(l, &file, &why);
        if (stays_refused(e, &file)) {
            l->refused = file;
            l->refused_err = e;
            l->refused_diag = why;
        }
    }
    errno = saved;
    l->replaced += other && !e;
    if (replaced) *replaced = other && !e;
    l->err = e;
    l->diag = why;
    if (diag && e) *diag = why;
    return e;
}

static void refresh_sometimes(umbel_list *l) {
    if (second_now() != l->asked_at) (void)umbel_list_refresh(l, NULL, NULL);
}

const umbel_filter *umbel_list_filter(const umbel_list *l) {
    return l->filter;
}

umbel_err umbel_list_status(const umbel_list *l, umbel_diag *diag) {
    umbel_err e = umbel_damage(l->filter, diag);
    if (!e && l->err && diag) *diag = l->diag;
    return e ? e : l->err;
}

uint64_t umbel_list_replaced(const umbel_list *l) {
    return l->replaced;
}

size_t umbel_list_text(const umbel_list *l, char *text, size_t cap) {
    umbel_info info;
    umbel_describe(l->filter, &info);
    int len = snprintf(text, cap, "kind=%s keys=%" PRIu64 " bytes=%" PRIu64 " exceptions=%" PRIu32,
                       umbel_kind_name(info.kind), info.keys_added, info.bytes, info.exceptions);
    return len < 0 ? 0 : (size_t)len;
}

/* ---- asking ------------------------------------------------------------------------------- */

static umbel_recipe_use lookup(umbel_recipe_use use) {
    return (umbel_recipe_use)(use | UMBEL_USE_LOOKUP);
}

static bool has_key(const umbel_list *l, umbel_key key) {
    do {
        if (umbel_contains(l->filter, key.data, key.len)) return true;
    } while (l->traits & UMBEL_RECIPE_PARENTS && umbel_recipe_next(l->recipe, &key));
    return false;
}

bool umbel_list_has(umbel_list *l, umbel_recipe_use use, const void *text, size_t len) {
    refresh_sometimes(l);
    umbel_key key = {text, len};
    if (l->traits & UMBEL_RECIPE_LINE) return umbel_contains(l->filter, text, len);
    uint8_t stack[STACK], *scratch = stack, state;
    size_t room = umbel_recipe_room(l->recipe, 1, len);
    if (room > sizeof stack) scratch = umbeli_new(&l->settings, room);
    bool found = scratch &&
                 umbel_recipe_apply(l->recipe, lookup(use), &key, 1, scratch, &state) == 1 &&
                 has_key(l, key);
    if (scratch != stack) umbeli_delete(&l->settings, scratch);
    return found;
}

/* Keys without an answer yet, and the texts that they belong to. */
typedef struct rest {
    umbel_key keys[BATCH];
    uint16_t number[BATCH];
    uint8_t hit[BATCH];
    size_t n;
} rest;

/* One label after the other: the parents of keys that are not found are looked up next. */
static void ask_parents(const umbel_list *l, const umbel_key *keys, const uint8_t *states, size_t n,
                        uint8_t *hit, rest *r) {
    r->n = 0;
    for (size_t i = 0; i < n; i++) {
        hit[i] = 0;
        if (states[i] != UMBEL_FOUND_KEY) continue;
        r->keys[r->n] = keys[i];
        r->number[r->n++] = (uint16_t)i;
    }
    while (r->n > 0) {
        size_t left = 0;
        umbel_contains_many(l->filter, r->keys, r->n, r->hit);
        for (size_t i = 0; i < r->n; i++) {
            hit[r->number[i]] = r->hit[i];
            if (r->hit[i] || !umbel_recipe_next(l->recipe, &r->keys[i])) continue;
            r->keys[left] = r->keys[i];
            r->number[left++] = r->number[i];
        }
        r->n = left;
    }
}

umbel_err umbel_list_has_many(umbel_list *l, umbel_recipe_use use, const umbel_key *texts, size_t n,
                              uint8_t *hit, umbel_diag *diag) {
    refresh_sometimes(l);
    if (l->traits & UMBEL_RECIPE_LINE) {
        umbel_contains_many(l->filter, texts, n, hit);
        return UMBEL_OK;
    }
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) bytes += texts[i].len;
    size_t room = umbel_recipe_room(l->recipe, n, bytes);
    uint8_t *scratch = umbeli_new(&l->settings, room + n + 1);
    umbel_key *keys = umbeli_new(&l->settings, (n + 1) * sizeof *keys);
    rest *r = umbeli_new(&l->settings, sizeof *r);
    if (!scratch || !keys || !r) {
        umbeli_delete(&l->settings, scratch);
        umbeli_delete(&l->settings, keys);
        umbeli_delete(&l->settings, r);
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the keys");
    }
    uint8_t *states = scratch + room;
    for (size_t i = 0; i < n; i++) keys[i] = texts[i];
    umbel_recipe_apply(l->recipe, lookup(use), keys, n, scratch, states);
    for (size_t from = 0; from < n; from += BATCH) {
        size_t batch = n - from < BATCH ? n - from : BATCH;
        ask_parents(l, keys + from, states + from, batch, hit + from, r);
    }
    umbeli_delete(&l->settings, r);
    umbeli_delete(&l->settings, keys);
    umbeli_delete(&l->settings, scratch);
    return UMBEL_OK;
}
