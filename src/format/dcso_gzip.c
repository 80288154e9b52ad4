/* SPDX-License-Identifier: MIT */
#include "format/dcso_gzip.h"

#include <string.h>

#include "core/size.h"

enum { GZIP_WINDOW = 15 + 16, PIECE = 1 << 30, FIRST_ROOM = 4096 };

static void *take(void *ctx, unsigned items, unsigned size) {
    uint64_t bytes;
    if (!umbeli_size_mul(items, size, &bytes) || bytes > SIZE_MAX) return NULL;
    return umbeli_new(ctx, (size_t)bytes);
}

static void give(void *ctx, void *ptr) {
    umbeli_delete(ctx, ptr);
}

static size_t fail(umbeli_gunzip *g, umbel_err error, const char *what) {
    g->error = error;
    g->what = what;
    return 0;
}

umbel_err umbeli_gunzip_start(umbeli_gunzip *g, const umbeli_memory *memory, const uint8_t *bytes,
                              size_t len) {
    *g = (umbeli_gunzip){.memory = *memory, .bytes = bytes, .len = len};
    g->z.zalloc = take;
    g->z.zfree = give;
    g->z.opaque = &g->memory;
    if (inflateInit2(&g->z, GZIP_WINDOW) != Z_OK) fail(g, UMBEL_ENOMEM, "no memory to unzip");
    return g->error;
}

static void feed(umbeli_gunzip *g) {
    size_t left = g->len - g->fed, piece = left < PIECE ? left : PIECE;
    if (g->z.avail_in) return;
    g->z.next_in = (z_const Bytef *)(uintptr_t)(g->bytes + g->fed);
    g->z.avail_in = (uInt)piece;
    g->fed += piece;
}

/* A member ended: another one follows or there is nothing more. */
static void next_member(umbeli_gunzip *g) {
    feed(g);
    if (g->z.avail_in == 0) {
        g->ended = true;
    } else if (inflateReset(&g->z) != Z_OK) {
        fail(g, UMBEL_ECORRUPT, "gzip: cannot go on");
    }
}

size_t umbeli_gunzip_read(umbeli_gunzip *g, void *to, size_t n) {
    size_t got = 0;
    while (got < n && !g->ended && !g->error) {
        size_t piece = n - got < PIECE ? n - got : PIECE;
        feed(g);
        g->z.next_out = (uint8_t *)to + got;
        g->z.avail_out = (uInt)piece;
        int status = inflate(&g->z, Z_NO_FLUSH);
        got += piece - g->z.avail_out;
        if (status == Z_STREAM_END) {
            next_member(g);
        } else if (status == Z_MEM_ERROR) {
            fail(g, UMBEL_ENOMEM, "no memory to unzip");
        } else if (status == Z_BUF_ERROR) {
            fail(g, UMBEL_ECORRUPT, "gzip: cut short");
        } else if (status != Z_OK) {
            fail(g, UMBEL_ECORRUPT, "gzip: damaged");
        }
    }
    return got;
}

umbel_err umbeli_gunzip_rest(umbeli_gunzip *g, uint64_t most, uint8_t **bytes, size_t *len) {
    uint8_t *data = NULL;
    size_t cap = 0, used = 0;
    while (used == cap && !g->error) {
        /* One byte above the limit shows that there is more. */
        size_t room = cap ? 2 * cap : FIRST_ROOM;
        if (room > most) room = (size_t)most + 1;
        uint8_t *bigger = used > most ? NULL : umbeli_new(&g->memory, room);
        if (used > most) {
            fail(g, UMBEL_ELIMIT, "gzip: more data behind the bits than is allowed");
        } else if (!bigger) {
            fail(g, UMBEL_ENOMEM, "no memory to unzip");
        } else {
            if (used) memcpy(bigger, data, used);
            umbeli_delete(&g->memory, data);
            data = bigger;
            cap = room;
            used += umbeli_gunzip_read(g, data + used, cap - used);
        }
    }
    if (g->error) {
        umbeli_delete(&g->memory, data);
        return g->error;
    }
    *bytes = data;
    *len = used;
    return UMBEL_OK;
}

uint64_t umbeli_gunzip_offset(const umbeli_gunzip *g) {
    return g->fed - g->z.avail_in;
}

void umbeli_gunzip_end(umbeli_gunzip *g) {
    inflateEnd(&g->z);
}
