/* SPDX-License-Identifier: MIT */
#include "classic_value.h"

#include "chain.h"
#include "codec/redisbloom_chain.h"
#include "core/bits.h"
#include "core/diag.h"

enum { HEADER_FIXED = 20, HEADER_LINK = 53, HEADER_COUNT = 8 };

umbel_err bf_classic_value(umbel_filter *chain, bf_value **out, umbel_diag *diag) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(chain);
    bool grows = !(c->options & UMBELI_REDISBLOOM_NO_SCALING);
    bf_params params = {
        .layout = BF_CLASSIC,
        .error = chain->shape.fpr,
        .capacity = c->links[0].entries,
        .expansion = grows ? c->growth : 0,
    };
    bf_value *v = bf_value_of(&params, &chain, 1);
    if (!v) {
        umbel_free(chain);
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
    }
    *out = v;
    return UMBEL_OK;
}

size_t bf_classic_head_len(const uint8_t *bytes, size_t len) {
    if (len < HEADER_FIXED) return len;
    uint64_t said = HEADER_FIXED + HEADER_LINK * (uint64_t)umbeli_load_le32(bytes + HEADER_COUNT);
    return said < len ? (size_t)said : len;
}
