/* SPDX-License-Identifier: MIT
 *
 * push_chunks.c - a filter's bytes as BF.LOADCHUNK takes them
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/error.h"
#include "filter/filter_state.h"
#include "push/push.h"
#include "umbel_redis.h"
#include "umbel_text.h"

enum { MAX_CHUNK = 4 << 20 }; /* of the 16 MiB allowed, so that other clients get their turn */

size_t cli_push_chunk(const cli_push_chunks *p, uint64_t offset, const void **bytes) {
    return umbel_redis_chunk(p->filter, offset, MAX_CHUNK, bytes);
}

/* Identifies the filter, so that a run does not continue what another began to send. */
static uint32_t checksum(const cli_push_chunks *p) {
    unsigned long sum = crc32_z(0, p->head.data, p->head.len);
    const void *bytes;
    for (uint64_t at = 0; at < p->bits_len;) {
        size_t len = cli_push_chunk(p, at, &bytes);
        sum = crc32_z(sum, bytes, len);
        at += len;
    }
    return (uint32_t)sum;
}

cli_push_chunks cli_push_chunks_of(const umbel_filter *f, const char *name) {
    umbel_diag diag = {0};
    size_t len = 0;
    umbel_err e = umbel_redis_head(f, NULL, 0, &len, &diag);
    if (e != UMBEL_ESPACE) {
        cli_die_err(name, e, &diag,
                    "umbel build makes native filters, and redisbloom with --format");
    }
    uint8_t *head = cli_alloc(len);
    e = umbel_redis_head(f, head, len, &len, &diag);
    if (e) cli_die_err(name, e, &diag, NULL);
    cli_state state = cli_state_of(f);
    cli_push_chunks p = {.filter = f,
                         .head = {head, len},
                         .bits_len = state.info.bytes,
                         .in = state.health,
                         .counted = state.info.keys_added};
    snprintf(p.id, sizeof p.id, "push:%08" PRIx32 "%" PRIx64, checksum(&p), p.bits_len);
    return p;
}

void cli_push_let_grow(umbel_filter *f, const char *name, uint64_t expansion, double rate) {
    enum { MOST = 32768 };
    char text[32], own[UMBEL_QUANTITY];
    umbel_info info;
    umbel_diag diag = {0};
    umbel_describe(f, &info);
    if (expansion > MOST) cli_die("--expansion", "at most 32768", "the server refuses it");
    if (info.format == UMBEL_FMT_REDISBLOOM) {
        cli_die("--expansion", "umbel build --format redisbloom --expansion N",
                "%s grows as it was built to", name);
    }
    if (info.kind == UMBEL_KIND_SCALABLE) {
        cli_die("--expansion", "leave it out", "%s is scalable: it grows by itself", name);
    }
    if (info.kind != UMBEL_KIND_BLOCKED && info.kind != UMBEL_KIND_LINE) {
        cli_die("--expansion", "blocked and line ones do", "%s: %s filters do not grow there", name,
                umbel_kind_name(info.kind));
    }
    if (!(rate > 0)) rate = info.fpr < 0.25 ? 2 * info.fpr : 0.5 + info.fpr / 2;
    if (!(rate > info.fpr) || !(info.fpr > 0) || !info.capacity) {
        cli_die("-p", "--expansion: it is for all layers together",
                "must be above %s, the filter's own rate", umbel_rate_text(info.fpr, own));
    }
    snprintf(text, sizeof text, "%" PRIu64, expansion);
    umbel_err e = umbel_set_meta(f, "bf.expansion", text, &diag);
    snprintf(text, sizeof text, "%.17g", rate);
    if (!e) e = umbel_set_meta(f, "bf.error", text, &diag);
    if (e) cli_die_err("--expansion", e, &diag, NULL);
}

void cli_push_chunks_free(cli_push_chunks *p) {
    free((void *)(uintptr_t)p->head.data);
    p->head = (umbel_key){NULL, 0};
    p->filter = NULL;
}
