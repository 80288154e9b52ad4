/* SPDX-License-Identifier: MIT
 *
 * rocksdb_bloom.c - RocksDB's Bloom filters: all probes of a key fall into one line
 *
 * The lines of a filter have different numbers of keys, and a crowded line answers yes more often
 * than the mean fill says.  So rates are means over lines, each by its own set bits.
 *
 * FastLocalBloom multiplies by a constant from probe to probe, which makes them independent.  The
 * older filter adds a step modulo the bits of the line, and every second step is even: probes
 * coincide, keys follow the probes of others, and its rates are found by trying.
 */
#include <math.h>

#include "core/diag.h"
#include "format/progression.h"
#include "format/rocksdb/rocksdb_filters.h"
#include "hash/foreign_hash.h"
#include "kind/key_count.h"
#include "plan/plan_block_loads.h"

enum { SCHEME_FAST = 13, SCHEME_LEGACY = 14 };
enum { LINE_BITS = 8 * UMBELI_ROCKSDB_LINE, MAX_LINE_BITS = 4096 };

/* ---- Positions ---- */

static void fast_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    uint64_t h = umbeli_xxph3_64(key, len), lines = c->base.shape.bits / LINE_BITS;
    uint64_t line = ((h & UINT32_MAX) * lines >> 32) * LINE_BITS;
    uint32_t probe = (uint32_t)(h >> 32);
    for (uint32_t i = 0; i < c->base.shape.hashes; i++, probe *= 0x9e3779b9) {
        pos[i] = line + (probe >> 23);
    }
}

/* In the older filter, modulus is the number of lines. */
static uint64_t line_bits(const umbeli_classic *c) {
    return c->scheme == &umbeli_scheme_rocksdb ? LINE_BITS
                                               : c->base.shape.bits / c->modulus.divisor;
}

static void legacy_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    uint32_t h = umbeli_rocksdb_hash(key, len), step = umbeli_rotl32(h, 15);
    uint64_t bits = line_bits(c), line = umbeli_mod(h, c->modulus) * bits;
    for (uint32_t i = 0; i < c->base.shape.hashes; i++, h += step) pos[i] = line + (h & (bits - 1));
}

/* ---- Live rates: FastLocalBloom ---- */

/* Keys that share all probes but `behind` with one of `keys` in a line: with the same upper half of
 * the hash, or one that is that many factors away. */
static double following(double fill, double keys, uint32_t hashes) {
    double sum = 0, open = 1, all = pow(fill, hashes);
    for (uint32_t behind = 0; behind < hashes; behind++, open *= fill) {
        sum += (behind ? 2 : 1) * (open - all);
    }
    return keys * 0x1p-32 * sum;
}

static double rate_of_line(uint64_t set, uint32_t hashes) {
    if (set == LINE_BITS) return 1;
    double fill = (double)set / LINE_BITS;
    double keys = log1p(-fill) / (hashes * log1p(-1.0 / LINE_BITS));
    return fmin(1, pow(fill, hashes) + following(fill, keys, hashes));
}

static double fast_live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    uint64_t lines = c->base.shape.bits / LINE_BITS, count[LINE_BITS + 1] = {0};
    uint32_t hashes = c->base.shape.hashes;
    double sum = 0;
    (void)keys;
    if (hashes == 0) return 1;
    if (bits_set == 0) return 0;
    for (uint64_t i = 0; i < lines; i++) {
        const uint8_t *line = c->base.data + i * UMBELI_ROCKSDB_LINE;
        count[umbeli_bits_count(line, UMBELI_ROCKSDB_LINE)]++;
    }
    for (uint64_t set = 0; set <= LINE_BITS; set++) {
        if (count[set]) sum += (double)count[set] * rate_of_line(set, hashes);
    }
    return sum / (double)lines;
}

/* ---- Live rates: the older filter ---- */

/* Counts the starts in a line from which all probes of this step are set, 64 at a time.  *work
 * grows by the words that were read. */
static uint64_t starts_found(const uint8_t *line, uint64_t bits, uint64_t step, uint32_t hashes,
                             uint64_t *work) {
    uint64_t count = 0, words = bits / 64;
    for (uint64_t first = 0; first < bits; first += 64) {
        uint64_t all = UINT64_MAX, at = first;
        for (uint32_t i = 0; i < hashes && all; i++, at = (at + step) % bits) {
            uint64_t word = umbeli_load_le64(line + at / 64 * 8);
            uint64_t next = umbeli_load_le64(line + (at / 64 + 1) % words * 8);
            all &= at % 64 ? word >> at % 64 | next << (64 - at % 64) : word;
            ++*work;
        }
        count += (uint64_t)__builtin_popcountll(all);
    }
    return count;
}

/* Steps that are multiples of large powers of two come back to the start after a cycle of fewer
 * probes than there are: cycle / 2 steps have each cycle.  Rare as they are, they make up a good
 * part of a low rate. */
static double rate_of_short_cycles(const umbeli_classic *c, uint64_t bits, uint64_t lines) {
    double sum = 0;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t set = umbeli_bits_count(c->base.data + i * (bits / 8), bits / 8);
        double fill = (double)set / (double)bits, all = fill;
        for (uint64_t cycle = 1; cycle == 1 || (cycle < c->base.shape.hashes && cycle <= bits);
             cycle *= 2) {
            sum += all * (double)(cycle > 1 ? cycle / 2 : 1);
            all *= all;
        }
    }
    return sum / (double)lines / (double)bits;
}

/* How far apart steps of short cycles are: step 0 has one, even of a single probe. */
static uint64_t apart_of(uint64_t bits, uint32_t hashes) {
    uint64_t apart = bits;
    for (uint64_t cycle = 2; cycle < hashes && apart > 2; cycle *= 2) apart /= 2;
    return apart;
}

/* In a filter of few bits, line, start and step are independent: tries all pairs of a line and a
 * step whose cycle is not short, or some of them at random; few in lines that are nearly full,
 * where each takes longest and all say the same. */
static double rate_by_steps(const umbeli_classic *c, uint64_t bits, uint64_t lines) {
    enum { PAIRS = 2048, WORK = 80000 };
    const uint64_t scattered = 2654435761; /* a prime: all pairs, in scattered order */
    const uint32_t hashes = c->base.shape.hashes;
    uint64_t all = lines * bits, random = 1, found = 0, tried = 0, work = 0;
    const uint64_t apart = apart_of(bits, hashes);
    bool every = all <= PAIRS;
    for (uint64_t i = 0; i < (every ? all : PAIRS) && work < WORK; i++) {
        uint64_t pair = every ? i * scattered % all : umbeli_mul_high(umbeli_draw(&random), all);
        if (!every && pair % bits % apart == 0) continue;
        const uint8_t *line = c->base.data + pair / bits * (bits / 8);
        found += starts_found(line, bits, pair % bits, hashes, &work);
        tried++;
    }
    double mean = tried ? (double)found / (double)tried / (double)bits : 0;
    if (every) return mean;
    return fmin(1, rate_of_short_cycles(c, bits, lines) + (1 - 1 / (double)apart) * mean);
}

/* In a larger one, all three follow from 32 bits, too few for that: tries random hashes, with work
 * in proportion to the filter. */
static double rate_by_hashes(const umbeli_classic *c, uint64_t bits) {
    enum { TRIES = 1 << 20, WORK = 150000, WORK_PER_BYTE = 6 };
    uint64_t random = 1, found = 0, tried = 0, work = 0;
    const uint64_t most = WORK + WORK_PER_BYTE * c->base.data_len;
    const uint64_t apart = apart_of(bits, c->base.shape.hashes);
    while (tried < TRIES && work < most) {
        uint32_t h = (uint32_t)umbeli_draw(&random), step = umbeli_rotl32(h, 15), open = 0;
        if (step % apart == 0) continue;
        const uint8_t *line = c->base.data + umbeli_mod(h, c->modulus) * (bits / 8);
        while (open < c->base.shape.hashes && umbeli_bit_test(line, h & (bits - 1))) {
            h += step;
            open++;
        }
        found += open == c->base.shape.hashes;
        work += open + 1;
        tried++;
    }
    double others = (1 - 1 / (double)apart) * (double)found / (double)tried;
    return fmin(1, rate_of_short_cycles(c, bits, c->modulus.divisor) + others);
}

/* RocksDB writes at most 30 probes, in the lines of some processor: others count as independent. */
static double legacy_live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    enum { FEW_BITS = 1 << 18, WRITTEN = 30 };
    const umbeli_shape *s = &c->base.shape;
    uint64_t bits = line_bits(c), lines = c->modulus.divisor;
    (void)keys;
    if (bits_set == 0) return 0;
    if (bits < 64 || bits > MAX_LINE_BITS || s->hashes > WRITTEN) {
        return umbeli_classic_live_rate(s->bits, s->hashes, bits_set);
    }
    return s->bits <= FEW_BITS ? rate_by_steps(c, bits, lines) : rate_by_hashes(c, bits);
}

/* ---- Keys ---- */

/* The share of a line's bits that one key sets on average.  Of the older filter's steps, half are
 * even, a quarter are multiples of 4, and so on: probes repeat after a cycle of that length. */
static double share_per_key(const umbeli_classic *c) {
    uint64_t bits = line_bits(c);
    uint32_t hashes = c->base.shape.hashes;
    if (c->scheme == &umbeli_scheme_rocksdb) return -expm1(hashes * log1p(-1 / (double)bits));
    double sum = 0, share = 1;
    for (uint64_t cycle = bits; cycle >= 1; cycle /= 2) {
        share = cycle > 1 ? share / 2 : share;
        sum += share * (cycle < hashes ? (double)cycle : hashes);
    }
    return sum / (double)bits;
}

/* A bit stays clear if no key comes to its line and sets it there. */
static double estimate(const umbeli_classic *c, uint64_t bits_set) {
    const umbeli_shape *s = &c->base.shape;
    if (s->hashes == 0 || bits_set == 0) return 0;
    if (bits_set >= s->bits) return INFINITY;
    double lines = (double)s->bits / (double)line_bits(c), share = share_per_key(c) / lines;
    double clear = log1p(-(double)bits_set / (double)s->bits);
    return share < 1 ? clear / log1p(-share) : 1;
}

/* Measured: in filters of some sizes line, start and step are tied to each other. */
static double legacy_error(const umbeli_classic *c, double keys) {
    (void)c;
    return 0.005 * keys;
}

const umbeli_scheme umbeli_scheme_rocksdb = {
    .id = SCHEME_FAST,
    .hash = UMBEL_HASH_XXPH3,
    .layout = "rocksdb/xxph3",
    .format = UMBEL_FMT_ROCKSDB,
    .positions = fast_positions,
    .estimate = estimate,
    .live_rate = fast_live_rate,
};

static const umbeli_scheme scheme_legacy = {
    .id = SCHEME_LEGACY,
    .hash = UMBEL_HASH_ROCKSDB,
    .layout = "rocksdb-legacy/bloomhash",
    .format = UMBEL_FMT_ROCKSDB,
    .positions = legacy_positions,
    .estimate = estimate,
    .estimate_error = legacy_error,
    .live_rate = legacy_live_rate,
};

umbel_err umbeli_rocksdb_legacy_new(umbeli_shape shape, uint32_t lines, const uint8_t *borrow,
                                    const umbeli_settings *settings, umbel_filter **out,
                                    umbel_diag *diag) {
    umbel_err e = umbeli_classic_new(&scheme_legacy, shape, borrow, settings, out, diag);
    if (e) return e;
    umbeli_classic *c = (umbeli_classic *)*out;
    c->modulus = umbeli_modulus_of(lines);
    /* Filters with lines of another size place keys elsewhere, so their scheme has a different
     * number. */
    uint32_t size = (uint32_t)__builtin_ctzll(shape.bits / lines);
    c->base.shape.scheme += size << 8;
    return UMBEL_OK;
}

uint32_t umbeli_rocksdb_legacy_lines(const umbel_filter *f) {
    const umbeli_classic *c = umbeli_classic_of(f);
    bool legacy = f->ops == &umbeli_classic_ops && c->scheme == &scheme_legacy;
    return legacy ? (uint32_t)c->modulus.divisor : 0;
}

/* ---- The mean rate ---- */

/* The mean rate of a line by the number of its keys: exact if every probe hits any bit.  Crowded
 * lines after the last one say yes to everything. */
enum { MAX_KEYS = 4096 };

typedef struct mixture {
    double rates[MAX_KEYS];
    uint32_t count;
    double weight, yes;
} mixture;

static void fill_rates(mixture *m, uint32_t hashes, double most) {
    double chance[LINE_BITS + 1] = {1}, power[LINE_BITS + 1];
    for (int set = 0; set <= LINE_BITS; set++) power[set] = pow(set / (double)LINE_BITS, hashes);
    m->count = 0;
    while (m->count < MAX_KEYS && m->count <= most) {
        double rate = 0, mean = 0, keys = m->count;
        for (int set = 0; set <= LINE_BITS; set++) {
            rate += chance[set] * power[set];
            mean += chance[set] * set / LINE_BITS;
        }
        m->rates[m->count++] = fmin(1, rate + following(mean, keys, hashes));
        if (rate > 1 - 1e-12) break;
        for (uint32_t i = 0; i < hashes; i++) {
            for (int set = LINE_BITS; set > 0; set--) {
                chance[set] =
                    (chance[set] * set + chance[set - 1] * (LINE_BITS + 1 - set)) / LINE_BITS;
            }
            chance[0] = 0;
        }
    }
}

static double mix(void *sums, const umbeli_load *load) {
    mixture *m = sums;
    double yes = load->weight * (load->keys < m->count ? m->rates[(size_t)load->keys] : 1);
    m->weight += load->weight;
    m->yes += yes;
    return yes;
}

double umbeli_rocksdb_rate(uint64_t lines, uint32_t hashes, uint64_t keys) {
    const umbeli_lanes line = {1, LINE_BITS};
    umbeli_block_class classes[2];
    double n = (double)keys, rate = 0, mean = n / (double)lines;
    if (keys == 0) return 0;
    if (mean > umbeli_load_full(line)) return 1;
    mixture m = {.weight = 0};
    fill_rates(&m, hashes, fmin(n, mean + 40 * sqrt(mean) + 40));
    umbeli_block_classes(lines, classes);
    for (int i = 0; i < 2 && classes[i].blocks > 0; i++) {
        m.weight = m.yes = 0;
        umbeli_loads_visit(line, n, classes[i].share, false, mix, &m);
        rate += classes[i].blocks * classes[i].share * (m.yes / m.weight);
    }
    return fmin(rate, 1);
}
