/* SPDX-License-Identifier: MIT
 *
 * api_file.c - filters in files: mapped for reading, streamed to a descriptor
 */
#define _DEFAULT_SOURCE /* ftruncate */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/file_stream.h"
#include "core/diag.h"
#include "core/mapping.h"
#include "core/platform.h"
#include "format/codec.h"
#include "kind/checked_pieces.h"
#include "umbel_foreign.h"

/* ---- reading ------------------------------------------------------------------------------ */

static umbel_err map(int fd, bool privately, umbeli_mapping *m, umbel_diag *diag) {
    umbel_err e = umbeli_mapping_of(fd, privately, m, diag);
    if (!e && m->len == 0) e = umbeli_fail(diag, UMBEL_ECORRUPT, "the file is empty");
    return e;
}

/* The filter keeps the mapping; without a filter it is closed. */
static void end_mapping(umbeli_mapping m, umbel_filter *f) {
    if (!f) {
        umbeli_mapping_close(m.bytes, m.len);
        return;
    }
    f->unmap = umbeli_mapping_close;
    f->mapping = m.bytes;
    f->mapping_len = m.len;
}

/* Makes the bits of a privately mapped file the filter's own, and sets *kept, if the format has the
 * layout of memory.  All others are decoded. */
static umbel_err adopt(umbeli_mapping m, const umbel_foreign *as, const umbel_opts *opts,
                       umbel_filter **out, bool *kept, umbel_diag *diag) {
    umbeli_settings settings;
    const umbeli_codec *codec = NULL;
    umbel_err e = umbeli_settings_from(opts, &settings, diag);
    if (!e) e = umbeli_codec_reading(as, m.bytes, m.len, &codec, diag);
    if (e) return e;
    *kept = codec->id == UMBEL_FMT_NATIVE && !settings.concurrent;
    if (!*kept) return umbel_decode(m.bytes, m.len, UMBEL_EDIT, as, opts, out, diag);
    return codec->decode(m.bytes, m.len, UMBELI_ADOPT, &settings, out, diag);
}

umbel_err umbel_fd_open(int fd, umbel_how how, const umbel_foreign *as, const umbel_opts *opts,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_mapping m;
    bool kept = how == UMBEL_MAP;
    umbel_err e = map(fd, how == UMBEL_EDIT, &m, diag);
    if (e) return e;
    if (how == UMBEL_LOAD || how == UMBEL_VERIFY) umbeli_mapping_sequential(&m);
    e = how == UMBEL_EDIT ? adopt(m, as, opts, out, &kept, diag)
                          : umbel_decode(m.bytes, m.len, how, as, opts, out, diag);
    end_mapping(m, !e && kept ? *out : NULL);
    return e;
}

umbel_err umbel_file_open(const char *path, umbel_how how, const umbel_foreign *as,
                          const umbel_opts *opts, umbel_filter **out, umbel_diag *diag) {
    int fd;
    umbel_err e = umbeli_open(path, &fd, diag);
    if (e) return e;
    e = umbel_fd_open(fd, how, as, opts, out, diag);
    umbeli_close(fd);
    return e;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Buffers small pieces; large ones are written directly. */
typedef struct fd_sink {
    int fd, error;
    bool sparse; /* the file is new and regular: zeros may be skipped */
    size_t used;
    uint8_t buffer[16 * 1024];
} fd_sink;

static bool write_all(fd_sink *s, const void *bytes, size_t len) {
    const char *p = bytes;
    while (len > 0) {
        ssize_t n = write(s->fd, p, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            s->error = n < 0 ? errno : ENOSPC;
            return false;
        }
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool is_zero(const uint8_t *p, size_t len) {
    return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

/* Parentheses, since wasi-libc has a macro of that name that ISO C does not know. */
static off_t move(int fd, off_t by) {
    return (lseek)(fd, by, SEEK_CUR);
}

/* Long runs of zeros become holes: a filter that is nearly empty takes little of the disk, however
 * large its plan is. */
static bool write_sparse(fd_sink *s, const uint8_t *p, size_t len) {
    enum { RUN = 64 * 1024 };
    while (len > 0) {
        size_t run = len < RUN ? len : RUN;
        bool zero = is_zero(p, run);
        size_t n = run;
        while (n < len && (len - n < RUN ? len - n : RUN) == RUN && is_zero(p + n, RUN) == zero) {
            n += RUN;
        }
        if (zero && run == RUN) {
            if (move(s->fd, (off_t)n) < 0) {
                s->error = errno;
                return false;
            }
        } else if (!write_all(s, p, n)) {
            return false;
        }
        p += n;
        len -= n;
    }
    return true;
}

/* A hole at the end is part of the file as well. */
static bool end_sparse(fd_sink *s) {
    off_t end = s->sparse ? move(s->fd, 0) : 0;
    if (end >= 0 && (!s->sparse || ftruncate(s->fd, end) == 0)) return true;
    s->error = errno;
    return false;
}

static bool flush(fd_sink *s) {
    bool ok = write_all(s, s->buffer, s->used);
    s->used = 0;
    return ok;
}

static bool to_fd(void *ctx, const void *bytes, size_t len) {
    fd_sink *s = ctx;
    if (len > sizeof s->buffer - s->used && !flush(s)) return false;
    if (len > sizeof s->buffer) {
        return s->sparse ? write_sparse(s, bytes, len) : write_all(s, bytes, len);
    }
    memcpy(s->buffer + s->used, bytes, len);
    s->used += len;
    return true;
}

umbel_err umbeli_file_stream(const umbel_filter *f, const umbeli_codec *codec, int fd, bool sparse,
                             umbel_diag *diag) {
    fd_sink sink = {.fd = fd, .sparse = sparse};
    umbeli_writer writer = {.sink = to_fd, .ctx = &sink};
    codec->encode(f, &writer);
    if (writer.failed && !sink.error) {
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the checksums");
    }
    if (writer.failed || !flush(&sink) || !end_sparse(&sink)) {
        return umbeli_fail_sys(diag, sink.error, "cannot write the filter");
    }
    return UMBEL_OK;
}

umbel_err umbeli_file_put(const void *bytes, size_t len, int fd, umbel_diag *diag) {
    fd_sink sink = {.fd = fd};
    return write_all(&sink, bytes, len) ? UMBEL_OK
                                        : umbeli_fail_sys(diag, sink.error, "cannot write it");
}

umbel_err umbel_fd_write(const umbel_filter *filter, umbel_format format, int fd,
                         umbel_diag *diag) {
    const umbeli_codec *codec = NULL;
    umbel_err e = umbeli_codec_writing(filter, format, &codec, diag);
    if (!e) e = umbeli_check_now(filter, diag);
    if (e) return e;
    int saved = errno;
    e = umbeli_file_stream(filter, codec, fd, false, diag);
    errno = saved;
    return e;
}
