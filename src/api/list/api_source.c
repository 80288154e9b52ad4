/* SPDX-License-Identifier: MIT
 *
 * api_source.c - a file with a filter that may be replaced while it is queried
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "api/list/owned_lookup.h"
#include "core/diag.h"
#include "core/filter.h"
#include "core/mapping.h"
#include "core/memory.h"
#include "core/platform.h"
#include "umbel_foreign.h"

static const off_t read_up_to = 64 << 20;

/* Identifies a file, as far as the system can tell. */
typedef struct identity {
    dev_t device;
    ino_t inode;
    off_t size;
    time_t modified;
    struct timespec changed;
} identity;

/* A list as it is in the directory: all zeros for what is not there. */
typedef struct edition {
    identity file, deltas; /* the filter, and the deltas beside it ... */
    identity witness;      /* ... and what a guard reads beside the filter */
} edition;

/* What became of the last look at the file. */
typedef struct outcome {
    umbel_err err;
    umbel_diag why;
} outcome;

struct umbel_source {
    umbeli_settings settings;
    umbel_source_opts how;
    umbel_foreign as; /* the caller's, as are those below */
    umbel_opts opts;
    umbel_alloc alloc;
    umbel_guard guard;
    uint8_t secret[16];
    char *path, *recipe, *deltas, *beside;
    edition used, refused;  /* in force; and the last one that is not a list for this source */
    bool settled;           /* the refused one need not be read again while it is the same */
    uint64_t deltas_number; /* of the deltas in force, as the guard says */
    const umbel_lookup *lookup;
    time_t asked_at; /* the second in which the file was last checked */
    umbel_source_state state;
    outcome last;
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

static bool same_list(const edition *a, const edition *b) {
    return same_file(&a->file, &b->file) && same_file(&a->deltas, &b->deltas);
}

static identity identify_any(const char *path) {
    identity out = {0};
    if (path) (void)identify(path, &out, NULL);
    return out;
}

static umbel_err look(const umbel_source *s, edition *out, umbel_diag *diag) {
    *out = (edition){.deltas = identify_any(s->deltas), .witness = identify_any(s->beside)};
    return identify(s->path, &out->file, diag);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* An edition that was withdrawn is refused, however well it is signed. */
static umbel_err not_older(uint64_t number, uint64_t least, umbel_diag *diag) {
    if (number >= least) return UMBEL_OK;
    return umbeli_fail(diag, UMBEL_EUNSIGNED, "its number is smaller than that of the list in use");
}

static umbel_err accept_file(const umbel_source *s, const umbeli_mapping *b, uint64_t *number,
                             umbel_diag *diag) {
    const umbel_guard *g = s->how.guard;
    if (!g) return UMBEL_OK;
    umbel_err e = g->accept(g->ctx, s->path, b->bytes, b->len, NULL, number, diag);
    return e ? e : not_older(*number, s->state.number, diag);
}

static umbel_err accept_deltas(const umbel_source *s, const umbeli_mapping *b, uint64_t least,
                               uint64_t *number, umbel_diag *diag) {
    const umbel_guard *g = s->how.guard;
    if (!g) return UMBEL_OK;
    umbel_err e = umbeli_deltas_accept(g, s->deltas, b->bytes, b->len, number, diag);
    return e ? e : not_older(*number, least, diag);
}

/* With read(2): whoever truncates the file meanwhile cannot kill us. */
static umbel_err read_whole(const umbel_source *s, const char *path, umbeli_mapping *out,
                            umbel_diag *diag) {
    int fd;
    umbel_err e = umbeli_open(path, &fd, diag);
    if (e) return e;
    e = umbeli_bytes_of(fd, &s->settings, out, diag);
    umbeli_close(fd);
    return e;
}

static umbel_err load(const umbel_source *s, umbel_filter **out, uint64_t *number,
                      umbel_diag *diag) {
    umbeli_mapping bytes;
    umbel_err e = read_whole(s, s->path, &bytes, diag);
    if (e) return e;
    e = accept_file(s, &bytes, number, diag);
    if (!e) e = umbel_decode(bytes.bytes, bytes.len, UMBEL_LOAD, s->how.as, s->how.opts, out, diag);
    umbeli_delete(&s->settings, bytes.bytes);
    return e;
}

static umbel_err open_filter(const umbel_source *s, const identity *file, umbel_filter **out,
                             uint64_t *number, umbel_diag *diag) {
    if (s->how.open) return s->how.open(s->how.ctx, s->path, out, diag);
    if (file->size <= read_up_to || s->how.guard) return load(s, out, number, diag);
    return umbel_file_open(s->path, UMBEL_MAP, s->how.as, s->how.opts, out, diag);
}

/* What was found beside a filter. */
typedef struct list_deltas {
    umbeli_delta_chain *chain;
    uint64_t number, aside; /* that the guard says; bytes that belong to another base */
} list_deltas;

static bool same_base(const umbel_source *s, const umbel_filter *f) {
    const umbel_filter *now = s->lookup ? umbel_lookup_filter(s->lookup) : NULL;
    return now && memcmp(now->file_sums, f->file_sums, sizeof f->file_sums) == 0;
}

/* The deltas beside a filter; a guard must accept them as well, and does not let them go back. */
static umbel_err load_deltas(const umbel_source *s, const umbel_filter *f, const edition *list,
                             list_deltas *out, umbel_diag *diag) {
    uint64_t least = same_base(s, f) ? s->deltas_number : 0;
    umbeli_mapping bytes;
    if (!list->deltas.inode && !list->deltas.changed.tv_sec) {
        return !least ? UMBEL_OK : umbeli_fail(diag, UMBEL_EUNSIGNED, "its deltas are gone");
    }
    umbel_err e = read_whole(s, s->deltas, &bytes, diag);
    if (e) return e;
    bool aside = false;
    e = accept_deltas(s, &bytes, least, &out->number, diag);
    if (!e) e = umbeli_deltas_read(bytes.bytes, bytes.len, f, &out->chain, &aside, diag);
    out->aside = aside ? bytes.len : 0;
    umbeli_delete(&s->settings, bytes.bytes);
    return e;
}

static umbel_err open_list(const umbel_source *s, const edition *list, umbel_lookup **next,
                           uint64_t *number, list_deltas *deltas, umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbel_err e = open_filter(s, &list->file, &f, number, diag);
    if (!e) e = load_deltas(s, f, list, deltas, diag);
    if (!e) e = umbeli_lookup_of(f, s->how.recipe, next, diag);
    if (!e) {
        umbeli_lookup_follow(*next, deltas->chain);
        return UMBEL_OK;
    }
    umbeli_delta_chain_free(deltas->chain);
    umbel_free(f);
    return e;
}

/* Puts the current files in force; on failure the source stays as it was. */
static umbel_err take(umbel_source *s, const edition *list, umbel_diag *diag) {
    umbel_lookup *next = NULL;
    uint64_t number = 0;
    list_deltas deltas = {NULL, 0, 0};
    umbel_err e = open_list(s, list, &next, &number, &deltas, diag);
    if (e) return e;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    umbel_lookup_free(s->lookup);
    s->lookup = next;
    s->used = *list;
    s->deltas_number = deltas.number;
    s->state.since = (uint64_t)now.tv_sec;
    s->state.number = number;
    s->state.aside = deltas.aside;
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

/* ---- opening ------------------------------------------------------------------------------ */

/* A copy of the text, if it is not NULL, with an end. */
static bool keep_text(const umbeli_settings *settings, const char *text, const char *end,
                      char **out) {
    size_t len = text ? strlen(text) : 0;
    if (!text) return true;
    *out = umbeli_new(settings, len + strlen(end) + 1);
    if (!*out) return false;
    memcpy(*out, text, len);
    strcpy(*out + len, end);
    return true;
}

/* Everything that `how` points to is copied: files are still opened after the caller has gone. */
static umbel_err keep(umbel_source *s, const char *path, const umbel_source_opts *how,
                      umbel_diag *diag) {
    if (how) s->how = *how;
    if (s->how.as) {
        s->as = *s->how.as;
        s->how.as = &s->as;
    }
    if (s->how.opts) {
        s->opts = *s->how.opts;
        s->how.opts = &s->opts;
    }
    if (s->opts.alloc) {
        s->alloc = *s->opts.alloc;
        s->opts.alloc = &s->alloc;
    }
    if (s->opts.secret) {
        memcpy(s->secret, s->opts.secret, sizeof s->secret);
        s->opts.secret = s->secret;
    }
    if (s->how.guard) {
        s->guard = *s->how.guard;
        s->how.guard = &s->guard;
    }
    const char *beside = s->guard.beside;
    bool kept = keep_text(&s->settings, path, "", &s->path) &&
                keep_text(&s->settings, s->how.recipe, "", &s->recipe) &&
                keep_text(&s->settings, path, UMBELI_DELTAS, &s->deltas) &&
                (!beside || keep_text(&s->settings, path, beside, &s->beside));
    s->how.recipe = s->recipe;
    return kept ? UMBEL_OK : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a source");
}

umbel_err umbel_source_open(const char *path, const umbel_source_opts *how, umbel_source **out,
                            umbel_diag *diag) {
    umbeli_settings settings;
    edition list;
    int saved = errno;
    if (how && !umbeli_reserved_zero(how->reserved, sizeof how->reserved)) {
        return umbeli_invalid(diag, "how.reserved: must be 0");
    }
    if (how && how->guard && how->open) return umbeli_invalid(diag, "how.guard: not with open");
    umbel_err e = umbeli_settings_from(how ? how->opts : NULL, &settings, diag);
    if (e) return e;
    umbel_source *s = umbeli_new(&settings, sizeof *s);
    if (!s) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a source");
    s->settings = settings;
    e = keep(s, path, how, diag);
    if (!e) e = look(s, &list, diag);
    s->asked_at = second_now();
    if (!e) e = take(s, &list, diag);
    errno = saved;
    if (e) {
        umbel_source_close(s);
        return e;
    }
    *out = s;
    return UMBEL_OK;
}

void umbel_source_close(umbel_source *s) {
    if (!s) return;
    umbeli_settings settings = s->settings;
    umbel_lookup_free(s->lookup);
    umbeli_delete(&settings, s->beside);
    umbeli_delete(&settings, s->deltas);
    umbeli_delete(&settings, s->recipe);
    umbeli_delete(&settings, s->path);
    umbeli_delete(&settings, s);
}

/* ---- replacing ---------------------------------------------------------------------------- */

/* A file that has only just changed may change again within one tick of the file system's clock. */
static bool has_settled(const identity *file) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - file->changed.tv_sec >= 2 || now.tv_sec < file->changed.tv_sec;
}

/* The same bytes would be refused again; memory and the system may do better next time. */
static void note_refusal(umbel_source *s, const edition *list, umbel_err e) {
    bool again = s->last.err && same_list(list, &s->refused);
    s->state.refused += !again;
    s->refused = *list;
    s->settled = e != UMBEL_ENOMEM && e != UMBEL_EIO && has_settled(&list->file) &&
                 has_settled(&list->deltas) && has_settled(&list->witness);
}

umbel_err umbel_source_refresh(umbel_source *s, umbel_diag *diag) {
    edition list;
    outcome now = {0};
    int saved = errno;
    now.err = look(s, &list, &now.why);
    s->asked_at = second_now();
    bool other = !now.err && !same_list(&list, &s->used);
    if (other && s->settled && same_list(&list, &s->refused) &&
        same_file(&list.witness, &s->refused.witness)) {
        now = s->last;
    } else {
        if (other) now.err = take(s, &list, &now.why);
        if (now.err) note_refusal(s, &list, now.err);
        if (!now.err) s->settled = false;
        s->state.replaced += other && !now.err;
    }
    errno = saved;
    s->last = now;
    if (diag && now.err) *diag = now.why;
    return now.err;
}

const umbel_lookup *umbel_source_now(umbel_source *s) {
    if (second_now() != s->asked_at) (void)umbel_source_refresh(s, NULL);
    return s->lookup;
}

umbel_err umbel_source_status(const umbel_source *s, umbel_source_state *state, umbel_diag *diag) {
    if (state) {
        *state = s->state;
        state->stale = s->last.err != UMBEL_OK;
    }
    umbel_err e = umbel_damage(umbel_lookup_filter(s->lookup), diag);
    if (!e && s->last.err && diag) *diag = s->last.why;
    return e ? e : s->last.err;
}
