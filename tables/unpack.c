/* SPDX-License-Identifier: MIT */
#include "tables/unpack.h"

#include <bzlib.h>
#include <limits.h>
#include <lz4.h>
#include <snappy-c.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "core/diag.h"

/* A Zstandard block of 4 bytes expands to at most 128 KiB. */
enum { LZ4_RATIO = 255, DEFLATE_RATIO = 1032, ZSTD_RATIO = 1 << 15, FIRST_PIECE = 1 << 16 };
enum { MIN_WINDOW_LOG = 20, MAX_WINDOW_LOG = 27 };

typedef struct job {
    umbel_table *t;
    const uint8_t *bytes;
    size_t len;
    uint64_t claim, offset;
    umbel_diag *diag;
} job;

static umbel_err damaged(const job *j, const char *what) {
    return umbeli_bad(j->diag, j->offset, what);
}

/* Allocates this many bytes, within the table's memory limit. */
static umbel_err reserve(const job *j, uint64_t len, uint8_t **bytes) {
    if (len > j->t->settings.max_bytes - j->t->held || len > SIZE_MAX - 1) {
        return umbeli_fail_at(j->diag, UMBEL_ELIMIT, j->offset,
                              "decompressed, the file would exceed the memory limit");
    }
    *bytes = umbeli_new(&j->t->settings, len ? (size_t)len : 1);
    return *bytes ? UMBEL_OK
                  : umbeli_fail_at(j->diag, UMBEL_ENOMEM, j->offset, "a decompressed block");
}

static umbel_err unpack_snappy(const job *j, umbeli_unpacked *out) {
    const char *from = (const char *)j->bytes;
    size_t len;
    if (snappy_uncompressed_length(from, j->len, &len) != SNAPPY_OK ||
        (j->claim != UINT64_MAX && j->claim != len) ||
        snappy_validate_compressed_buffer(from, j->len) != SNAPPY_OK) {
        return damaged(j, "snappy: damaged, or the size is wrong");
    }
    umbel_err e = reserve(j, len, &out->bytes);
    if (e) return e;
    out->len = len;
    if (snappy_uncompress(from, j->len, (char *)out->bytes, &len) == SNAPPY_OK) return UMBEL_OK;
    return damaged(j, "snappy: damaged");
}

static umbel_err unpack_lz4(const job *j, umbeli_unpacked *out) {
    if (j->len > INT_MAX || j->claim > INT_MAX || j->claim / LZ4_RATIO > j->len) {
        return damaged(j, "LZ4: this little data cannot expand to the size given");
    }
    umbel_err e = reserve(j, j->claim, &out->bytes);
    if (e) return e;
    out->len = (size_t)j->claim;
    int n =
        LZ4_decompress_safe((const char *)j->bytes, (char *)out->bytes, (int)j->len, (int)j->claim);
    return n >= 0 && (uint64_t)n == j->claim ? UMBEL_OK
                                             : damaged(j, "LZ4: damaged, or the size is wrong");
}

/* Makes room for more output than `used` bytes: doubles the buffer, up to the claimed size. */
static umbel_err enlarge(const job *j, size_t used, umbeli_unpacked *out) {
    uint64_t larger = out->len ? (uint64_t)out->len * 2 : FIRST_PIECE;
    uint8_t *bytes = NULL;
    if (larger > j->claim) larger = j->claim;
    if (larger == out->len) larger++; /* one extra byte detects output beyond the claim */
    umbel_err e = reserve(j, larger, &bytes);
    if (e) return e;
    if (used) memcpy(bytes, out->bytes, used);
    umbeli_delete(&j->t->settings, out->bytes);
    *out = (umbeli_unpacked){bytes, (size_t)larger};
    return UMBEL_OK;
}

static umbel_err run_zstd(const job *j, ZSTD_DCtx *ctx, umbeli_unpacked *out) {
    ZSTD_inBuffer from = {j->bytes, j->len, 0};
    ZSTD_outBuffer to = {0};
    size_t left = 1;
    while (left) {
        if (to.pos == to.size) {
            if (to.pos > j->claim) return damaged(j, "Zstandard: not the size stated");
            umbel_err e = enlarge(j, to.pos, out);
            if (e) return e;
            to.dst = out->bytes;
            to.size = out->len;
        }
        size_t in = from.pos, before = to.pos;
        left = ZSTD_decompressStream(ctx, &to, &from);
        bool stuck = left && from.pos == in && to.pos == before && to.pos < to.size;
        if (ZSTD_isError(left) || stuck) return damaged(j, "Zstandard: damaged");
    }
    out->len = to.pos;
    if (from.pos != from.size) return damaged(j, "Zstandard: bytes after the frame");
    if (j->claim != UINT64_MAX && to.pos != j->claim) {
        return damaged(j, "Zstandard: not the size stated");
    }
    return UMBEL_OK;
}

static umbel_err unpack_zstd(const job *j, umbeli_unpacked *out) {
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    if (!ctx) return umbeli_fail_at(j->diag, UMBEL_ENOMEM, j->offset, "Zstandard");
    /* The frame's window is allocated in one piece, so the data must be able to fill it as well. */
    int window = MIN_WINDOW_LOG;
    while (window < MAX_WINDOW_LOG && (size_t)1 << window < j->len * ZSTD_RATIO) window++;
    umbel_err e = ZSTD_isError(ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, window))
                      ? umbeli_fail_at(j->diag, UMBEL_ENOMEM, j->offset, "Zstandard")
                      : run_zstd(j, ctx, out);
    ZSTD_freeDCtx(ctx);
    return e;
}

static umbel_err unpack_deflate(const job *j, umbeli_unpacked *out) {
    enum { WINDOW = -15 }; /* no header */
    if (j->len > UINT_MAX || j->claim > UINT_MAX || j->claim / DEFLATE_RATIO > j->len) {
        return damaged(j, "deflate: this little data cannot expand to the size given");
    }
    umbel_err e = reserve(j, j->claim, &out->bytes);
    if (e) return e;
    out->len = (size_t)j->claim;
    z_stream z = {.next_in = (Bytef *)(uintptr_t)j->bytes,
                  .avail_in = (uInt)j->len,
                  .next_out = out->bytes,
                  .avail_out = (uInt)j->claim};
    if (inflateInit2(&z, WINDOW) != Z_OK) {
        return umbeli_fail_at(j->diag, UMBEL_ENOMEM, j->offset, "deflate");
    }
    bool whole = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0;
    inflateEnd(&z);
    return whole ? UMBEL_OK : damaged(j, "deflate: damaged, or the size is wrong");
}

static umbel_err run_bzip2(const job *j, bz_stream *b, umbeli_unpacked *out) {
    size_t used = 0;
    int state = BZ_OK;
    while (state == BZ_OK) {
        if (used == out->len) {
            if (used > j->claim) return damaged(j, "bzip2: not the size stated");
            umbel_err e = enlarge(j, used, out);
            if (e) return e;
        }
        unsigned left = out->len - used < UINT_MAX ? (unsigned)(out->len - used) : UINT_MAX;
        unsigned in = b->avail_in;
        b->next_out = (char *)out->bytes + used;
        b->avail_out = left;
        state = BZ2_bzDecompress(b);
        used += left - b->avail_out;
        if (state == BZ_OK && in == b->avail_in && left == b->avail_out) break;
    }
    out->len = used;
    return state == BZ_STREAM_END && used == j->claim && b->avail_in == 0
               ? UMBEL_OK
               : damaged(j, "bzip2: damaged, or the size is wrong");
}

static umbel_err unpack_bzip2(const job *j, umbeli_unpacked *out) {
    bz_stream b = {.next_in = (char *)(uintptr_t)j->bytes, .avail_in = (unsigned)j->len};
    if (j->len > UINT_MAX) return damaged(j, "bzip2: too long");
    if (BZ2_bzDecompressInit(&b, 0, 0) != BZ_OK) {
        return umbeli_fail_at(j->diag, UMBEL_ENOMEM, j->offset, "bzip2");
    }
    umbel_err e = run_bzip2(j, &b, out);
    BZ2_bzDecompressEnd(&b);
    return e;
}

umbel_err umbeli_unpack(umbel_table *t, umbeli_packing packing, const uint8_t *bytes, size_t len,
                        uint64_t claim, uint64_t offset, umbeli_unpacked *out, umbel_diag *diag) {
    static umbel_err (*const ways[])(const job *, umbeli_unpacked *) = {
        [UMBELI_PACKED_SNAPPY] = unpack_snappy, [UMBELI_PACKED_LZ4] = unpack_lz4,
        [UMBELI_PACKED_ZSTD] = unpack_zstd,     [UMBELI_PACKED_DEFLATE] = unpack_deflate,
        [UMBELI_PACKED_BZIP2] = unpack_bzip2,
    };
    job j = {t, bytes, len, claim, offset, diag};
    *out = (umbeli_unpacked){0};
    umbel_err e = ways[packing](&j, out);
    if (e) {
        umbeli_delete(&t->settings, out->bytes);
        *out = (umbeli_unpacked){0};
        return e;
    }
    t->held += out->len;
    return UMBEL_OK;
}
