/* SPDX-License-Identifier: MIT
 *
 * push_chunks.c - a filter's bytes as BF.LOADCHUNK takes them
 *
 * Offsets are those of docs/formats/native.md and docs/formats/redisbloom.md.
 */
#include "push/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/error.h"

enum {
    MAX_CHUNK = 4 << 20, /* up to 16 MiB are allowed; smaller ones let other clients in between */
    SECRET = 16,
    CONTAINER = 16, /* before a redisbloom header */
    CHAIN = 20,     /* before its links ... */
    LINK = 53       /* ... of this size */
};

static uint64_t get(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static bool begins(const uint8_t *bytes, size_t len, const char *magic) {
    return len >= 8 && memcmp(bytes, magic, 8) == 0;
}

static void check(umbel_format format, const uint8_t *bytes, size_t len, const char *name) {
    umbel_diag diag = {0};
    umbel_err e = umbel_verify(format, bytes, len, &diag);
    if (e) cli_die_err(name, e, &diag, NULL);
}

/* Exits unless it is the secret of this filter, whose fingerprint is in the header. */
static void check_secret(const uint8_t *bytes, size_t len, const char *name,
                         const uint8_t *secret) {
    umbel_opts opts = {.key = secret};
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    umbel_err e = umbel_view(UMBEL_FMT_NATIVE, bytes, len, &opts, &f, &diag);
    bool keyed = get(bytes + 40, 8) != 0;
    if (e)
        cli_die_err(name, e, &diag,
                    keyed && !secret ? "--secret-file FILE gives its secret" : NULL);
    umbel_free(f);
}

static cli_push_chunks native(const uint8_t *bytes, size_t len, const char *name,
                              const uint8_t *secret) {
    check(UMBEL_FMT_NATIVE, bytes, len, name);
    check_secret(bytes, len, name, secret);
    size_t header_len = (size_t)get(bytes + 12, 4);
    cli_push_chunks p = {.header = {bytes, header_len},
                         .bits = bytes + get(bytes + 96, 8),
                         .bits_len = get(bytes + 104, 8),
                         .keys = get(bytes + 72, 8)};
    if (secret) {
        p.space = cli_alloc(header_len + SECRET);
        memcpy(p.space, bytes, header_len);
        memcpy(p.space + header_len, secret, SECRET);
        p.header = (umbel_key){p.space, header_len + SECRET};
    }
    /* The last checksum covers all others. */
    snprintf(p.id, sizeof p.id, "push:%016" PRIx64, get(bytes + len - 8, 8));
    return p;
}

static cli_push_chunks redisbloom(const uint8_t *bytes, size_t len, const char *name) {
    check(UMBEL_FMT_REDISBLOOM, bytes, len, name);
    size_t header_len = (size_t)get(bytes + 8, 8);
    const uint8_t *chain = bytes + CONTAINER;
    cli_push_chunks p = {.header = {chain, header_len},
                         .bits = chain + header_len,
                         .bits_len = len - CONTAINER - header_len,
                         .keys = get(chain, 8),
                         .links = chain + CHAIN,
                         .nlinks = (uint32_t)get(chain + 8, 4)};
    snprintf(p.id, sizeof p.id, "push:%08lx%zx", crc32_z(0, bytes, len), len);
    return p;
}

cli_push_chunks cli_push_chunks_of(const uint8_t *bytes, size_t len, const char *name,
                                   const uint8_t *secret) {
    if (begins(bytes, len, "UMBEL\x1a\r\n")) return native(bytes, len, name, secret);
    if (begins(bytes, len, "UMBRBLM1")) {
        if (secret) cli_die("--secret-file", NULL, "filters of format redisbloom have no secret");
        return redisbloom(bytes, len, name);
    }
    cli_die(name, "umbel build makes native filters, or redisbloom ones with --format redisbloom",
            "is neither a native filter nor one of format redisbloom");
}

void cli_push_chunks_free(cli_push_chunks *p) {
    free(p->space);
    p->space = NULL;
}

size_t cli_push_chunk_len(const cli_push_chunks *p, uint64_t offset) {
    uint64_t end = p->bits_len;
    uint64_t border = 0;
    for (uint32_t i = 0; i < p->nlinks; i++) {
        border += get(p->links + (size_t)i * LINK, 8);
        if (border <= offset) continue;
        end = border;
        break;
    }
    return end - offset < MAX_CHUNK ? (size_t)(end - offset) : MAX_CHUNK;
}
