/* SPDX-License-Identifier: MIT */
#include "kind/blocked/line.h"

#include "core/cpu.h"
#include "core/diag.h"
#include "core/platform.h"
#include "kind/kind.h"

enum { LINE_BITS = 8 * UMBELI_LINE_BYTES };

const uint32_t umbeli_line_lanes[UMBELI_LINE_SHAPES] = {4, 8, 16};

/* The upper halves of the first numbers of SplitMix64 from 0, made odd: the first 4, 8 or 16, each
 * as often as its lane has words. */
#define FIRST_4(each) each(0xe220a839), each(0x6e789e6b), each(0x06c45d19), each(0xf88bb8a9)
#define FIRST_8(each) \
    FIRST_4(each), each(0x1b39896b), each(0x53cb9f0d), each(0x2c829abf), each(0xc584133b)
#define FIRST_16(each)                                                                     \
    FIRST_8(each), each(0x3ee57891), each(0xf3b8488d), each(0x657eecdd), each(0xc2d326e1), \
        each(0x8621a03f), each(0x8e1f7555), each(0xb54e0f17), each(0x84bb3f97)
#define ONCE(salt) salt
#define FOUR_TIMES(salt) salt, salt, salt, salt

const uint32_t umbeli_line_salts[UMBELI_LINE_LANES_MAX] = {FIRST_16(ONCE)};

const umbeli_line_words umbeli_line_words_4 = {
    {FIRST_4(FOUR_TIMES)}, {0, 32, 64, 96, 0, 32, 64, 96, 0, 32, 64, 96, 0, 32, 64, 96}};
const umbeli_line_words umbeli_line_words_16 = {{FIRST_16(ONCE)}, {0}};

/* Best first; the last one runs everywhere. */
static const umbeli_blocked_kernel *const kernels[] = {
#if UMBELI_X86
    umbeli_line_avx2,
#endif
    umbeli_line_generic,
};
static const umbeli_blocked_kernel *const concurrent_kernels[] = {
#if UMBELI_X86
    umbeli_line_avx2,
#endif
    umbeli_line_atomic,
};

/* Which of a kernel's shapes; UMBELI_LINE_SHAPES: none has that many lanes. */
static size_t shape_of(uint32_t lanes) {
    size_t i = 0;
    while (i < UMBELI_LINE_SHAPES && umbeli_line_lanes[i] != lanes) i++;
    return i;
}

const umbeli_blocked_kernel *umbeli_line_best(uint32_t lanes) {
    return umbeli_kernel_of(kernels) + shape_of(lanes);
}

static umbel_err check_shape(const umbeli_shape *shape, umbel_err failure, umbel_diag *diag) {
    uint64_t nblocks = shape->bits / LINE_BITS;
    if (shape_of(shape->hashes) == UMBELI_LINE_SHAPES) {
        return umbeli_fail(diag, failure, "hashes: a line filter has 4, 8 or 16");
    }
    if (nblocks == 0 || nblocks > UINT32_MAX || shape->bits % LINE_BITS) {
        return umbeli_fail(diag, failure, "bits: a line filter has 1 to 2^32-1 lines of 512 bits");
    }
    return UMBEL_OK;
}

static umbel_err make(umbeli_shape shape, const uint8_t *borrow, const umbeli_settings *settings,
                      umbel_filter **out, umbel_diag *diag) {
    umbel_err e = check_shape(&shape, UMBEL_EINVAL, diag);
    if (e) return e;
    shape.kind = UMBEL_KIND_LINE;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = UMBELI_SCHEME_BLOCKED;
    const umbeli_blocked_kernel *kernel = umbeli_line_best(shape.hashes);
    umbeli_settings own = umbeli_blocked_settings(settings);
    if (own.concurrent && !borrow) {
        kernel = umbeli_kernel_of(concurrent_kernels) + shape_of(shape.hashes);
    }
    umbel_filter *f = NULL;
    const char *layout = umbeli_kind_layout(&shape, "line/xxh3", "line/siphash13");
    e = umbeli_filter_new(kernel->ops, layout, &shape, shape.bits / 8, borrow, &own, &f, diag);
    if (e) return e;
    umbeli_blocked *b = (umbeli_blocked *)f;
    b->nblocks = shape.bits / LINE_BITS;
    b->hasher = umbeli_native_hasher(&shape);
    b->kernel = kernel;
    e = umbeli_shards_new(f, diag);
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

static const umbeli_units units = {
    .bytes = UMBELI_LINE_BYTES,
    .max = UINT32_MAX,
    .hashes = UMBELI_BLOCK_LANES,
    .large = "bytes: a line filter must be below 256 GiB",
};

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e = umbeli_kind_new_shape(UMBEL_KIND_LINE, &units, params, settings, &shape, diag);
    return e ? e : make(shape, NULL, settings, out, diag);
}

umbel_err umbeli_line_check(const umbeli_shape *shape, uint64_t data_len, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_BLOCKED, data_len, diag);
    return e ? e : check_shape(shape, UMBEL_ECORRUPT, diag);
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_line_check(shape, data_len, diag);
    return e ? e : make(*shape, borrow, settings, out, diag);
}

const umbeli_kind umbeli_kind_line = {
    .id = UMBEL_KIND_LINE,
    .name = "line",
    .traits = {.purpose = "fast, for low rates",
               .adds = true,
               .merges = true,
               .folds = true,
               .concurrent = true,
               .hashes = true},
    .create = create,
    .restore = restore,
};
