/* SPDX-License-Identifier: MIT
 *
 * type_blocked.c - umbel-bf-: STRING head, then a STRING with the bits of each layer
 *
 * Encoding 2 added the compact head, which says itself what it is.
 *
 * The bits of a layer are read before memory for the layer is allocated, so a false head costs no
 * more memory than the data that came with it.
 */
#include "core/diag.h"
#include "counters.h"
#include "storage/dump.h"
#include "storage/dump_header.h"
#include "storage/types.h"

void bf_blocked_save(RedisModuleIO *io, void *value) {
    const bf_value *v = value;
    size_t len = 0;
    uint8_t *head = bf_head_write(v, false, &len), *scratch = NULL;
    RedisModule_SaveStringBuffer(io, (const char *)head, len);
    RedisModule_Free(head);
    for (uint32_t i = 0; i < bf_value_layers(v); i++) {
        const uint8_t *bits = bf_dump_layer(v, i, &len, &scratch);
        RedisModule_SaveStringBuffer(io, (const char *)bits, len);
        if (scratch) RedisModule_Free(scratch);
    }
}

/* Reads the strings of the RDB file one at a time. */
typedef struct strings {
    RedisModuleIO *io;
    char *current;
} strings;

static void let_go(strings *s) {
    if (s->current) RedisModule_Free(s->current);
    s->current = NULL;
}

static umbel_err take_string(void *ctx, uint64_t want, const uint8_t **bits, umbel_diag *diag) {
    strings *s = ctx;
    size_t len = 0;
    let_go(s);
    s->current = RedisModule_LoadStringBuffer(s->io, &len);
    if (!s->current) return umbeli_fail(diag, UMBEL_EIO, "the bits of a layer are missing");
    if (len != want) {
        return umbeli_fail(diag, UMBEL_ECORRUPT,
                           "a layer has a different number of bits than its header says");
    }
    *bits = (const uint8_t *)s->current;
    return UMBEL_OK;
}

void *bf_blocked_load(RedisModuleIO *io, int encver) {
    bf_value *v = NULL;
    bf_head head;
    size_t len = 0;
    umbel_diag diag = {.what = "unknown version"};
    uint8_t *bytes = NULL;
    strings layers = {.io = io};
    if (encver == 1 || encver == BF_BLOCKED_ENCVER) {
        diag.what = "the head is missing";
        bytes = (uint8_t *)RedisModule_LoadStringBuffer(io, &len);
    }
    if (bytes && !bf_head_read(bytes, len, &head, &diag)) {
        bool known = !head.compact || encver >= BF_BLOCKED_ENCVER;
        diag.what = head.len != len ? "bytes after the head" : known ? "no memory" : "unknown head";
        if (head.len == len && known) (void)bf_head_load(&head, take_string, &layers, 0, &v, &diag);
    }
    char why[200];
    if (!v) {
        bf_count(BF_DUMPS_REFUSED, 1);
        RedisModule_LogIOError(io, "warning", "umbel filter: %s",
                               umbel_explain(UMBEL_ECORRUPT, &diag, why, sizeof why));
    }
    let_go(&layers);
    if (bytes) RedisModule_Free(bytes);
    return v;
}
