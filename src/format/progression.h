/* SPDX-License-Identifier: MIT
 *
 * progression.h - rates of filters whose probes are not independent of each other
 *
 * Most systems derive all probes of a key from a start and a step: start, start + step, start + 2
 * step, ... modulo the bits.  In a filter of a few hundred bits that matters more than the fill: a
 * step of 0 probes one bit over and over, and a key with the step of another follows its probes.
 * docs/notes/foreign-rates.md has the model.
 */
#ifndef UMBELI_PROGRESSION_H
#define UMBELI_PROGRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct umbeli_progression {
    uint64_t bits;
    uint32_t hashes;
    uint64_t jump;  /* where sums wrap around: 2^32, 2^63 or 2^64 modulo the bits, by which a
                           position then moves back; 0: they never do, or it makes no difference */
    bool mirrored;  /* sums in the upper half of the range count backwards: Guava's MITZ_32 */
    bool halved;    /* a position is half of a sum, rounded down: DataSketches */
    bool quadratic; /* i * i is added to probe i: ClickHouse */
    uint64_t steps; /* how many steps there are; 0: more than bits */
    uint64_t tied;  /* a step is `ties` times the start modulo this divisor of the bits; 0: it
                           is independent of the start */
    uint64_t ties;
    unsigned hash_bits; /* that start and step follow from, where they are few; else 0 */
} umbeli_progression;

/* 2^exponent modulo the bits, for jump. */
uint64_t umbeli_power_modulo(unsigned exponent, uint64_t bits);

/* The rate of a filter with these bits, `set` of them set by about `keys` keys; or
 * umbeli_rate_unseen. */
double umbeli_progression_live(const umbeli_progression *p, const uint8_t *bits, uint64_t set,
                               double keys);

/* The mean rate of all such filters after `keys` distinct keys; and, for searches, the same by
 * formula alone, which is too rough for filters of few bits. */
double umbeli_progression_rate(const umbeli_progression *p, uint64_t keys);
double umbeli_progression_guess(const umbeli_progression *p, uint64_t keys);

/* Distinct keys, estimated from the number of set bits; infinite when all are. */
double umbeli_progression_keys(const umbeli_progression *p, uint64_t set);

/* The probes that a bit has met on average.  Where they are numbers below 2^range, modulo the bits,
 * some bits are hit by one number more than others, and more stay clear than if all were equal. */
double umbeli_probes_per_bit(uint64_t bits, uint64_t set, unsigned range);

/* Random numbers that are the same at every call with the same state. */
uint64_t umbeli_draw(uint64_t *state);

/* How a filter is simulated: the positions of a random key, and the rate that bits have. */
typedef struct umbeli_simulated {
    const void *how;
    void (*place)(const void *how, uint64_t *random, uint64_t *pos);
    double (*live)(const void *how, const uint8_t *bits, uint64_t set, uint64_t *random);
    uint64_t bits;
    uint32_t hashes;
} umbeli_simulated;

/* Filters of up to this many bits are simulated in a few milliseconds. */
enum { UMBELI_SIMULATED_BITS = 2048 };

/* The mean rate after `keys` keys over many filters of at most UMBELI_SIMULATED_BITS bits. */
double umbeli_simulated_rate(const umbeli_simulated *s, uint64_t keys);

/* The mean rate where probes are independent and may hit any bit. */
double umbeli_independent_rate(uint64_t bits, uint32_t hashes, uint64_t keys);

#endif
