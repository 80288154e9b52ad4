/* SPDX-License-Identifier: MIT
 *
 * tight.c - tight filters: how they work, and their parameters in native files
 *
 * Any filter with a false-positive rate of 2^-r needs r bits per key.  A Bloom filter takes 1.44 r,
 * a binary fuse filter (static.c) 1.13 r.  This one takes 1.004 r.  The method is bumped ribbon
 * retrieval (Dillinger, Hübschle-Schneider, Sanders, Walzer: "Fast Succinct Retrieval and
 * Approximate Membership Using Ribbon", SEA 2022), with our own choices.
 *
 * Retrieval.  Give every key a fingerprint (`print`), r bits of its hash.  We want a structure that
 * returns each key's print when asked for that key, and anything at all for other keys.  Such a
 * structure is a filter: retrieve the print and compare; an absent key matches one time in 2^r.
 *
 * Equations.  Take an array of slots of r bits.  A key's hash also selects a few slots, and their
 * XOR is the value retrieved.  So each key is a linear equation over GF(2), and building the filter
 * means solving n equations in as many unknowns as there are slots: cubic work in general.
 *
 * The ribbon.  But if a key selects only slots within a window of 64, starting at a place given by
 * its hash, all ones of the matrix are close to the diagonal, and elimination is local to each row:
 * about 19 additions of 64-bit words per key (tight_table.c).
 *
 * Bumping.  Some windows get more keys than slots.  A plain ribbon has slots to spare, 10% and
 * more, so that this is rare.  A bumped ribbon does the opposite: it has too few slots, 96 for 100
 * keys.  Then nearly all slots are used, and a few keys must leave every crowded region: places are
 * divided into buckets of 192, and each bucket has a threshold, 0, 24, 48 or 192.  Keys whose place
 * in the bucket is below it are "bumped" to the next level, the same structure for the 4% of keys
 * that get there.  The last level, for at most 4096 keys, has enough slots for all of them.
 *
 * Thresholds cost 2 bits per 192 slots.  The four values, the bucket size and the 96% were chosen
 * by measurement: 0.15% of the slots stay empty, and thresholds are 0.15% of a filter with 7 bits;
 * buckets of 128 are as good for 7 bits and worse for fewer.
 *
 * Few bits.  In a filter with 1 bit per slot the same thresholds are 1%.  So where slots have at
 * most two bits, windows are 128 slots: they bridge more uneven loads, so a bucket may have 640
 * places (thresholds 0, 48, 96, 640), 97 slots for 100 keys suffice, and 0.04% stay empty.  Each
 * key costs 43 additions of two words; with more bits per slot that is not worth the time.
 *
 * Fractions.  A rate of 1% needs 6.64 bits, so some slots have 6 bits and the others 7.
 * Elimination only ever moves an equation to the right; so if the wide slots are on the right, the
 * equation of a key whose window begins there stays there, and its extra bit can be solved for like
 * the others.  A key is as wide as the block in which its window begins.  Bumped keys get a new
 * place, wide or narrow, so the rate varies a little with the keys; it is known exactly once all
 * thresholds are, and a filter that came out above the promised rate is built again.
 *
 * Bits.  Slots are stored in blocks of 64, with a column of 64 bits for each bit of the slots.  A
 * window of 64 slots spans one block or two neighbours, so a lookup reads two pieces of each
 * column, ANDs them with the row and takes the parity; all of it is 16 r contiguous bytes, one or
 * two cache lines beyond the first.  Thresholds, 1 bit per 96 or 320 keys, stay in the cache.
 *
 * The kind's own parameters in a file; numbers have one to five bytes, so that a filter of 1000
 * keys spends four bytes on them:
 *   byte    width r, bits                   then for each level:
 *   number  wide blocks per shard, level 0  byte    level before it: shards, log2; not for level 0
 *                                           number  blocks per shard
 *                                           byte    seed
 */
#include "kind/static/tight.h"

#include "core/cpu.h"
#include "core/diag.h"
#include "kind/kind.h"

#define TIGHT_TARGET /* none */

static inline uint32_t parity(uint64_t word) {
    return (uint32_t)__builtin_parityll(word);
}

static UMBELI_TIGHT_INLINE uint32_t column_sums(uint32_t window, const uint8_t *const *block,
                                                uint64_t first, const uint64_t *row, uint32_t from,
                                                uint32_t to) {
    uint32_t sums = 0;
    for (uint32_t i = from; i < to; i++) {
        uint64_t a = umbeli_load_le64(block[0] + 8 * (size_t)i), sum = 0;
        for (uint32_t j = 0; j < window; j++) {
            uint64_t b = umbeli_load_le64(block[j + 1] + 8 * (size_t)i);
            sum ^= (b ^ ((a ^ b) & first)) & row[j];
            a = b;
        }
        sums |= parity(sum) << i;
    }
    return sums;
}

static UMBELI_TIGHT_INLINE void solve_block(uint32_t window, const uint64_t *restrict rows,
                                            const uint32_t *restrict prints, uint32_t width,
                                            uint64_t (*restrict later)[UMBELI_TIGHT_MAX_WIDTH]) {
    for (uint32_t slot = UMBELI_TIGHT_BLOCK; slot-- > 0;) {
        const uint64_t *row = rows + (size_t)window * slot;
        uint32_t print = row[0] ? prints[slot] : 0;
        for (uint32_t i = 0; i < width; i++) {
            uint64_t column = later[0][i] << 1, sum = column & row[0];
            if (window == 2) {
                later[1][i] = later[1][i] << 1 | later[0][i] >> 63;
                sum ^= later[1][i] & row[1];
            }
            later[0][i] = column | (parity(sum) ^ ((print >> i) & 1));
        }
    }
}

#include "kind/static/tight_kernel.h"

TIGHT_KERNEL(generic);

const umbeli_tight_kernel *umbeli_tight_best(void) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return &umbeli_tight_avx2;
#endif
    return &umbeli_tight_generic;
}

/* A copy of a tight filter is read-only as well. */
umbel_err umbeli_tight_copy(umbel_filter *into, const umbel_filter *from) {
    (void)from;
    into->frozen = true;
    return UMBEL_OK;
}

/* Bytes of all thresholds, any of which a lookup may read: each level's decides whether the next is
 * asked. */
uint64_t umbeli_tight_thresholds(const umbel_filter *f) {
    return umbeli_tight_of(f)->ribbon.tables_at;
}

void umbeli_tight_measure(const umbel_filter *f, umbel_measurement *now) {
    uint64_t keys = umbeli_keys_added(f);
    now->bits_set = umbeli_bits_count(f->data, f->data_len);
    now->keys = (double)keys;
    now->rate = umbeli_tight_rate(&umbeli_tight_of(f)->ribbon.layout, keys);
}

/* ---- making ------------------------------------------------------------------------------- */

void umbeli_ribbon_settle(umbeli_ribbon *b) {
    const umbeli_tight_layout *l = &b->layout;
    uint32_t window = umbeli_tight_window(l);
    uint64_t marks_at = b->marks_at, tables_at = b->tables_at;
    for (uint32_t i = 0; i < l->levels; i++) {
        const umbeli_tight_level *level = &l->level[i];
        umbeli_tight_rung *r = &b->rungs[i];
        *r = (umbeli_tight_rung){
            .odd = umbeli_tight_odd(b->seeds[i]),
            .shard_bits = level->shard_bits,
            .window = window,
            .places = umbeli_tight_places(level, window),
            .blocks = level->blocks,
            .narrow = level->narrow,
            .width = l->width,
            .table_words = umbeli_tight_table_words(level, l->width),
            .marks_len = i + 1 < l->levels ? umbeli_tight_marks_len(level, window) : 0,
            .tables_at = tables_at,
            .marks_at = marks_at,
            .carried = b->carried,
        };
        marks_at += r->marks_len << level->shard_bits;
        tables_at += 8 * (r->table_words << level->shard_bits);
    }
}

void umbeli_ribbon_set_seed(umbeli_ribbon *b, uint32_t level, uint32_t seed) {
    b->seeds[level] = seed;
    umbeli_ribbon_settle(b);
}

/* The only ribbon of a filter. */
static void settle(umbeli_tight *t, const umbeli_tight_layout *layout) {
    t->ribbon.layout = *layout;
    t->ribbon.tables_at = umbeli_tight_tables_at(layout);
    umbeli_ribbon_settle(&t->ribbon);
}

static umbel_err make(const umbeli_tight_layout *layout, umbeli_shape shape, uint64_t len,
                      const uint8_t *borrow, const umbeli_settings *settings, umbel_filter **out,
                      umbel_diag *diag) {
    shape.kind = UMBEL_KIND_TIGHT;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = UMBELI_SCHEME_TIGHT;
    shape.hashes = 1;
    shape.bits = 8 * len;
    umbel_err e = umbeli_filter_new(umbeli_tight_best()->ops,
                                    umbeli_kind_layout(&shape, "tight/xxh3", "tight/siphash13"),
                                    &shape, len, borrow, settings, out, diag);
    if (e) return e;
    umbeli_tight *t = (umbeli_tight *)*out;
    t->base.frozen = true;
    settle(t, layout);
    return UMBEL_OK;
}

umbel_err umbeli_tight_new(const umbeli_tight_layout *layout, umbeli_shape shape,
                           const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    return make(layout, shape, umbeli_tight_len(layout), NULL, settings, out, diag);
}

/* take_kind_params does the rest: there is no layout before that. */
static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_TIGHT, data_len, diag);
    if (e) return e;
    if (shape->hashes != 1) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a tight filter has 1");
    }
    umbeli_tight_layout none = {0};
    return make(&none, *shape, data_len, borrow, settings, out, diag);
}

/* ---- parameters in files ------------------------------------------------------------------ */

/* Numbers have seven bits per byte, the lower ones first, and a 1 above them in each byte except
 * the last. */
static void put_number(umbeli_writer *w, uint32_t x) {
    for (; x >= 0x80; x >>= 7) umbeli_put_u8(w, (uint8_t)(x | 0x80));
    umbeli_put_u8(w, (uint8_t)x);
}

static uint32_t number_len(uint32_t x) {
    uint32_t len = 1;
    while (x >>= 7) len++;
    return len;
}

/* UINT32_MAX, which is too large for all of them, unless it is what put_number writes. */
static uint32_t take_number(umbeli_reader *r) {
    uint64_t x = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
        uint8_t byte = umbeli_take_u8(r);
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return (byte == 0 && shift) || x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
    }
    return UINT32_MAX;
}

static uint32_t wide_of(const umbeli_tight_level *l) {
    return l->blocks - l->narrow;
}

uint64_t umbeli_ribbon_params_len(const umbeli_ribbon *r) {
    const umbeli_tight_layout *l = &r->layout;
    if (l->levels == 0) return 0;
    uint64_t len = 3 * (uint64_t)l->levels + number_len(wide_of(&l->level[0]));
    for (uint32_t i = 0; i < l->levels; i++) len += number_len(l->level[i].blocks) - 1;
    return len;
}

void umbeli_ribbon_put_params(const umbeli_ribbon *r, umbeli_writer *w) {
    const umbeli_tight_layout *l = &r->layout;
    if (l->levels == 0) return;
    umbeli_put_u8(w, (uint8_t)l->width);
    put_number(w, wide_of(&l->level[0]));
    for (uint32_t i = 0; i < l->levels; i++) {
        if (i > 0) umbeli_put_u8(w, (uint8_t)l->level[i - 1].shard_bits);
        put_number(w, l->level[i].blocks);
        umbeli_put_u8(w, (uint8_t)r->seeds[i]);
    }
}

/* Levels up to the end of the parameters; the last one has one shard. */
const char *umbeli_ribbon_take_params(umbeli_ribbon *r, umbeli_reader *params) {
    umbeli_tight_layout *l = &r->layout;
    *l = (umbeli_tight_layout){0};
    if (umbeli_left(params) == 0) return NULL;
    uint32_t width = umbeli_take_u8(params), wide = take_number(params);
    for (;; l->levels++) {
        if (l->levels == UMBELI_TIGHT_MAX_LEVELS) return "levels: more than 8";
        umbeli_tight_level *level = &l->level[l->levels];
        level->blocks = take_number(params);
        r->seeds[l->levels] = umbeli_take_u8(params);
        if (umbeli_left(params) == 0) break;
        level->shard_bits = umbeli_take_u8(params);
        if (level->shard_bits > UMBELI_TIGHT_MAX_SHARD_BITS) return "shards: above 2^24";
    }
    l->levels++;
    if (params->failed) return "parameters: cut off";
    if (wide >= l->level[0].blocks) return "wide blocks: too many";
    if (width > UMBELI_TIGHT_MAX_WIDTH - (wide > 0)) return "width: above 32 bits";
    umbeli_tight_set_widths(l, width, wide);
    for (uint32_t i = 0; i < l->levels; i++) {
        uint32_t blocks = l->level[i].blocks;
        if (blocks < umbeli_tight_window(l) || blocks > UMBELI_TIGHT_MAX_BLOCKS) {
            return "blocks: must be 1 to 2^24, at least 2 with windows of 128 slots";
        }
    }
    return NULL;
}

static uint64_t kind_params_len(const umbel_filter *f) {
    return umbeli_ribbon_params_len(&umbeli_tight_of(f)->ribbon);
}

static void put_kind_params(const umbel_filter *f, umbeli_writer *w) {
    umbeli_ribbon_put_params(&umbeli_tight_of(f)->ribbon, w);
}

static umbel_err take_kind_params(umbel_filter *f, umbeli_reader *params, umbel_diag *diag) {
    umbeli_tight *t = (umbeli_tight *)f;
    const umbeli_tight_layout *l = &t->ribbon.layout;
    const char *what = umbeli_ribbon_take_params(&t->ribbon, params);
    if (what) return umbeli_fail(diag, UMBEL_ECORRUPT, what);
    uint64_t len = umbeli_tight_len(l);
    if (f->data_len != len || (l->levels == 0) != (len == 0)) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "levels and payload size disagree");
    }
    settle(t, l);
    return UMBEL_OK;
}

const umbeli_kind umbeli_kind_tight = {
    .id = UMBEL_KIND_TIGHT,
    .name = "tight",
    .traits = {.purpose = "smallest, built once", .built_once = true, .hashes = true},
    .restore = restore,
    .kind_params_len = kind_params_len,
    .put_kind_params = put_kind_params,
    .take_kind_params = take_kind_params,
};
