/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "filter/gzipped_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "umbel_foreign.h"

enum { GZIP_WINDOW = 15 + 16, PIECE = 1 << 30, FIRST_ROOM = 4096 };

typedef struct gunzip {
    z_stream z;
    const umbel_opts *opts;
    const uint8_t *packed;
    size_t packed_len, fed; /* fed: handed to zlib so far */
    bool ended;             /* all members were read to their ends */
    uint8_t *bytes;
    size_t len, room;
    umbel_err error;
    umbel_diag diag;
} gunzip;

bool cli_is_gzipped(const uint8_t *bytes, size_t len) {
    return len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static void *take(const umbel_opts *opts, size_t size) {
    return opts->alloc ? opts->alloc->alloc(opts->alloc->ctx, size) : malloc(size);
}

static void give(const umbel_opts *opts, void *ptr) {
    if (!opts->alloc) {
        free(ptr);
    } else if (ptr) {
        opts->alloc->free(opts->alloc->ctx, ptr);
    }
}

static void *zlib_take(void *opts, unsigned items, unsigned size) {
    return take(opts, (size_t)items * size);
}

static void zlib_give(void *opts, void *ptr) {
    give(opts, ptr);
}

static bool fail(gunzip *g, umbel_err error, const char *what) {
    g->error = error;
    g->diag = (umbel_diag){.what = what};
    return false;
}

/* ---- Bytes ---- */

static void feed(gunzip *g) {
    size_t left = g->packed_len - g->fed, piece = left < PIECE ? left : PIECE;
    if (g->z.avail_in) return;
    g->z.next_in = (z_const Bytef *)(uintptr_t)(g->packed + g->fed);
    g->z.avail_in = (uInt)piece;
    g->fed += piece;
}

/* A member ended: another one follows or there is nothing more. */
static void next_member(gunzip *g) {
    feed(g);
    if (g->z.avail_in == 0) {
        g->ended = true;
    } else if (inflateReset(&g->z) != Z_OK) {
        fail(g, UMBEL_ECORRUPT, "gzip: cannot go on");
    }
}

/* Fills the room there is; less only at the end. */
static bool fill(gunzip *g) {
    while (g->len < g->room && !g->ended && !g->error) {
        size_t left = g->room - g->len, piece = left < PIECE ? left : PIECE;
        feed(g);
        g->z.next_out = g->bytes + g->len;
        g->z.avail_out = (uInt)piece;
        int status = inflate(&g->z, Z_NO_FLUSH);
        g->len += piece - g->z.avail_out;
        if (status == Z_STREAM_END) {
            next_member(g);
        } else if (status == Z_MEM_ERROR) {
            fail(g, UMBEL_ENOMEM, "no memory to unpack gzip");
        } else if (status == Z_BUF_ERROR) {
            fail(g, UMBEL_ECORRUPT, "gzip: cut short");
        } else if (status != Z_OK) {
            fail(g, UMBEL_ECORRUPT, "gzip: damaged");
        }
    }
    return !g->error;
}

static bool grow(gunzip *g, size_t room) {
    uint8_t *larger = take(g->opts, room);
    if (!larger) return fail(g, UMBEL_ENOMEM, "no memory to unpack gzip");
    if (g->len) memcpy(larger, g->bytes, g->len);
    give(g->opts, g->bytes);
    g->bytes = larger;
    g->room = room;
    return true;
}

/* ---- The filter in them ---- */

static size_t data_in(const umbel_filter *f) {
    size_t len = 0;
    umbel_get_data(f, &len);
    return len;
}

/* Where the bits end, by the header among the first bytes; the library knows it. */
static bool find_end_of_bits(gunzip *g, uint64_t *end) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_opts opts = {.alloc = g->opts->alloc};
    umbel_err e =
        umbel_view(g->bytes, g->len, &(umbel_foreign){.format = UMBEL_FMT_DCSO}, &opts, &f, &diag);
    if (!e) {
        *end = g->len - data_in(f);
        umbel_free(f);
        return true;
    }
    *end = diag.need;
    /* What cannot be there gets no memory. */
    bool cut = e == UMBEL_ECORRUPT && !g->ended && diag.need / CLI_GZIP_RATIO <= g->packed_len;
    if (cut && diag.need > g->len) return true;
    g->error = e;
    g->diag = diag;
    return false;
}

static bool unpack_bits(gunzip *g, uint64_t end) {
    uint64_t max = g->opts->max_bytes;
    if (max && end > max) {
        fail(g, UMBEL_ELIMIT, "the bits need more than is allowed");
        g->diag.need = end;
        return false;
    }
    if (end <= g->len) return true;
    if (end > SIZE_MAX - FIRST_ROOM) return fail(g, UMBEL_ENOMEM, "no memory to unpack gzip");
    if (!grow(g, (size_t)end + FIRST_ROOM) || !fill(g)) return false;
    return g->len >= end || fail(g, UMBEL_ECORRUPT, "the bits end too soon");
}

static bool unpack_data(gunzip *g, size_t end) {
    uint64_t max = g->opts->max_bytes;
    size_t data = CLI_GZIP_MAX_DATA;
    if (max && max - end < data) data = (size_t)(max - end);
    size_t enough = end + data + 1; /* one byte above the limit shows that there is more */
    while (!g->ended && g->len < enough) {
        size_t larger = end + 4 * (g->room - end);
        if (g->len == g->room && !grow(g, larger < enough ? larger : enough)) return false;
        if (!fill(g)) return false;
    }
    if (g->len - end <= data) return true;
    return fail(g, UMBEL_ELIMIT, "gzip: more data after the bits than is allowed");
}

static void unpack(gunzip *g) {
    uint64_t end;
    g->z.zalloc = zlib_take;
    g->z.zfree = zlib_give;
    g->z.opaque = (void *)(uintptr_t)g->opts;
    if (inflateInit2(&g->z, GZIP_WINDOW) != Z_OK) {
        fail(g, UMBEL_ENOMEM, "no memory to unpack gzip");
        return;
    }
    if (grow(g, FIRST_ROOM) && fill(g) && find_end_of_bits(g, &end) && unpack_bits(g, end)) {
        unpack_data(g, (size_t)end);
    }
    inflateEnd(&g->z);
}

umbel_err cli_gunzip_filter(const uint8_t *packed, size_t packed_len, const umbel_opts *opts,
                            uint8_t **bytes, size_t *len, umbel_diag *diag) {
    gunzip g = {.opts = opts, .packed = packed, .packed_len = packed_len};
    unpack(&g);
    if (g.error) {
        give(opts, g.bytes);
        *diag = g.diag;
        diag->offset = g.fed - g.z.avail_in;
        return g.error;
    }
    *bytes = g.bytes;
    *len = g.len;
    return UMBEL_OK;
}

/* ---- Files ---- */

static int open_file(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */
}

bool cli_is_gzipped_file(const char *path) {
    uint8_t first[2];
    int fd = open_file(path);
    if (fd < 0) return false; /* opening it again will say why */
    ssize_t n = pread(fd, first, sizeof first, 0);
    close(fd);
    return n == sizeof first && cli_is_gzipped(first, sizeof first);
}

static umbel_err refuse(int sys, umbel_diag *diag) {
    *diag = (umbel_diag){.what = "cannot read the file", .sys = sys};
    return UMBEL_EIO;
}

umbel_err cli_gunzip_filter_file(const char *path, const umbel_opts *opts, uint8_t **bytes,
                                 size_t *len, umbel_diag *diag) {
    struct stat st;
    int fd = open_file(path);
    if (fd < 0) return refuse(errno, diag);
    void *packed = MAP_FAILED;
    int sys = fstat(fd, &st) ? errno : (uint64_t)st.st_size > SIZE_MAX ? EFBIG : 0;
    if (!sys) packed = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (!sys && packed == MAP_FAILED) sys = errno;
    close(fd);
    if (sys) return refuse(sys, diag);
    umbel_err e = cli_gunzip_filter(packed, (size_t)st.st_size, opts, bytes, len, diag);
    munmap(packed, (size_t)st.st_size);
    return e;
}
