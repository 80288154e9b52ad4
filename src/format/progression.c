/* SPDX-License-Identifier: MIT
 *
 * progression.c - rates of filters whose probes are not independent of each other
 *
 * In filters of a few thousand bits the rate is found by trying: for a step, the starts whose
 * probes are all set are the AND of the bit array rotated by 0, step, 2 step, ..., 64 starts at a
 * time.  In larger ones it is that of independent probes, plus two terms that fall with the size:
 * steps whose probes coincide, and keys that follow the probes of another.
 *
 * Sums that wrap around at 2^w, a number that is not a multiple of the bits, break a progression
 * there: the position moves back by `jump`.  Where that happens depends on the upper bits of start
 * and step, which are independent of their remainders, so it is drawn at random.
 */
#include "format/progression.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "format/codec_params.h"
#include "kind/classic/classic.h"
#include "plan/plan.h"

enum {
    TRIED_BITS = 4096, /* up to this many bits, all starts are tried */
    TRIED_WORDS = TRIED_BITS / 64,
    MAX_HASHES = UMBELI_CLASSIC_MAX_HASHES,
    MANY_HASHES = 32, /* more probes count as independent: rates of 1e-10, or a file made to
                         cost time */
};

uint64_t umbeli_draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t *random, uint64_t n) {
    return umbeli_mul_high(umbeli_draw(random), n);
}

/* pow, without setting errno when it underflows. */
static double power(double x, double y) {
    int saved = errno;
    double z = pow(x, y);
    errno = saved;
    return z;
}

uint64_t umbeli_power_modulo(unsigned exponent, uint64_t bits) {
    uint64_t x = 1 % (bits ? bits : 1);
    for (unsigned i = 0; i < exponent; i++) x = x >= bits - x ? x - (bits - x) : 2 * x;
    return x;
}

/* ---- One step ----------------------------------------------------------------------------- */

/* Where the probes are, relative to the start: probe i is at start + at[i] or, if back[i], at
 * at[i] - start, modulo the bits. */
typedef struct course {
    uint64_t at[MAX_HASHES];
    bool back[MAX_HASHES];
} course;

static bool breaks(const umbeli_progression *p) {
    return p->jump != 0 || p->mirrored;
}

/* Equal steps do not always make the same course. */
static bool varies(const umbeli_progression *p) {
    return breaks(p) || p->halved;
}

static uint64_t plus(uint64_t a, uint64_t b, uint64_t m) {
    return a >= m - b ? a - (m - b) : a + b;
}

static uint64_t minus(uint64_t a, uint64_t b, uint64_t m) {
    return a >= b ? a - b : a + (m - b);
}

static void draw_course(const umbeli_progression *p, uint64_t step, uint64_t *random, course *c) {
    const uint64_t m = p->bits;
    uint64_t sum = 0, jumped = 0, turn = 0, each = 0; /* the turn is a fraction of 2^64 */
    uint64_t half = 0, odd = 0;                       /* of the start, and of the step */
    if (breaks(p)) {
        turn = umbeli_draw(random);
        each = umbeli_draw(random);
    }
    if (p->halved) {
        half = umbeli_draw(random) >> 63;
        odd = umbeli_draw(random) >> 63;
    }
    for (uint32_t i = 0; i < p->hashes; i++) {
        c->back[i] = p->mirrored && turn >> 63;
        c->at[i] = minus(sum, jumped, m);
        if (c->back[i]) { /* 2^w - 1 less the sum that is left */
            c->at[i] = minus(minus(p->jump, 1 % m, m), c->at[i], m);
        }
        if (p->quadratic) c->at[i] = plus(c->at[i], (uint64_t)i * i % m, m);
        sum = plus(sum, step, m);
        half += odd;
        if (half == 2) {
            sum = plus(sum, 1 % m, m);
            half = 0;
        }
        turn += each;
        if (turn < each) jumped = plus(jumped, p->jump, m);
    }
}

/* How many bits the probes of a key on this course hit. */
static uint32_t distinct(const umbeli_progression *p, const course *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->hashes; i++) {
        bool again = false;
        for (uint32_t j = 0; j < i && !again; j++) {
            again = c->at[i] == c->at[j] && c->back[i] == c->back[j];
        }
        count += !again;
    }
    return count;
}

/* ---- Small filters: all starts ------------------------------------------------------------ */

/* The bits twice in a row, so that a rotation is a shift; and from the last to the first. */
typedef struct rotations {
    uint64_t ahead[2 * TRIED_WORDS + 2], back[2 * TRIED_WORDS + 2];
} rotations;

static void rotate(rotations *r, const uint8_t *bits, uint64_t m, bool mirrored) {
    memset(r, 0, sizeof *r);
    for (uint64_t i = 0; i < m; i++) {
        uint64_t bit = umbeli_bit_test(bits, i), again = m + i, from_end = m - 1 - i;
        r->ahead[i / 64] |= bit << i % 64;
        r->ahead[again / 64] |= bit << again % 64;
        if (!mirrored) continue;
        again = m + from_end;
        r->back[from_end / 64] |= bit << from_end % 64;
        r->back[again / 64] |= bit << again % 64;
    }
}

static uint64_t word_at(const uint64_t *bits, uint64_t at) {
    unsigned shift = at % 64;
    uint64_t word = bits[at / 64] >> shift;
    return shift ? word | bits[at / 64 + 1] << (64 - shift) : word;
}

/* Which of 64 starts from `first` on go with this step. */
static uint64_t starts_with(const umbeli_progression *p, uint64_t step, uint64_t first) {
    uint64_t all = 0, left = p->bits - first, n = left < 64 ? left : 64;
    if (!p->tied) return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
    uint64_t at = 0;
    while (at < p->tied && (first + at) * p->ties % p->tied != step % p->tied) at++;
    for (; at < n; at += p->tied) all |= UINT64_C(1) << at;
    return all;
}

/* The starts from which all probes of a course are set. */
static uint64_t found(const umbeli_progression *p, const rotations *r, const course *c,
                      uint64_t step) {
    const uint64_t m = p->bits;
    uint64_t count = 0;
    for (uint64_t first = 0; first < m; first += 64) {
        uint64_t all = starts_with(p, step, first);
        for (uint32_t i = 0; i < p->hashes && all; i++) {
            /* at - start is the (m - 1 - at + start)-th from the end. */
            uint64_t at = c->back[i] ? m - 1 - c->at[i] : c->at[i];
            all &= word_at(c->back[i] ? r->back : r->ahead, at + first);
        }
        count += (uint64_t)__builtin_popcountll(all);
    }
    return count;
}

/* Tries a multiple of all steps, or fewer. */
static double tried(const umbeli_progression *p, const uint8_t *bits, uint64_t steps,
                    uint64_t *random) {
    rotations r;
    course c;
    uint64_t hits = 0;
    rotate(&r, bits, p->bits, p->mirrored);
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t step = steps < p->bits ? below(random, p->bits) : i % p->bits;
        draw_course(p, step, random, &c);
        hits += found(p, &r, &c, step);
    }
    double tries = (double)steps * (double)p->bits / (double)(p->tied ? p->tied : 1);
    return (double)hits / tries;
}

/* ---- Large filters: two terms ------------------------------------------------------------- */

static uint64_t common(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What keys whose probes coincide add to the rate; each step counts once. */
typedef struct coincidences {
    uint64_t known[1024], random;
    size_t count;
    double sum;
} coincidences;

enum { KNOWN = sizeof((coincidences *)0)->known / sizeof(uint64_t) };

static double mean_found(const umbeli_progression *p, uint64_t step, double fill,
                         uint64_t *random) {
    enum { DRAWS = 16 };
    int draws = varies(p) ? DRAWS : 1;
    double mean = 0;
    for (int i = 0; i < draws; i++) {
        course c;
        draw_course(p, step, random, &c);
        mean += power(fill, distinct(p, &c)) / draws;
    }
    return mean;
}

/* Solves a * step = target modulo the bits. */
static void coincide_at(const umbeli_progression *p, uint64_t a, uint64_t target, double fill,
                        coincidences *all) {
    const uint64_t m = p->bits, ways = common(a, m);
    const double usual = power(fill, p->hashes);
    while (target % a != 0 && target < (a + 1) * m) target += m;
    if (target % a != 0) return;
    for (uint64_t way = 0; way < ways; way++) {
        uint64_t step = (target / a + way * (m / ways)) % m;
        size_t same = 0;
        while (same < all->count && all->known[same] != step) same++;
        if (same < all->count || all->count == KNOWN) continue;
        all->known[all->count++] = step;
        if (p->steps && p->steps < m && step >= p->steps) continue;
        all->sum += fmax(mean_found(p, step, fill, &all->random) - usual, 0);
    }
}

/* Steps whose probes coincide: `a` of them make up b jumps, for small a and b.  Where sums are
 * halved, an odd sum's halves make up to another half of `a`. */
static double coinciding(const umbeli_progression *p, double fill) {
    enum { AFTER = 6 };
    const uint64_t m = p->bits, k = p->hashes;
    uint64_t most = p->halved ? 2 * AFTER : breaks(p) ? AFTER : k - 1;
    coincidences all = {.random = 1};
    if (p->quadratic) return 0;
    for (uint64_t a = 1; a <= most && a < k; a++) {
        uint64_t turns = breaks(p) ? a : 0, jumps = 0;
        for (uint64_t b = 0; b <= turns; b++, jumps = plus(jumps, p->jump, m)) {
            coincide_at(p, a, jumps, fill, &all);
            if (!p->halved) continue;
            coincide_at(p, a, minus(jumps, a / 2 % m, m), fill, &all);
            coincide_at(p, a, minus(jumps, (a + 1) / 2 % m, m), fill, &all);
        }
    }
    return all.sum / (double)(p->steps && p->steps < m ? p->steps : m);
}

/* How often two keys break at the same probes, among the first n. */
static void agreements(const umbeli_progression *p, uint32_t n, double *share) {
    enum { DRAWS = 64 };
    uint64_t random = 2, pairs = (uint64_t)DRAWS * (DRAWS - 1) / 2;
    uint64_t same[MAX_HASHES + 1] = {0};
    static const uint32_t long_enough = 64;
    uint8_t broken[DRAWS][64];
    for (int i = 0; i < DRAWS; i++) {
        uint64_t turn = umbeli_draw(&random), each = umbeli_draw(&random);
        for (uint32_t j = 0; j < n && j < long_enough; j++, turn += each) {
            bool back = p->mirrored && turn >> 63, wraps = turn + each < each;
            broken[i][j] = (uint8_t)((wraps ? 1 : 0) | (back ? 2 : 0));
        }
    }
    for (int i = 0; i < DRAWS; i++) {
        for (int j = 0; j < i; j++) {
            uint32_t alike = 1;
            while (alike < n && alike <= long_enough &&
                   broken[i][alike - 1] == broken[j][alike - 1])
                alike++;
            same[alike]++;
        }
    }
    uint64_t longer = 0;
    for (uint32_t i = n; i > 0; i--) {
        longer += same[i];
        share[i] = (double)longer / (double)pairs;
    }
}

/* How many of the keys follow an absent one, or are followed by it, at a distance of 0, 1, 2, ...
 * steps, and so share all probes except that many. */
static void count_followers(const umbeli_progression *p, double keys, double *followers) {
    const double m = (double)p->bits;
    const uint32_t k = p->hashes;
    double both = p->quadratic ? 1 : 2, share[MAX_HASHES + 1]; /* forwards, and backwards */
    double equal = p->hash_bits ? keys / ldexp(1, (int)p->hash_bits) : 0;
    if (p->steps && p->steps < p->bits) {
        /* The step is the upper half of the hash, and the start can follow that of a key only as
         * far as the lower half allows. */
        double reach = (double)p->steps / 0x1p16;
        followers[0] = equal;
        for (uint32_t behind = 1; behind < k; behind++) {
            double far = fmin(reach, 1.0 / behind);
            followers[behind] = 2 * equal * (far - behind * far * far / 2) / reach;
        }
        return;
    }
    for (uint32_t i = 0; i <= k; i++) share[i] = 1;
    if (breaks(p)) agreements(p, k, share);
    /* Both steps must be even; or both odd, and both starts even or both odd. */
    for (uint32_t i = 0; p->halved && i <= k; i++) share[i] *= 3.0 / 8;
    for (uint32_t behind = 0; behind < k; behind++) {
        followers[behind] = (behind ? 2 : 1) * both * share[k - behind] * keys / m / m;
    }
    followers[0] = fmax(followers[0], equal);
}

/* Bits that followers set are not evidence of other keys: where they are a few percent of all, as
 * in large filters with a 32-bit hash, the rest has a lower fill. */
static double large(const umbeli_progression *p, double independent, double fill, double keys) {
    const uint32_t k = p->hashes;
    double followers[MAX_HASHES], theirs = 0;
    if (k < 2 || k > MANY_HASHES || !(fill < 1)) return fmin(1, independent);
    count_followers(p, keys, followers);
    for (uint32_t behind = 0; behind < k; behind++) {
        theirs += followers[behind] * (k - behind) / k;
    }
    double others = fmax(-expm1(log1p(-fill) + theirs), 0), all = power(others, k);
    double rate = independent * power(others / fill, k) + coinciding(p, others);
    for (uint32_t behind = 0; behind < k; behind++) {
        rate += followers[behind] * (power(others, behind) - all);
    }
    return fmin(1, rate);
}

/* ---- Both --------------------------------------------------------------------------------- */

double umbeli_progression_live(const umbeli_progression *p, const uint8_t *bits, uint64_t set,
                               double keys) {
    enum { TRIES = 2048, ALL_STEPS = 1024 }; /* of more bits, a random selection */
    uint64_t random = set, words = p->bits / 64 + 1;
    if (set == 0 || p->hashes == 0) return p->hashes ? 0 : 1;
    if (set == p->bits) return 1;
    double fill = (double)set / (double)p->bits, independent = power(fill, p->hashes);
    if (p->hashes < 2 || p->hashes > MANY_HASHES || p->bits > TRIED_BITS) {
        return large(p, independent, fill, keys);
    }
    uint64_t steps = p->bits <= ALL_STEPS ? p->bits : ALL_STEPS * ALL_STEPS / p->bits;
    for (uint64_t i = 0; i < p->bits / 8; i++) random = random * 257 + bits[i];
    while (varies(p) && steps < 4 * TRIES / (words * p->hashes)) steps += p->bits;
    double rate = tried(p, bits, steps, &random), tries = (double)steps * (double)p->bits;
    return rate > 0 ? rate : umbeli_rate_unseen(1 / tries); /* not 0: the keys are found */
}

static double live_of(const void *how, const uint8_t *bits, uint64_t set, uint64_t *random) {
    enum { TRIES = 16 }; /* of each of many filters */
    const umbeli_progression *p = how;
    if (set == p->bits) return 1;
    return tried(p, bits, p->bits < TRIES ? p->bits : TRIES, random);
}

static void place(const void *how, uint64_t *random, uint64_t *pos) {
    const umbeli_progression *p = how;
    course c;
    uint64_t start = below(random, p->bits), step = below(random, p->bits);
    if (p->tied) step += start * p->ties % p->tied - step % p->tied;
    draw_course(p, step, random, &c);
    for (uint32_t i = 0; i < p->hashes; i++) {
        pos[i] = c.back[i] ? minus(c.at[i], start, p->bits) : plus(c.at[i], start, p->bits);
    }
}

/* The share of the bits that a key sets on average. */
static double share_per_key(const umbeli_progression *p) {
    enum { DRAWS = 128 };
    uint64_t random = 3, sum = 0, m = p->bits, steps = m < DRAWS ? m : DRAWS;
    course c;
    if (p->hashes < 2 || p->hashes > MANY_HASHES ||
        m > TRIED_BITS) { /* like independent probes, to a thousandth or better */
        return -expm1(p->hashes * log1p(-1 / (double)m));
    }
    for (uint64_t i = 0; i < steps; i++) {
        draw_course(p, i * m / steps, &random, &c);
        sum += distinct(p, &c);
    }
    return (double)sum / (double)steps / (double)m;
}

double umbeli_probes_per_bit(uint64_t bits, uint64_t set, unsigned range) {
    double probes = -log1p(-(double)set / (double)bits);
    if (range == 0) return probes;
    double each = ldexp(1, (int)range) / (double)bits, more = each - floor(each);
    return probes + probes * probes * more * (1 - more) / (2 * each * each);
}

double umbeli_progression_keys(const umbeli_progression *p, uint64_t set) {
    if (p->hashes == 0 || set == 0) return 0;
    if (set >= p->bits) return INFINITY;
    return -umbeli_probes_per_bit(p->bits, set, p->hash_bits) / log1p(-share_per_key(p));
}

double umbeli_progression_guess(const umbeli_progression *p, uint64_t keys) {
    if (keys == 0) return p->hashes ? 0 : 1;
    if (p->hashes == 0 || p->bits < 2) return 1;
    double independent = umbeli_classic_rate(p->bits, p->hashes, keys);
    double fill = -expm1((double)keys * p->hashes * log1p(-1 / (double)p->bits));
    return large(p, independent, fill, (double)keys);
}

/* Probes are below 2^31, modulo the bits, which shows where there are that many bits; a start and a
 * step of 32 bits each still distinguish keys. */
static double rate_of_many_bits(const umbeli_progression *p, uint64_t keys) {
    return power(umbeli_narrow_fill(p->bits, (double)keys * p->hashes, 31), p->hashes);
}

double umbeli_progression_rate(const umbeli_progression *p, uint64_t keys) {
    enum { MANY_BITS = 1 << 24 };
    if (p->mirrored && p->bits >= MANY_BITS) return rate_of_many_bits(p, keys);
    if (keys == 0 || p->hashes == 0 || p->bits < 2 || p->bits > UMBELI_SIMULATED_BITS ||
        p->hashes > MANY_HASHES) {
        return umbeli_progression_guess(p, keys);
    }
    umbeli_simulated s = {
        .how = p, .place = place, .live = live_of, .bits = p->bits, .hashes = p->hashes};
    return umbeli_simulated_rate(&s, keys);
}

/* ---- Simulation --------------------------------------------------------------------------- */

double umbeli_simulated_rate(const umbeli_simulated *s, uint64_t keys) {
    enum { WORK = 1 << 21, LEAST = 96, MOST = 1 << 15, MANY = 1 << 22 };
    uint8_t bits[UMBELI_SIMULATED_BITS / 8 + 8];
    uint64_t pos[MAX_HASHES], random = 4;
    uint64_t filters = WORK / (s->bits + 1), probes = keys * s->hashes;
    double sum = 0;
    if (filters > MOST) filters = MOST;
    if (probes / s->hashes != keys || probes > 64 * s->bits) return 1; /* every bit is set */
    while (filters > LEAST && filters * probes > MANY) filters /= 2;
    if (filters < LEAST) filters = LEAST;
    for (uint64_t i = 0; i < filters; i++) {
        uint64_t set = 0;
        memset(bits, 0, sizeof bits);
        for (uint64_t key = 0; key < keys; key++) {
            s->place(s->how, &random, pos);
            for (uint32_t j = 0; j < s->hashes; j++) set += umbeli_bit_set(bits, pos[j]);
        }
        sum += s->live(s->how, bits, set, &random);
    }
    return sum / (double)filters;
}

/* Positions of independent probes. */
static void place_anywhere(const void *how, uint64_t *random, uint64_t *pos) {
    const umbeli_simulated *s = how;
    for (uint32_t i = 0; i < s->hashes; i++) pos[i] = below(random, s->bits);
}

static double live_by_fill(const void *how, const uint8_t *bits, uint64_t set, uint64_t *random) {
    const umbeli_simulated *s = how;
    (void)bits, (void)random;
    return power((double)set / (double)s->bits, s->hashes);
}

double umbeli_independent_rate(uint64_t bits, uint32_t hashes, uint64_t keys) {
    if (keys == 0) return hashes ? 0 : 1;
    if (bits > UMBELI_SIMULATED_BITS / 2 || bits < 2 || hashes == 0) {
        return hashes && bits ? umbeli_classic_rate(bits, hashes, keys) : 1;
    }
    umbeli_simulated s = {
        .place = place_anywhere, .live = live_by_fill, .bits = bits, .hashes = hashes};
    s.how = &s;
    return umbeli_simulated_rate(&s, keys);
}
