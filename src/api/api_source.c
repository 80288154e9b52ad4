/* SPDX-License-Identifier: MIT
 *
 * api_source.c - a file with a filter that may be replaced while it is queried
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "api/owned_lookup.h"
#include "core/diag.h"
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
    char *path, *recipe, *beside;
    identity file;    /* in force */
    identity refused; /* the last one that is not a filter for this source ... */
    identity witness; /* ... by what was beside it */
    bool settled;     /* the refused one need not be read again while both are the same */
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

/* What the guard reads beside the file; all zeros if there is nothing. */
static identity identify_beside(const umbel_source *s) {
    identity out = {0};
    if (s->beside) (void)identify(s->beside, &out, NULL);
    return out;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* An edition that was withdrawn is refused, however well it is signed. */
static umbel_err admit(const umbel_source *s, const umbeli_mapping *b, uint64_t *number,
                       umbel_diag *diag) {
    const umbel_guard *g = s->how.guard;
    if (!g) return UMBEL_OK;
    umbel_err e = g->accept(g->ctx, s->path, b->bytes, b->len, number, diag);
    if (e || *number >= s->state.number) return e;
    return umbeli_fail(diag, UMBEL_EUNSIGNED, "its number is smaller than that of the list in use");
}

/* Reads the file with read(2): whoever truncates it meanwhile cannot kill us. */
static umbel_err load(const umbel_source *s, umbel_filter **out, uint64_t *number,
                      umbel_diag *diag) {
    umbeli_mapping bytes;
    int fd;
    umbel_err e = umbeli_open(s->path, &fd, diag);
    if (e) return e;
    e = umbeli_bytes_of(fd, &s->settings, &bytes, diag);
    umbeli_close(fd);
    if (e) return e;
    e = admit(s, &bytes, number, diag);
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

/* Puts the current file in force; on failure the source stays as it was. */
static umbel_err take(umbel_source *s, const identity *file, umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbel_lookup *next = NULL;
    uint64_t number = 0;
    umbel_err e = open_filter(s, file, &f, &number, diag);
    if (!e) e = umbeli_lookup_of(f, s->how.recipe, &next, diag);
    if (e) {
        umbel_free(f);
        return e;
    }
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    umbel_lookup_free(s->lookup);
    s->lookup = next;
    s->file = *file;
    s->state.since = (uint64_t)now.tv_sec;
    s->state.number = number;
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
                (!beside || keep_text(&s->settings, path, beside, &s->beside));
    s->how.recipe = s->recipe;
    return kept ? UMBEL_OK : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a source");
}

umbel_err umbel_source_open(const char *path, const umbel_source_opts *how, umbel_source **out,
                            umbel_diag *diag) {
    umbeli_settings settings;
    identity file;
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
    if (!e) e = identify(path, &file, diag);
    s->asked_at = second_now();
    if (!e) e = take(s, &file, diag);
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
static void note_refusal(umbel_source *s, const identity *file, const identity *beside,
                         umbel_err e) {
    bool again = s->last.err && same_file(file, &s->refused);
    s->state.refused += !again;
    s->refused = *file;
    s->witness = *beside;
    s->settled = e != UMBEL_ENOMEM && e != UMBEL_EIO && has_settled(file) && has_settled(beside);
}

umbel_err umbel_source_refresh(umbel_source *s, umbel_diag *diag) {
    identity file = {0}; /* none has this one */
    outcome now = {0};
    int saved = errno;
    now.err = identify(s->path, &file, &now.why);
    s->asked_at = second_now();
    bool other = !now.err && !same_file(&file, &s->file);
    identity beside = identify_beside(s);
    if (other && s->settled && same_file(&file, &s->refused) && same_file(&beside, &s->witness)) {
        now = s->last;
    } else {
        if (other) now.err = take(s, &file, &now.why);
        if (now.err) note_refusal(s, &file, &beside, now.err);
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
