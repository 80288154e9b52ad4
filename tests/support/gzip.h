/* SPDX-License-Identifier: MIT
 *
 * gzip.h - compresses in memory, for tests of what decompresses
 */
#ifndef GZIP_H
#define GZIP_H

#include <stdlib.h>
#include <zlib.h>

#include "cases.h"

/* One member: a gzip file as zlib writes it; the caller frees it. */
static inline uint8_t *gzip(const uint8_t *text, size_t len, int level, size_t *packed_len) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, len);
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    z.next_in = (z_const Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)len;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *packed_len = room - z.avail_out;
    deflateEnd(&z);
    return packed;
}

#endif
