/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "lines/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "lines/decompress.h"
#include "umbel.h"

enum {
    PAGE = 4096,
    MAX_HEADER = 1 << 20,
    LOOKAHEAD = 4096 /* read along with a range: most last lines end within it */
};

struct cli_file {
    int fd;
    const char *name;
    cli_stream *stream;         /* NULL: read by ranges */
    off_t begins;               /* where a file was when it was opened; -1: a pipe */
    uint64_t start, next, size; /* by ranges: the start, the next range, the end */
    atomic_uint users;          /* blocks still to be read, and the input itself */
    bool fresh;                 /* no block was claimed yet */
    const void *bound;          /* what was made of its header */
};

struct cli_input {
    const char *const *files;
    int nfiles, at;
    uint8_t sep;
    bool eager;
    cli_limits limits;
    const umbel_recipe *csv; /* NULL: every separator ends a line */
    cli_bind_header *bind;
    void *bind_ctx;
    bool *failed; /* a file that cannot be opened is skipped, and this set; NULL: exit */
    uint64_t done, total;
    cli_file *file; /* NULL: open the next one */
    bool refused;   /* a line is beyond the limits: nothing follows */
    uint8_t *carry; /* of a stream: the start of a line that the last block did not finish */
    size_t carry_len, carry_room;
};

static bool is_stdin(const char *path) {
    return strcmp(path, "-") == 0;
}

static const char *name_of(const char *path) {
    return is_stdin(path) ? "standard input" : path;
}

static int stat_of(const char *path, struct stat *st) {
    return is_stdin(path) ? fstat(STDIN_FILENO, st) : stat(path, st);
}

static void release_file(cli_file *f) {
    if (atomic_fetch_sub(&f->users, 1) != 1) return;
    if (f->stream) cli_stream_close(f->stream);
    if (f->fd != STDIN_FILENO) {
        close(f->fd);
    } else if (f->stream && f->begins >= 0) {
        (void)lseek(f->fd, f->begins, SEEK_SET); /* it may be read again */
    }
    free(f);
}

/* Fills `to`, which already has `have` bytes from this offset, up to `want` or the end of the file.
 */
static size_t read_at(const cli_file *f, uint8_t *to, size_t have, size_t want, uint64_t offset) {
    while (have < want) {
        ssize_t n = pread(f->fd, to + have, want - have, (off_t)(offset + have));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) cli_die_sys(f->name, errno);
        if (n == 0) break;
        have += (size_t)n;
    }
    return have;
}

/* A descriptor of the file, or -1 if it cannot be read but the others should be. */
static int open_descriptor(const cli_input *in, const char *path, struct stat *st) {
    int fd = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    const char *name = name_of(path), *why = NULL;
    if (fd < 0 || fstat(fd, st) != 0) {
        why = strerror(errno);
    } else if (S_ISDIR(st->st_mode)) {
        why = "is a directory";
    }
    if (!why) return fd;
    if (!in->failed) cli_die(name, fd < 0 ? NULL : "give the files in it", "%s", why);
    cli_error(name, fd < 0 && errno == ENOENT ? in->limits.missing : NULL, "%s", why);
    *in->failed = true;
    if (fd > STDIN_FILENO) close(fd);
    return -1;
}

/* Nobody wants to count or compare the bytes of a filter or a picture as if they were lines.  False
 * if that was reported and the other files should still be read. */
static bool are_lines(const cli_input *in, const char *name, const uint8_t *first, size_t len) {
    umbel_input is = umbel_input_look(first, len, in->sep, NULL);
    const char *remedy = umbel_input_remedy(is);
    char hint[96] = "umbel check looks lines up in it";
    const char *shown = remedy || is == UMBEL_INPUT_FILTER ? hint : NULL;
    if (is == UMBEL_INPUT_LINES) return true;
    if (remedy) snprintf(hint, sizeof hint, "%s | umbel ...", remedy);
    if (!in->failed) cli_die(name, shown, "is %s, but lines are expected", umbel_input_text(is));
    cli_error(name, shown, "is %s, but lines are expected", umbel_input_text(is));
    *in->failed = true;
    return false;
}

/* NULL if it cannot be read but the others should be. */
static cli_file *open_file(const cli_input *in, const char *path) {
    struct stat st;
    int fd = open_descriptor(in, path, &st);
    if (fd < 0) return NULL;
    cli_file *f = cli_alloc(sizeof *f);
    *f = (cli_file){.fd = fd, .name = name_of(path), .users = 1, .fresh = true};
    uint8_t first[UMBEL_INPUT_LOOK];
    off_t start = S_ISREG(st.st_mode) ? lseek(f->fd, 0, SEEK_CUR) : -1;
    f->begins = start;
    size_t got = start >= 0 ? read_at(f, first, 0, sizeof first, (uint64_t)start) : 0;
    /* Files under /proc claim to be empty but are not. */
    bool packed = umbel_input_packed(umbel_input_look(first, got, in->sep, NULL));
    if (start < 0 || st.st_size == 0 || in->csv || packed) {
        f->stream =
            cli_stream_open(f->fd, f->name, cli_gunzip_best(), in->limits.max_memory, in->failed);
    } else {
        f->start = f->next = (uint64_t)start;
        f->size = are_lines(in, f->name, first, got) ? (uint64_t)st.st_size : 0;
        (void)posix_fadvise(f->fd, start, 0, POSIX_FADV_SEQUENTIAL);
    }
    return f;
}

static uint64_t total_of(const char *const *files, int nfiles) {
    uint64_t total = 0;
    for (int i = 0; i < nfiles; i++) {
        struct stat st;
        if (stat_of(files[i], &st) != 0 || !S_ISREG(st.st_mode)) return 0;
        total += (uint64_t)st.st_size;
    }
    return total;
}

cli_input *cli_input_open(const char *const *files, int nfiles, uint8_t sep,
                          const cli_limits *limits, bool eager, bool *failed) {
    static const char *const only_stdin[] = {"-"};
    cli_input *in = cli_alloc(sizeof *in);
    *in = (cli_input){.files = nfiles ? files : only_stdin,
                      .nfiles = nfiles ? nfiles : 1,
                      .sep = sep,
                      .limits = *limits,
                      .eager = eager,
                      .failed = failed};
    in->total = total_of(in->files, in->nfiles);
    return in;
}

void cli_input_close(cli_input *in) {
    if (in->file) release_file(in->file);
    free(in->carry);
    free(in);
}

const char *cli_input_once(const char *const *files, int nfiles) {
    struct stat st;
    if (nfiles == 0) {
        if (fstat(STDIN_FILENO, &st) != 0) cli_die_sys("standard input", errno);
        return S_ISREG(st.st_mode) ? NULL : "standard input";
    }
    for (int i = 0; i < nfiles; i++) {
        if (stat_of(files[i], &st) != 0) cli_die_sys(name_of(files[i]), errno);
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return name_of(files[i]);
    }
    return NULL;
}

/* Makes room for `room` bytes at b->buffer and keeps the first `used`.  Byte `head` is
 * page-aligned: the kernel copies whole pages four times as fast as unaligned ones. */
static void make_room(cli_block *b, size_t head, size_t used, size_t room) {
    size_t skip = (PAGE - head % PAGE) % PAGE;
    if (b->space_len < skip + room) {
        void *space = NULL;
        size_t len = (skip + room + PAGE - 1) / PAGE * PAGE;
        if (posix_memalign(&space, PAGE, len)) cli_die(NULL, NULL, "out of memory");
        if (used) memcpy((uint8_t *)space + skip, b->buffer, used);
        free(b->space);
        b->space = space;
        b->space_len = len;
    }
    b->buffer = b->space + skip;
    b->room = b->space_len - skip;
}

void cli_block_free(cli_block *block) {
    free(block->space);
}

static void end_last_line(cli_block *b, uint8_t sep) {
    if (b->len && b->text[b->len - 1] != sep) b->text[b->len++] = sep;
}

/* Like make_room, for a line whose end is not among the `used` bytes that were read.
 * False: the line is beyond the limits; the block still has what it had. */
static bool grow_for_line(const cli_input *in, cli_block *b, size_t head, size_t used, size_t room,
                          size_t line) {
    b->excess = line > in->limits.max_line                          ? CLI_LONG_LINE
                : b->space_len + room + PAGE > in->limits.max_space ? CLI_LARGE_LINE
                                                                    : CLI_NO_EXCESS;
    b->seen = line;
    if (b->excess) return false;
    make_room(b, head, used, room);
    return true;
}

/* The end of the last line in `len` bytes, of which the last `fresh` are new. */
static size_t last_end(const cli_input *in, umbel_recipe_progress *scan, const uint8_t *text,
                       size_t len, size_t fresh) {
    if (in->csv) {
        umbel_recipe_scan(in->csv, in->sep, scan, text, len);
    } else {
        const uint8_t *last = memrchr(text + len - fresh, in->sep, fresh);
        if (last) scan->whole = (size_t)(last - text) + 1;
    }
    return scan->whole;
}

/* Reads until the block is full, the writer pauses or the stream ends; of a line that does not fit,
 * a block's length at a time.  *ended: the stream is at its end, or not worth reading further. */
static size_t fill_block(cli_input *in, cli_file *f, cli_block *b, size_t head, bool *ended) {
    size_t len = head, whole = 0;
    umbel_recipe_progress scan = {0};
    while (whole == 0 || (len < CLI_BLOCK && !b->idle)) {
        size_t max = CLI_BLOCK + in->limits.max_line + 2, twice = b->room * 2;
        if (b->room - len <= 1 &&
            !grow_for_line(in, b, head, len, twice < max || b->room >= max ? twice : max, len)) {
            *ended = true;
            break;
        }
        size_t most = len < head + CLI_BLOCK ? head + CLI_BLOCK - len : CLI_BLOCK;
        size_t want = b->room - 1 - len < most ? b->room - 1 - len : most;
        size_t n = cli_stream_read(f->stream, b->buffer + len, want);
        if (n == 0) { /* what is left of a line that was cut off is not a line */
            *ended = true;
            if (!cli_stream_broken(f->stream)) whole = len;
            break;
        }
        len += n;
        whole = last_end(in, &scan, b->buffer, len, n);
        b->idle = in->eager && whole && cli_stream_idle(f->stream);
    }
    b->len = whole;
    return len;
}

/* What follows the last separator is carried over.  False if the stream ended without a byte. */
static bool claim_stream(cli_input *in, cli_file *f, cli_block *b) {
    size_t head = in->carry_len;
    bool ended = false;
    make_room(b, head, 0, head + CLI_BLOCK + 1);
    if (head) memcpy(b->buffer, in->carry, head);
    b->idle = false;
    size_t len = fill_block(in, f, b, head, &ended);
    if (f->fresh && len && !are_lines(in, f->name, b->buffer, len)) {
        in->carry_len = b->len = 0;
        return false;
    }
    b->text = b->buffer;
    in->carry_len = ended ? 0 : len - b->len;
    if (in->carry_len > in->carry_room) {
        in->carry_room = in->carry_len * 2;
        in->carry = cli_realloc(in->carry, in->carry_room);
    }
    if (in->carry_len) memcpy(in->carry, b->buffer + b->len, in->carry_len);
    in->refused = b->excess; /* whoever gets the block ends the run */
    end_last_line(b, in->sep);
    return b->len > 0 || b->excess;
}

static bool claim_range(cli_input *in, cli_file *f, cli_block *b) {
    if (f->next >= f->size) return false;
    b->file = f;
    b->offset = f->next;
    b->idle = false;
    atomic_fetch_add(&f->users, 1);
    uint64_t left = f->size - f->next, n = left < CLI_BLOCK ? left : CLI_BLOCK;
    f->next += n;
    in->done += n;
    return true;
}

void cli_input_as_records(cli_input *in, const umbel_recipe *recipe) {
    if (umbel_recipe_traits(recipe) & UMBEL_RECIPE_CSV) in->csv = recipe;
}

void cli_input_on_header(cli_input *in, cli_bind_header *bind, void *ctx) {
    in->bind = bind;
    in->bind_ctx = ctx;
}

/* Passes on the first line of a file whose first block was claimed; false: it is not to be read. */
static bool read_header(const cli_input *in, cli_file *f, const cli_block *b) {
    uint8_t *start = f->stream ? b->text : cli_alloc(MAX_HEADER);
    size_t len = f->stream ? b->len : read_at(f, start, 0, MAX_HEADER, f->start);
    const uint8_t *end = in->csv ? NULL : memchr(start, in->sep, len);
    if (in->csv) len = umbel_recipe_first(in->csv, in->sep, start, len);
    f->bound = in->bind(in->bind_ctx, f->name, start, end ? (size_t)(end - start) : len);
    if (!f->stream) free(start);
    return f->bound != NULL;
}

bool cli_input_claim(cli_input *in, cli_block *b) {
    b->file = NULL;
    b->excess = CLI_NO_EXCESS;
    while (!in->refused) {
        if (!in->file) {
            if (in->at == in->nfiles) return false;
            in->file = open_file(in, in->files[in->at++]);
            if (!in->file) continue;
        }
        cli_file *f = in->file;
        uint64_t before = f->stream ? cli_stream_consumed(f->stream) : 0;
        bool claimed = f->stream ? claim_stream(in, f, b) : claim_range(in, f, b);
        if (f->stream) in->done += cli_stream_consumed(f->stream) - before;
        b->name = f->name;
        b->begins = claimed && f->fresh ? f->name : NULL;
        if (b->begins && in->bind && !b->excess && !read_header(in, f, b)) {
            if (b->file) atomic_fetch_sub(&f->users, 1); /* the claim */
            b->file = NULL;
            in->carry_len = 0;
            claimed = false;
        }
        f->fresh = false;
        b->bound = f->bound;
        if (claimed) return true;
        release_file(f);
        in->file = NULL;
    }
    return false;
}

/* A range owns the lines that begin in it: it looks one byte back to see whether a line begins at
 * its start, and reads to the end of its last line. */
void cli_input_load(cli_input *in, cli_block *b) {
    cli_file *f = b->file;
    if (!f) return;
    size_t lead = b->offset > f->start, body = lead + CLI_BLOCK;
    uint64_t from = b->offset - lead;
    make_room(b, lead, 0, body + LOOKAHEAD + 1);
    size_t want = body + LOOKAHEAD, have = read_at(f, b->buffer, 0, want, from), start = 0;
    b->len = 0;
    if (lead) {
        const uint8_t *cut = memchr(b->buffer, in->sep, have < body - 1 ? have : body - 1);
        start = cut ? (size_t)(cut - b->buffer) + 1 : have;
    }
    b->text = b->buffer + start;
    if (start < have && start < body) {
        size_t seen = body - 1, end = have;
        while (have > seen) {
            const uint8_t *cut = memchr(b->buffer + seen, in->sep, have - seen);
            end = cut ? (size_t)(cut - b->buffer) + 1 : have;
            if (cut || have < want) break;
            seen = have;
            want = have * 2;
            if (want > body + in->limits.max_line + 1) want = body + in->limits.max_line + 1;
            if (!grow_for_line(in, b, lead, have, want + 1, have - body)) {
                cut = memrchr(b->buffer + start, in->sep, have - start);
                end = cut ? (size_t)(cut - b->buffer) + 1 : start;
                break;
            }
            have = read_at(f, b->buffer, have, want, from);
            end = have;
        }
        b->text = b->buffer + start;
        b->len = end - start;
        if (!b->excess) end_last_line(b, in->sep);
    }
    b->file = NULL;
    release_file(f);
}

uint64_t cli_input_done(const cli_input *in) {
    return in->done;
}

uint64_t cli_input_total(const cli_input *in) {
    return in->total;
}
