/* SPDX-License-Identifier: MIT
 *
 * fuzz_decompress.c - the command's compressed input, gzip and zstd: decompressed in pieces and at
 * once
 *
 * Byte 0 is how much is read at a time; byte 1 how the bytes arrive: 0 from a file, otherwise from
 * a pipe in pieces, the first of which have that length.  The bytes follow; plain ones are also
 * compressed.
 *
 * Replaces cli/base/error.c: what would exit the command stops the reading here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "lines/decompress.h"
#include "target.h"
#include "umbel_records.h"

enum { HEAD = 2, MOST = 1 << 18, SHORT_PIECES = 8, LONG_PIECE = 4096, PIECES = 16 };

enum verdict { WHOLE, CUT, DAMAGED, TOO_MUCH, UNSAID };

/* The result for some bytes: at most MOST of their contents, and whether that was all. */
struct unpacked {
    uint8_t *bytes;
    size_t len;
    enum verdict verdict;
    char words[256];
};

/* ---- Complaints ---- */

static jmp_buf refused;
static struct unpacked *reading;

void cli_die(const char *where, const char *hint, const char *what, ...) {
    va_list args;
    va_start(args, what);
    vsnprintf(reading->words, sizeof reading->words, what, args);
    va_end(args);
    insist(where && where[0], "it says which file");
    insist(!hint || strncmp(reading->words, "needs ", 6) == 0, "and what helps if something does");
    longjmp(refused, 1);
}

void cli_error(const char *where, const char *hint, const char *what, ...) {
    (void)where, (void)hint, (void)what;
    insist(false, "the only file ends the run");
}

void cli_die_sys(const char *where, int sys) {
    (void)where, (void)sys;
    insist(false, "the descriptor can be read");
    abort();
}

void *cli_alloc(size_t size) {
    return some_bytes(size);
}

/* ---- As the command does it ---- */

static int file_of(const uint8_t *bytes, size_t len) {
    int fd = memfd_create("packed", MFD_CLOEXEC);
    insist(fd >= 0 && write(fd, bytes, len) == (ssize_t)len, "a file");
    insist(lseek(fd, 0, SEEK_SET) == 0, "to be read from its beginning");
    return fd;
}

/* A pipe that delivers piece by piece what was written to it, to a reader with room for a whole
 * piece; -1: there are too many pieces for it. */
static int pipe_of(const uint8_t *bytes, size_t len, size_t piece) {
    int fd[2];
    insist(pipe2(fd, O_CLOEXEC | O_DIRECT | O_NONBLOCK) == 0, "a pipe");
    size_t at = 0;
    for (int i = 0; i < PIECES && at < len; i++) {
        size_t n = i < SHORT_PIECES ? piece : LONG_PIECE;
        if (n > len - at) n = len - at;
        if (write(fd[1], bytes + at, n) != (ssize_t)n) break;
        at += n;
    }
    close(fd[1]);
    if (at == len) return fd[0];
    close(fd[0]);
    return -1;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static enum verdict said(const char *words) {
    if (!words[0]) return UNSAID;
    if (strstr(words, " data is truncated")) return CUT;
    insist(strstr(words, " data is damaged: ") || begins(words, "needs "),
           "there is nothing else to say");
    return DAMAGED;
}

static void read_all(struct cli_stream *stream, struct unpacked *out, size_t step) {
    if (setjmp(refused)) {
        out->verdict = said(out->words);
        return;
    }
    while (out->len < MOST) {
        size_t want = step < MOST - out->len ? step : MOST - out->len;
        size_t n = cli_stream_read(stream, out->bytes + out->len, want);
        insist(n <= want, "no more than there is room for");
        out->len += n;
        if (n) continue;
        insist(cli_stream_read(stream, out->bytes, 1) == 0, "an end stays one");
        out->verdict = WHOLE;
        return;
    }
    out->verdict = TOO_MUCH;
}

static void unpack_in_pieces(const uint8_t *bytes, size_t len, const uint8_t choices[HEAD],
                             const cli_unpacker *gunzip, struct unpacked *out) {
    size_t step = choices[0] ? choices[0] * (size_t)choices[0] : MOST;
    int fd = choices[1] ? pipe_of(bytes, len, choices[1]) : -1;
    if (fd >= 0) step += LONG_PIECE;
    if (fd < 0) fd = file_of(bytes, len);
    reading = out;
    struct cli_stream *stream = cli_stream_open(fd, "fuzz", gunzip, 0, NULL);
    read_all(stream, out, step);
    insist(cli_stream_consumed(stream) <= len, "no more is taken than there is");
    if (out->verdict == WHOLE) insist(cli_stream_consumed(stream) == len, "nothing is left over");
    cli_stream_close(stream);
    close(fd);
}

/* ---- At once ---- */

static enum verdict inflate_members(z_stream *z, struct unpacked *out) {
    for (;;) {
        z->next_out = out->bytes + out->len;
        z->avail_out = (uInt)(MOST - out->len);
        int e = inflate(z, Z_NO_FLUSH);
        out->len = MOST - z->avail_out;
        if (e == Z_STREAM_END && z->avail_in == 0) return WHOLE;
        if (e == Z_STREAM_END) {
            inflateReset(z);
        } else if (e != Z_OK && e != Z_BUF_ERROR) {
            return DAMAGED;
        } else if (z->avail_out == 0) {
            return TOO_MUCH;
        } else if (z->avail_in == 0) {
            return CUT;
        }
    }
}

static void unpack_gzip(const uint8_t *bytes, size_t len, struct unpacked *out) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)len};
    insist(inflateInit2(&z, 15 + 16) == Z_OK, "memory to unpack");
    out->verdict = inflate_members(&z, out);
    inflateEnd(&z);
}

/* zstd accepts compressed blocks without bytes if it has too little room to do all in one go. */
static bool is_whole_stream(const uint8_t *bytes, size_t len, struct unpacked *out) {
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    ZSTD_inBuffer in = {bytes, len, 0};
    ZSTD_outBuffer to = {out->bytes, 0, 0};
    size_t left = 1;
    while (!ZSTD_isError(left) && (in.pos < len || left) && to.size < MOST) {
        size_t before = in.pos;
        to.size = to.pos + 1;
        left = ZSTD_decompressStream(zstd, &to, &in);
        if (in.pos == before && to.pos < to.size) break;
    }
    ZSTD_freeDCtx(zstd);
    out->len = to.pos;
    return left == 0 && in.pos == len;
}

/* It does not distinguish truncated from damaged. */
static void unpack_zstd(const uint8_t *bytes, size_t len, struct unpacked *out) {
    size_t n = ZSTD_decompress(out->bytes, MOST, bytes, len);
    bool whole = !ZSTD_isError(n);
    out->len = whole ? n : 0;
    if (!whole) whole = is_whole_stream(bytes, len, out);
    out->verdict = whole ? WHOLE : UNSAID;
}

/* ---- Both ---- */

static void check_plain(const struct unpacked *got, const uint8_t *bytes, size_t len) {
    insist(got->verdict == (len < MOST ? WHOLE : TOO_MUCH), "what is not packed is not refused");
    insist(memcmp(got->bytes, bytes, got->len) == 0, "and is as it was");
    insist(got->len == (len < MOST ? len : MOST), "all of it");
}

static void check_gzip(const struct unpacked *got, const struct unpacked *once) {
    /* Less than everything is available if an error comes with the last part. */
    bool whole = got->verdict == WHOLE || got->verdict == TOO_MUCH;
    insist(whole ? got->len == once->len : got->len <= once->len, "no more and no less");
    insist(memcmp(got->bytes, once->bytes, got->len) == 0, "the same bytes");
    /* A buffer that is exactly full hides what follows. */
    if (got->len == MOST || once->len == MOST) return;
    if (whole) insist(once->verdict == WHOLE, "whole is whole");
    if (whole) return;
    /* Damage in the last bytes may be detected only after them, with room for what they expand
     * to. */
    insist(got->verdict == once->verdict || (got->verdict == CUT && once->verdict == DAMAGED),
           "cut or damaged alike");
    insist(begins(got->words, "the gzip data "), "it says that it was gzip");
}

/* With ISA-L, if the build has it.  What is whole is the same; damage it may detect sooner or later
 * than zlib, so the end of damaged data may come first. */
static void check_best_gzip(const uint8_t *packed, size_t len, const uint8_t choices[HEAD],
                            const struct unpacked *once) {
    struct unpacked got = {.bytes = some_bytes(MOST), .verdict = UNSAID};
    unpack_in_pieces(packed, len, choices, cli_gunzip_best(), &got);
    if (once->verdict == WHOLE || got.verdict == WHOLE) {
        check_gzip(&got, once);
    } else {
        size_t both = got.len < once->len ? got.len : once->len;
        insist(memcmp(got.bytes, once->bytes, both) == 0, "the same bytes");
        insist(got.verdict == TOO_MUCH || begins(got.words, "the gzip data "), "it is refused");
    }
    free(got.bytes);
}

static void check_zstd(const struct unpacked *got, const struct unpacked *once) {
    if (got->verdict == WHOLE) {
        insist(once->verdict == WHOLE && got->len == once->len, "whole is whole");
        insist(memcmp(got->bytes, once->bytes, got->len) == 0, "the same bytes");
    } else if (got->verdict != TOO_MUCH) {
        /* Damage that zstd overlooks in one call may be detected piece by piece. */
        insist(strstr(got->words, " zstd") != NULL, "it says that it was zstd");
        insist(got->verdict == DAMAGED || once->verdict != WHOLE, "what is cut off is not whole");
    }
}

/* What zstd compresses is complete. */
static void check_packed(const uint8_t *bytes, size_t len, const uint8_t choices[HEAD]) {
    size_t room = ZSTD_compressBound(len);
    uint8_t *packed = some_bytes(room);
    size_t packed_len = ZSTD_compress(packed, room, bytes, len, 1);
    insist(!ZSTD_isError(packed_len), "anything can be packed");
    struct unpacked got = {.bytes = some_bytes(MOST), .verdict = UNSAID};
    unpack_in_pieces(packed, packed_len, choices, &cli_gunzip_zlib, &got);
    check_plain(&got, bytes, len);
    free(got.bytes);
    free(packed);
}

static bool is_packed(const uint8_t *bytes, size_t len) {
    return umbel_input_packed(umbel_input_look(bytes, len, '\n', NULL));
}

/* Gzip and zstd are read; of others the magic number alone is looked at, and the command ends. */
static bool is_readable(const uint8_t *packed, size_t len, bool *gzip) {
    static const uint8_t of_gzip[] = {0x1f, 0x8b, 0x08}, of_zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    *gzip = len >= sizeof of_gzip && memcmp(packed, of_gzip, sizeof of_gzip) == 0;
    if (*gzip || !is_packed(packed, len)) return true;
    return len >= sizeof of_zstd && memcmp(packed, of_zstd, sizeof of_zstd) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    bool gzip = false;
    if (len < HEAD) return 0;
    const uint8_t *packed = bytes + HEAD;
    len -= HEAD;
    if (!is_readable(packed, len, &gzip)) return 0;
    struct unpacked got = {.bytes = some_bytes(MOST), .verdict = UNSAID};
    struct unpacked once = {.bytes = some_bytes(MOST), .verdict = UNSAID};
    unpack_in_pieces(packed, len, bytes, &cli_gunzip_zlib, &got);
    if (!is_packed(packed, len)) {
        check_plain(&got, packed, len);
        check_packed(packed, len, bytes);
    } else if (gzip) {
        unpack_gzip(packed, len, &once);
        check_gzip(&got, &once);
        check_best_gzip(packed, len, bytes, &once);
    } else {
        unpack_zstd(packed, len, &once);
        check_zstd(&got, &once);
    }
    free(got.bytes);
    free(once.bytes);
    return 0;
}
