/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "filter/filter_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "lines/decompress.h"
#include "umbel_records.h"

const char *cli_open_hint(umbel_err err) {
    if (err == UMBEL_EUNKNOWN) return "--format is needed for formats without a magic number";
    if (err == UMBEL_EVERSION) return "a newer umbel may be able to read it";
    return NULL;
}

/* What may follow the bits: metadata, or the data of DCSO's filters. */
enum { FIRST_ROOM = 64 << 10, AROUND_THE_BITS = 1 << 20, AFTER_THE_BITS = 64 << 20 };

static umbel_err look(const cli_filter_bytes *b, const uint8_t *bytes, umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbel_err e = umbel_decode(bytes, b->len, UMBEL_MAP, &b->as, &(umbel_opts){0}, &f, diag);
    umbel_free(f);
    return e;
}

/* How many bytes there may be, judged by the header.  Refuses what is not a filter, or is larger
 * than allowed, before it takes memory. */
static uint64_t most_bytes(const cli_filter_bytes *b, const char *name, const uint8_t *bytes,
                           uint64_t max_bytes) {
    umbel_diag diag = {0};
    umbel_err e = look(b, bytes, &diag);
    bool given = b->as.format != UMBEL_FMT_ANY && b->as.format != UMBEL_FMT_DCSO;
    if (e == UMBEL_EUNKNOWN) cli_die_err(name, e, &diag, cli_open_hint(e));
    /* The header of some formats does not tell the size. */
    uint64_t need = e ? diag.need : given ? 0 : b->len;
    if (need < b->len) need = 0;
    if (max_bytes && need > max_bytes + AROUND_THE_BITS) {
        diag = (umbel_diag){.need = need};
        cli_die_err(name, UMBEL_ELIMIT, &diag, NULL);
    }
    return need ? need + AFTER_THE_BITS : UINT64_MAX;
}

/* DCSO's program writes gzipped filters, and their format has no magic number. */
static void recognise(cli_filter_bytes *b, const uint8_t *bytes, bool packed) {
    umbel_diag diag = {0};
    if (b->as.format != UMBEL_FMT_ANY || !packed) return;
    if (look(b, bytes, &diag) == UMBEL_EUNKNOWN) b->as.format = UMBEL_FMT_DCSO;
}

static void read_all(cli_stream *from, const char *name, uint64_t max_bytes,
                     cli_filter_bytes *out) {
    uint64_t most = UINT64_MAX;
    size_t room = FIRST_ROOM;
    uint8_t *bytes = cli_alloc(room);
    for (size_t n; (n = cli_stream_read(from, bytes + out->len, room - out->len)) != 0;) {
        out->len += n;
        if (max_bytes && out->len > max_bytes && out->len - max_bytes > AROUND_THE_BITS) {
            cli_die(name, "--max-memory SIZE raises it",
                    "the filter is larger than --max-memory allows");
        }
        if (out->len > most) cli_die(name, NULL, "is longer than the filter in it");
        if (out->len < room) continue;
        if (room == FIRST_ROOM) {
            recognise(out, bytes, cli_stream_packed(from));
            most = most_bytes(out, name, bytes, max_bytes);
        }
        room *= 2;
        bytes = cli_realloc(bytes, room);
    }
    if (room == FIRST_ROOM) recognise(out, bytes, cli_stream_packed(from));
    out->at = bytes;
}

/* True if the file must be read whole. */
static bool is_stream(int fd, const char *name, bool *piped) {
    struct stat st;
    uint8_t first[UMBEL_INPUT_LOOK];
    if (fstat(fd, &st) != 0) cli_die_sys(name, errno);
    if (S_ISDIR(st.st_mode)) cli_die(name, "give a filter file", "is a directory");
    *piped = fd == STDIN_FILENO || !S_ISREG(st.st_mode);
    ssize_t n = *piped ? 0 : pread(fd, first, sizeof first, 0);
    return *piped || (n > 0 && umbel_input_packed(umbel_input_look(first, (size_t)n, 0, NULL)));
}

void cli_filter_bytes_free(cli_filter_bytes *b) {
    free(b->owned);
    if (b->fd >= 0) close(b->fd);
    *b = (cli_filter_bytes){.fd = -1};
}

cli_filter_bytes cli_filter_bytes_of(const char *path, const umbel_foreign *as,
                                     uint64_t max_bytes) {
    static struct memory {
        struct memory *next;
        const char *path;
        cli_filter_bytes bytes;
    } * read_before;
    for (struct memory *m = read_before; m; m = m->next) {
        if (strcmp(m->path, path) == 0) return m->bytes;
    }
    const char *name = cli_filter_name(path);
    cli_filter_bytes out = {.as = *as, .fd = -1};
    int fd = cli_is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) cli_die_sys(name, errno);
    if (is_stream(fd, name, &out.piped)) {
        cli_stream *from = cli_stream_open(fd, name, cli_gunzip_best(), max_bytes, NULL);
        read_all(from, name, max_bytes, &out);
        cli_stream_close(from);
        struct memory *m = cli_alloc(sizeof *m);
        *m = (struct memory){read_before, path, out};
        read_before = m;
        if (fd != STDIN_FILENO) close(fd);
    } else {
        out.fd = fd;
    }
    return out;
}
