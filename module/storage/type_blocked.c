/* SPDX-License-Identifier: MIT
 *
 * type_blocked.c - umbel-bf-: STRING head, then a STRING with the bits of each layer; or a single
 *                  STRING, for a small filter that nobody reserved
 *
 * The first string says itself which of the two it is.
 *
 * The bits of a layer are read before memory for it is allocated, so a false head costs no more
 * memory than the data that came with it.
 */
#include <string.h>

#include "core/bytes.h"
#include "core/diag.h"
#include "storage/dump.h"
#include "storage/dump_header.h"
#include "storage/types.h"
#include "value/layer_plan.h"
#include "value/value_unboxed.h"

/* ---- Small filters ----
 *
 * Services keep a filter per user, so a file may have millions of them.  Most have the usual
 * promise. */

enum { SMALL = 1, UNUSUAL = 2 };
static const double usual_error = 0.01;
enum { USUAL_CAPACITY = 100 };

static void save_small(RedisModuleIO *io, const bf_value *v) {
    bf_room room;
    const umbeli_layer *l = bf_value_chain(v, &room)->layers;
    uint8_t bytes[BF_SMALL_PACKED_BYTES + 64] = {0};
    umbeli_span span = {.bytes = bytes, .cap = sizeof bytes};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    bool usual = v->error == usual_error && v->capacity == USUAL_CAPACITY;
    umbeli_put_u8(&w, usual ? SMALL : SMALL | UNUSUAL);
    if (!usual) {
        umbeli_put_f64le(&w, v->error);
        umbeli_put_u8(&w, (uint8_t)v->capacity);
    }
    umbeli_put(&w, v->key, BF_KEY_BYTES);
    umbeli_put_u16le(&w, (uint16_t)l->keys);
    size_t len = span.used + umbeli_packed_write(l, bytes + span.used);
    RedisModule_SaveStringBuffer(io, (const char *)bytes, len);
}

static bool begins_small(const uint8_t *bytes, size_t len) {
    return len > 0 && (bytes[0] == SMALL || bytes[0] == (SMALL | UNUSUAL));
}

static bf_value *load_small(const uint8_t *bytes, size_t len, umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    bf_value *v = NULL;
    bf_params params = {
        .layout = BF_BLOCKED,
        .error = usual_error,
        .capacity = USUAL_CAPACITY,
        .expansion = BF_EXPANSION_AUTO,
        .keyed = true,
    };
    if (umbeli_take_u8(&r) & UNUSUAL) {
        params.error = umbeli_take_f64le(&r);
        params.capacity = umbeli_take_u8(&r);
    }
    const uint8_t *key = umbeli_take(&r, BF_KEY_BYTES);
    uint64_t keys = umbeli_take_u16le(&r);
    if (r.failed) {
        (void)umbeli_bad(diag, r.pos, "the head is cut short");
        return NULL;
    }
    memcpy(params.key, key, BF_KEY_BYTES);
    (void)bf_value_of_hashes(&params, keys, bytes + r.pos, len - r.pos, &v, diag);
    return v;
}

/* ---- All ---- */

void bf_blocked_save(RedisModuleIO *io, void *value) {
    const bf_value *v = value;
    size_t len = 0;
    if (bf_value_is_hashes(v)) {
        save_small(io, v);
        return;
    }
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

static umbel_err next_string(void *ctx, uint64_t want, const uint8_t **bits, umbel_diag *diag) {
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
    if (encver == BF_BLOCKED_ENCVER) {
        diag.what = "the head is missing";
        bytes = (uint8_t *)RedisModule_LoadStringBuffer(io, &len);
    }
    if (bytes && begins_small(bytes, len)) {
        v = load_small(bytes, len, &diag);
    } else if (bytes && !bf_head_read(bytes, len, &head, &diag)) {
        diag.what = head.len != len ? "bytes after the head" : "no memory";
        if (head.len == len) (void)bf_head_load(&head, next_string, &layers, 0, &v, &diag);
    }
    if (!v) bf_refuse_dump(io, "umbel", &diag);
    let_go(&layers);
    if (bytes) RedisModule_Free(bytes);
    return v;
}
