/* SPDX-License-Identifier: MIT
 *
 * gunzip_isal.c - gzip by Intel's ISA-L, which despite its name runs well on every x86 and ARM
 *
 * Headers are parsed here, because ISA-L 2.30 ignores reserved flags and miscomputes the checksum
 * of a header that arrives in pieces; the data and their checksums are left to it.  Unlike zlib it
 * accepts incomplete Huffman codes: such damage is noticed when an unused code occurs or, at the
 * latest, by the checksum.
 */
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <zlib.h>

#include "lines/unpacker.h"

enum { HAS_SUM = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16, RESERVED = 0xe0 };

/* In the order of the file. */
typedef enum part { FIXED, EXTRA_LEN, EXTRA, NAME, COMMENT, SUM, DATA } part;

typedef struct gunzip {
    part part;
    size_t at;         /* bytes of the part so far */
    uint8_t fixed[10]; /* magic number, method, flags, then what is ignored */
    uint32_t extra_len, sum, sum_seen;
    struct inflate_state z;
} gunzip;

static void begin_member(gunzip *g) {
    g->part = FIXED;
    g->at = 0;
    g->extra_len = g->sum = g->sum_seen = 0;
}

static void *open_isal(uint64_t memory) {
    (void)memory; /* it takes little */
    gunzip *g = malloc(sizeof *g);
    if (!g) return NULL;
    isal_inflate_init(&g->z);
    begin_member(g);
    return g;
}

static void close_isal(void *state) {
    free(state);
}

static bool has_part(const gunzip *g) {
    uint8_t flags = g->fixed[3];
    switch (g->part) {
    case EXTRA_LEN: return flags & HAS_EXTRA;
    case EXTRA: return g->extra_len > 0;
    case NAME: return flags & HAS_NAME;
    case COMMENT: return flags & HAS_COMMENT;
    case SUM: return flags & HAS_SUM;
    default: return true;
    }
}

static void next_part(gunzip *g) {
    g->at = 0;
    do g->part++;
    while (!has_part(g));
    if (g->part < DATA) return;
    isal_inflate_reset(&g->z);
    g->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
}

/* Checks the fixed part as early as zlib does, and in the same order. */
static const char *check_fixed(const gunzip *g) {
    const uint8_t *fixed = g->fixed;
    if (g->at == 2 && (fixed[0] != 0x1f || fixed[1] != 0x8b)) return "incorrect header check";
    if (g->at == 4 && fixed[2] != 8) return "unknown compression method";
    if (g->at == 4 && (fixed[3] & RESERVED)) return "unknown header flags set";
    return NULL;
}

static const char *header_byte(gunzip *g, uint8_t byte) {
    const char *wrong = NULL;
    size_t at = g->at++;
    bool last = byte == 0; /* of a name or a comment */
    if (g->part != SUM) g->sum = (uint32_t)crc32(g->sum, &byte, 1);
    if (g->part == FIXED) {
        g->fixed[at] = byte;
        wrong = check_fixed(g);
        last = g->at == sizeof g->fixed;
    } else if (g->part == EXTRA_LEN) {
        g->extra_len |= (uint32_t)byte << 8 * at;
        last = g->at == 2;
    } else if (g->part == EXTRA) {
        last = g->at == g->extra_len;
    } else if (g->part == SUM) {
        g->sum_seen |= (uint32_t)byte << 8 * at;
        last = g->at == 2;
        if (last && g->sum_seen != (g->sum & 0xffff)) wrong = "header crc mismatch";
    }
    if (last) next_part(g);
    return wrong;
}

/* zlib's words, where ISA-L distinguishes as much. */
static const char *problem(int error) {
    switch (error) {
    case ISAL_INCORRECT_CHECKSUM: return "incorrect data check";
    case ISAL_INVALID_LOOKBACK: return "invalid distance too far back";
    case ISAL_INVALID_SYMBOL: return "invalid literal/length code";
    default: return "invalid block";
    }
}

static const char *step(void *state, cli_unpack_io *io, bool *ended) {
    gunzip *g = state;
    *ended = false;
    while (g->part < DATA) {
        if (io->in_len == 0) return NULL;
        const char *wrong = header_byte(g, *io->in++);
        io->in_len--;
        if (wrong) return wrong;
    }
    struct inflate_state *z = &g->z;
    z->next_in = (uint8_t *)(uintptr_t)io->in;
    z->avail_in = (uint32_t)io->in_len;
    z->next_out = io->out;
    z->avail_out = (uint32_t)io->out_len;
    int e = isal_inflate(z);
    io->in = z->next_in;
    io->in_len = z->avail_in;
    io->out = z->next_out;
    io->out_len = z->avail_out;
    if (e < 0) return problem(e);
    *ended = z->block_state == ISAL_BLOCK_FINISH;
    if (*ended) begin_member(g);
    return NULL;
}

const cli_unpacker cli_gunzip_isal = {
    .name = "ISA-L", .open = open_isal, .close = close_isal, .step = step};
