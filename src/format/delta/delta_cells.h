/* SPDX-License-Identifier: MIT
 *
 * delta_cells.h - sets of hashes, cut short and packed
 *
 * The range of a hash is divided into `universe` cells of equal size; a set is the cells that its
 * keys' hashes are in.  Sorted, the distances between them are coded by Rice: the upper bits as so
 * many zeros and a one, then the `low` lower bits, which takes 1.5 bits more than log2(1/p) for
 * each cell, where p is the share of all cells that is in the set, and so its false-positive rate.
 * Unlike a filter with that rate, the cells can be listed, so any number of sets can be searched at
 * once (delta_chain.c).
 */
#ifndef UMBELI_DELTA_CELLS_H
#define UMBELI_DELTA_CELLS_H

#include "core/bits.h"
#include "core/memory.h"

/* The most lower bits, bits of a universe, and bits of its size for each cell in the set. */
enum { UMBELI_CELLS_MAX_LOW = 56, UMBELI_CELLS_MAX_BITS = 60, UMBELI_CELLS_MAX_SPREAD = 40 };

typedef struct umbeli_cells {
    uint64_t universe; /* 0: no cells, else at most 2^60 */
    uint64_t count;
    uint32_t low;
    const uint8_t *bytes;
    uint64_t len;
} umbeli_cells;

static inline uint64_t umbeli_cell_of(uint64_t universe, uint64_t hash) {
    return umbeli_mul_high(hash, universe);
}

/* Lists a set from its first cell on. */
typedef struct umbeli_cells_reader {
    const umbeli_cells *set;
    uint64_t at;   /* bit */
    uint64_t next; /* no cell below this one follows */
    bool failed;
} umbeli_cells_reader;

umbeli_cells_reader umbeli_cells_begin(const umbeli_cells *set);
/* Exactly set->count times.  False, and `failed` is set, where no cell is coded. */
bool umbeli_cells_next(umbeli_cells_reader *r, uint64_t *cell);

/* Reads all cells; false unless there are exactly set->count of them and zeros after the last. */
bool umbeli_cells_check(const umbeli_cells *set);

/* The number of lower bits that packs this many cells best. */
uint32_t umbeli_cells_low(uint64_t universe, uint64_t count);

/* Packs ascending, distinct cells; set has universe, count and low, and gets len and bytes, which
 * are to be freed with umbeli_delete.  False: no memory. */
bool umbeli_cells_pack(const umbeli_settings *settings, const uint64_t *cells, umbeli_cells *set);

#endif
