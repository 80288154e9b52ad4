/* SPDX-License-Identifier: MIT
 *
 * static_store.c - collects the hashes for a static filter in 256 buckets
 *
 * A bucket is a list of chunks of equal length, in memory or in one temporary file that is unlinked
 * as soon as it is open, so that nothing is left behind whatever happens.  The last chunk of each
 * bucket is always in memory.
 */
#define _GNU_SOURCE /* O_TMPFILE, mkstemp */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/platform.h"
#include "kind/static/static_store.h"

enum { CHUNK_IN_MEMORY = 512, CHUNK_IN_FILE = 8192, MAX_PATH = 4096 };

/* Bytes of a slab: the first is for small filters, the largest gets huge pages. */
enum { MIN_SLAB = 1 << 18, MAX_SLAB = 1 << 23 };

typedef union chunk {
    uint64_t *memory;
    uint64_t number; /* in the file */
} chunk;

typedef struct bucket {
    uint64_t count;
    chunk *full; /* the full chunks */
    size_t nfull, room;
    uint64_t *last; /* NULL before the first hash */
} bucket;

/* Memory for chunks, which are freed together. */
typedef struct slab {
    struct slab *before;
    umbeli_array array;
} slab;

struct umbeli_store {
    umbeli_settings settings;
    int fd;          /* -1: in memory */
    uint64_t chunks; /* in the file */
    size_t chunk_len;
    slab *slabs; /* the newest */
    size_t slab_len, slab_used;
    bucket buckets[UMBELI_STORE_BUCKETS];
};

static umbel_err no_memory(umbel_diag *diag) {
    return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the hashes of the keys");
}

#if UMBELI_HAVE_MKSTEMP
/* The file briefly has a name. */
static int named_and_unlinked(const char *directory) {
    char path[MAX_PATH];
    int len = snprintf(path, sizeof path, "%s/umbel-XXXXXX", directory);
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(path);
    if (fd >= 0) unlink(path);
    return fd;
}
#else
static int named_and_unlinked(const char *directory) {
    (void)directory;
    errno = ENOTSUP;
    return -1;
}
#endif

/* An unnamed file in this directory; -1 with errno. */
static int nameless(const char *directory) {
#if UMBELI_HAVE_TMPFILE
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool refused = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
    if (!refused) return fd; /* else the file system does not support it */
#endif
    return named_and_unlinked(directory);
}

umbel_err umbeli_store_new(const char *directory, const umbeli_settings *settings,
                           umbeli_store **out, umbel_diag *diag) {
    umbeli_store *s = umbeli_new(settings, sizeof *s);
    if (!s) return no_memory(diag);
    s->settings = *settings;
    s->fd = -1;
    s->chunk_len = directory ? CHUNK_IN_FILE : CHUNK_IN_MEMORY;
    if (directory) {
        int before = errno;
        s->fd = nameless(directory);
        int sys = errno;
        errno = before;
        if (s->fd < 0) {
            umbeli_delete(settings, s);
            return umbeli_fail_sys(diag, sys, "cannot create a temporary file in that directory");
        }
    }
    *out = s;
    return UMBEL_OK;
}

void umbeli_store_delete(umbeli_store *s) {
    if (!s) return;
    umbeli_settings settings = s->settings;
    for (size_t i = 0; i < UMBELI_STORE_BUCKETS; i++) {
        umbeli_delete(&settings, s->buckets[i].full);
    }
    for (slab *next; s->slabs; s->slabs = next) {
        next = s->slabs->before;
        umbeli_array_delete(&settings, &s->slabs->array);
        umbeli_delete(&settings, s->slabs);
    }
    if (s->fd >= 0) {
        int before = errno;
        close(s->fd);
        errno = before;
    }
    umbeli_delete(&settings, s);
}

/* Transfers the first hashes of a chunk between memory and file; preserves errno. */
static umbel_err transfer(const umbeli_store *s, uint64_t number, void *hashes, size_t n_hashes,
                          bool writing, umbel_diag *diag) {
    uint8_t *bytes = hashes;
    size_t len = n_hashes * sizeof(uint64_t), done = 0;
    off_t at = (off_t)(number * s->chunk_len * sizeof(uint64_t));
    int before = errno, sys = 0;
    while (done < len && !sys) {
        off_t here = at + (off_t)done;
        ssize_t n = writing ? pwrite(s->fd, bytes + done, len - done, here)
                            : pread(s->fd, bytes + done, len - done, here);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            sys = n == 0 ? EIO : errno;
        }
    }
    errno = before;
    return sys ? umbeli_fail_sys(diag, sys, "cannot read or write the temporary file") : UMBEL_OK;
}

static umbel_err note_full(umbeli_store *s, bucket *b, chunk c, umbel_diag *diag) {
    if (b->nfull == b->room) {
        size_t room = b->room ? 2 * b->room : 8;
        chunk *more = umbeli_new(&s->settings, room * sizeof *more);
        if (!more) return no_memory(diag);
        if (b->nfull) memcpy(more, b->full, b->nfull * sizeof *more);
        umbeli_delete(&s->settings, b->full);
        b->full = more;
        b->room = room;
    }
    b->full[b->nfull++] = c;
    return UMBEL_OK;
}

/* Memory for a chunk; NULL when out of memory. */
static uint64_t *chunk_new(umbeli_store *s) {
    size_t len = s->chunk_len * sizeof(uint64_t);
    if (s->slab_len - s->slab_used < len) {
        size_t more = s->slab_len ? 2 * s->slab_len : MIN_SLAB;
        if (more > MAX_SLAB) more = MAX_SLAB;
        slab *fresh = umbeli_new(&s->settings, sizeof *fresh);
        if (!fresh) return NULL;
        if (!umbeli_scratch_new(&s->settings, more, &fresh->array)) {
            umbeli_delete(&s->settings, fresh);
            return NULL;
        }
        fresh->before = s->slabs;
        s->slabs = fresh;
        s->slab_len = more;
        s->slab_used = 0;
    }
    uint8_t *taken = s->slabs->array.data + s->slab_used;
    s->slab_used += len;
    return (uint64_t *)(void *)taken;
}

/* Makes room for one more hash in b->last. */
static umbel_err next_chunk(umbeli_store *s, bucket *b, umbel_diag *diag) {
    if (b->last && s->fd >= 0) {
        umbel_err e = transfer(s, s->chunks, b->last, s->chunk_len, true, diag);
        return e ? e : note_full(s, b, (chunk){.number = s->chunks++}, diag);
    }
    uint64_t *fresh = chunk_new(s);
    if (!fresh) return no_memory(diag);
    umbel_err e = b->last ? note_full(s, b, (chunk){.memory = b->last}, diag) : UMBEL_OK;
    b->last = fresh;
    return e;
}

umbel_err umbeli_store_add(umbeli_store *s, const uint64_t *hashes, size_t n, umbel_diag *diag) {
    for (size_t i = 0; i < n; i++) {
        bucket *b = &s->buckets[hashes[i] >> (64 - UMBELI_STORE_BITS)];
        size_t at = (size_t)(b->count & (s->chunk_len - 1)); /* a power of two */
        if (at == 0) {
            umbel_err e = next_chunk(s, b, diag);
            if (e) return e;
        }
        b->last[at] = hashes[i];
        b->count++;
    }
    return UMBEL_OK;
}

uint64_t umbeli_store_count(const umbeli_store *s, uint32_t number) {
    return s->buckets[number].count;
}

/* Reads or writes the first n hashes of a bucket. */
static umbel_err walk(const umbeli_store *s, const bucket *b, uint64_t *hashes, uint64_t n,
                      bool writing, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    for (size_t i = 0; n > 0 && !e; i++) {
        size_t now = n < s->chunk_len ? (size_t)n : s->chunk_len;
        uint64_t *lies = i == b->nfull ? b->last : s->fd < 0 ? b->full[i].memory : NULL;
        if (!lies) {
            e = transfer(s, b->full[i].number, hashes, now, writing, diag);
        } else if (writing) {
            memcpy(lies, hashes, now * sizeof *hashes);
        } else {
            memcpy(hashes, lies, now * sizeof *hashes);
        }
        hashes += now;
        n -= now;
    }
    return e;
}

umbel_err umbeli_store_load(const umbeli_store *s, uint32_t number, uint64_t *hashes,
                            umbel_diag *diag) {
    return walk(s, &s->buckets[number], hashes, s->buckets[number].count, false, diag);
}

umbel_err umbeli_store_replace(umbeli_store *s, uint32_t number, const uint64_t *hashes, uint64_t n,
                               umbel_diag *diag) {
    s->buckets[number].count = n;
    return walk(s, &s->buckets[number], (uint64_t *)(uintptr_t)hashes, n, true, diag);
}
