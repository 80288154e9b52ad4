/* SPDX-License-Identifier: MIT
 *
 * type_blocked.c - umbel-bf-: STRING head, then a STRING with the bits of each layer
 *
 * The bits of a layer are read before there is memory for the layer, so a head that lies costs no
 * more than what came with it.
 */
#include <string.h>

#include "core/diag.h"
#include "storage/dump_header.h"
#include "storage/types.h"
#include "value/value_internal.h"

void bf_blocked_save(RedisModuleIO *io, void *value) {
    const bf_value *v = value;
    size_t len = 0;
    uint8_t *head = bf_head_write(v, &len);
    RedisModule_SaveStringBuffer(io, (const char *)head, len);
    RedisModule_Free(head);
    for (uint32_t i = 0; i < bf_chain_count(v); i++) {
        const umbel_filter *f = bf_chain_at(v, i);
        RedisModule_SaveStringBuffer(io, (const char *)f->data, (size_t)f->data_len);
    }
}

static umbel_err load_layer(RedisModuleIO *io, const bf_head *head, uint32_t i, umbel_filter **out,
                            umbel_diag *diag) {
    size_t len = 0;
    umbel_filter *f = NULL;
    char *bits = RedisModule_LoadStringBuffer(io, &len);
    if (!bits) return umbeli_fail(diag, UMBEL_EIO, "the bits of a layer are missing");
    umbel_err e = UMBEL_OK;
    if (len != head->layers[i].payload_len) {
        e = umbeli_fail(diag, UMBEL_ECORRUPT, "the bits of a layer are not so many as it says");
    }
    if (!e) e = bf_head_layer(head, i, 0, &f, diag);
    if (!e) memcpy(f->data, bits, len);
    RedisModule_Free(bits);
    if (!e && !bf_bits_end_clean(f)) {
        umbel_free(f);
        e = umbeli_fail(diag, UMBEL_ECORRUPT, "bits are set behind the last one");
    }
    if (!e) *out = f;
    return e;
}

static bf_value *load_layers(RedisModuleIO *io, const bf_head *head, umbel_diag *diag) {
    umbel_filter *layers[BF_LAYERS_MAX] = {NULL};
    uint32_t made = 0;
    while (made < head->count && !load_layer(io, head, made, &layers[made], diag)) made++;
    bf_value *v = made == head->count ? bf_head_value(head, layers) : NULL;
    while (!v && made > 0) umbel_free(layers[--made]);
    return v;
}

void *bf_blocked_load(RedisModuleIO *io, int encver) {
    bf_value *v = NULL;
    bf_head head;
    size_t len = 0;
    umbel_diag diag = {.what = "an unknown version"};
    uint8_t *bytes = NULL;
    if (encver == BF_BLOCKED_ENCVER) {
        diag.what = "the head is missing";
        bytes = (uint8_t *)RedisModule_LoadStringBuffer(io, &len);
    }
    if (bytes && !bf_head_read(bytes, len, &head, &diag)) {
        diag.what = head.len == len ? "no memory" : "more than the head is there";
        if (head.len == len) v = load_layers(io, &head, &diag);
    }
    if (!v) RedisModule_LogIOError(io, "warning", "a filter of umbel: %s", diag.what);
    if (bytes) RedisModule_Free(bytes);
    return v;
}
