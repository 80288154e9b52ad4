/* SPDX-License-Identifier: MIT */
#include "core/bytes.h"

#include "core/bits.h"

umbeli_reader umbeli_reader_over(const void *bytes, size_t len) {
    return (umbeli_reader){.bytes = bytes, .len = len};
}

size_t umbeli_left(const umbeli_reader *r) {
    return r->len - r->pos;
}

const uint8_t *umbeli_take(umbeli_reader *r, uint64_t n) {
    if (r->failed || n > umbeli_left(r)) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *p = r->bytes + r->pos;
    r->pos += (size_t)n;
    return p;
}

uint8_t umbeli_take_u8(umbeli_reader *r) {
    const uint8_t *p = umbeli_take(r, 1);
    return p ? *p : 0;
}

uint16_t umbeli_take_u16le(umbeli_reader *r) {
    const uint8_t *p = umbeli_take(r, 2);
    return p ? umbeli_load_le16(p) : 0;
}

uint32_t umbeli_take_u32le(umbeli_reader *r) {
    const uint8_t *p = umbeli_take(r, 4);
    return p ? umbeli_load_le32(p) : 0;
}

uint64_t umbeli_take_u64le(umbeli_reader *r) {
    const uint8_t *p = umbeli_take(r, 8);
    return p ? umbeli_load_le64(p) : 0;
}

double umbeli_take_f64le(umbeli_reader *r) {
    const uint8_t *p = umbeli_take(r, 8);
    return p ? umbeli_load_f64(p) : 0;
}

uint32_t umbeli_take_u32be(umbeli_reader *r) {
    return __builtin_bswap32(umbeli_take_u32le(r));
}

bool umbeli_take_varint(umbeli_reader *r, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = umbeli_take_u8(r);
        if (r->failed || (shift == 63 && byte > 1)) return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

size_t umbeli_varint(uint64_t value, uint8_t bytes[UMBELI_VARINT]) {
    size_t len = 0;
    for (; value >= 0x80; value >>= 7) bytes[len++] = (uint8_t)((value & 0x7f) | 0x80);
    bytes[len++] = (uint8_t)value;
    return len;
}

void umbeli_put(umbeli_writer *w, const void *bytes, size_t len) {
    if (w->failed || len == 0) return;
    if (w->sink(w->ctx, bytes, len)) {
        w->written += len;
    } else {
        w->failed = true;
    }
}

void umbeli_put_zeros(umbeli_writer *w, uint64_t n) {
    static const uint8_t zeros[512];
    while (n > 0 && !w->failed) {
        size_t piece = n < sizeof zeros ? (size_t)n : sizeof zeros;
        umbeli_put(w, zeros, piece);
        n -= piece;
    }
}

void umbeli_put_u8(umbeli_writer *w, uint8_t x) {
    umbeli_put(w, &x, 1);
}

void umbeli_put_u16le(umbeli_writer *w, uint16_t x) {
    uint8_t bytes[2];
    umbeli_store_le16(bytes, x);
    umbeli_put(w, bytes, sizeof bytes);
}

void umbeli_put_u32le(umbeli_writer *w, uint32_t x) {
    uint8_t bytes[4];
    umbeli_store_le32(bytes, x);
    umbeli_put(w, bytes, sizeof bytes);
}

void umbeli_put_u64le(umbeli_writer *w, uint64_t x) {
    uint8_t bytes[8];
    umbeli_store_le64(bytes, x);
    umbeli_put(w, bytes, sizeof bytes);
}

void umbeli_put_f64le(umbeli_writer *w, double x) {
    uint8_t bytes[8];
    umbeli_store_f64(bytes, x);
    umbeli_put(w, bytes, sizeof bytes);
}

void umbeli_put_u32be(umbeli_writer *w, uint32_t x) {
    umbeli_put_u32le(w, __builtin_bswap32(x));
}

void umbeli_swap_words(uint8_t *to, const uint8_t *from, size_t words) {
    for (size_t w = 0; w < words; w++) {
        for (size_t i = 0; i < 8; i++) to[8 * w + i] = from[8 * w + 7 - i];
    }
}

void umbeli_put_swapped(umbeli_writer *w, const uint8_t *bytes, uint64_t len) {
    enum { WORDS = 512 };
    uint8_t turned[8 * WORDS];
    for (uint64_t at = 0; at < len; at += sizeof turned) {
        size_t chunk = len - at < sizeof turned ? (size_t)(len - at) : sizeof turned;
        umbeli_swap_words(turned, bytes + at, chunk / 8);
        umbeli_put(w, turned, chunk);
    }
}

bool umbeli_span_sink(void *ctx, const void *bytes, size_t len) {
    umbeli_span *span = ctx;
    if (len > span->cap - span->used) return false;
    memcpy(span->bytes + span->used, bytes, len);
    span->used += len;
    return true;
}
