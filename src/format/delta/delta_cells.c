/* SPDX-License-Identifier: MIT */
#include "format/delta/delta_cells.h"

#include <math.h>

enum { SEEN = 57 }; /* bits that can be read at once, wherever they begin */

umbeli_cells_reader umbeli_cells_begin(const umbeli_cells *set) {
    return (umbeli_cells_reader){.set = set};
}

/* At least SEEN bits from bit `at` on; zeros after the end. */
static uint64_t bits_at(const umbeli_cells *set, uint64_t at) {
    uint64_t byte = at / 8, left = byte < set->len ? set->len - byte : 0;
    uint8_t last[8] = {0};
    if (left >= sizeof last) return umbeli_load_le64(set->bytes + byte) >> (at % 8);
    if (left) memcpy(last, set->bytes + byte, (size_t)left);
    return umbeli_load_le64(last) >> (at % 8);
}

/* The zeros before the next one, which ends them; UINT64_MAX: there is none. */
static uint64_t take_zeros(umbeli_cells_reader *r) {
    uint64_t zeros = 0, end = 8 * r->set->len;
    while (r->at < end) {
        uint64_t seen = bits_at(r->set, r->at) & ((UINT64_C(1) << SEEN) - 1);
        if (seen) {
            unsigned here = (unsigned)__builtin_ctzll(seen);
            r->at += here + 1;
            return zeros + here;
        }
        r->at += SEEN;
        zeros += SEEN;
    }
    return UINT64_MAX;
}

bool umbeli_cells_next(umbeli_cells_reader *r, uint64_t *cell) {
    const umbeli_cells *s = r->set;
    uint64_t high = take_zeros(r), mask = (UINT64_C(1) << s->low) - 1;
    r->failed = high > s->universe >> s->low || r->at + s->low > 8 * s->len;
    if (r->failed) return false;
    uint64_t low = s->low ? bits_at(s, r->at) & mask : 0;
    r->at += s->low;
    *cell = r->next + (high << s->low | low);
    r->failed = *cell >= s->universe;
    r->next = *cell + 1;
    return !r->failed;
}

bool umbeli_cells_check(const umbeli_cells *set) {
    umbeli_cells_reader r = umbeli_cells_begin(set);
    uint64_t cell;
    for (uint64_t i = 0; i < set->count; i++) {
        if (!umbeli_cells_next(&r, &cell)) return false;
    }
    return set->len == (r.at + 7) / 8 && (r.at % 8 == 0 || bits_at(set, r.at) == 0);
}

uint32_t umbeli_cells_low(uint64_t universe, uint64_t count) {
    double best = count ? log2((double)universe / (double)count * log(2)) : 0;
    return best <= 0                     ? 0
           : best > UMBELI_CELLS_MAX_LOW ? UMBELI_CELLS_MAX_LOW
                                         : (uint32_t)(best + 0.5);
}

static void put_bits(uint8_t *bytes, uint64_t at, uint64_t value, uint32_t bits) {
    for (uint32_t done = 0; done < bits;) {
        uint32_t into = (uint32_t)((at + done) % 8);
        bytes[(at + done) / 8] |= (uint8_t)(value >> done << into);
        done += 8 - into;
    }
}

bool umbeli_cells_pack(const umbeli_settings *settings, const uint64_t *cells, umbeli_cells *set) {
    uint64_t bits = 0, at = 0;
    for (uint64_t i = 0, next = 0; i < set->count; next = cells[i++] + 1) {
        bits += ((cells[i] - next) >> set->low) + 1 + set->low;
    }
    set->len = (bits + 7) / 8;
    uint8_t *bytes = umbeli_new(settings, (size_t)set->len + 1);
    set->bytes = bytes;
    if (!bytes) return false;
    for (uint64_t i = 0, next = 0; i < set->count; next = cells[i++] + 1) {
        uint64_t gap = cells[i] - next;
        at += gap >> set->low;
        put_bits(bytes, at++, 1, 1);
        put_bits(bytes, at, gap & ((UINT64_C(1) << set->low) - 1), set->low);
        at += set->low;
    }
    return true;
}
