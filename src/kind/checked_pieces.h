/* SPDX-License-Identifier: MIT
 *
 * checked_pieces.h - a payload that is checked piece by piece, when lookups first read it
 *
 * A native file has a checksum for each MiB of its payload.  A mapped file is opened without
 * reading the payload; until all of it has been read, the filter has these operations, which wrap
 * those of its kind.  They check the pieces that a key touches, each once, and answer "may be in
 * it" where one is damaged, so that a "no" stays certain.  A batch with as many keys as there are
 * pieces left checks all of them.  When the last piece turns out to be good, the kind's own
 * operations return; damage is permanent.
 */
#ifndef UMBELI_CHECKED_PIECES_H
#define UMBELI_CHECKED_PIECES_H

#include "core/filter.h"

/* The bytes of a piece. */
enum { UMBELI_PIECE = 1024 * 1024 };

/* A payload and the sums of its pieces, 8 bytes each, which are right. */
typedef struct umbeli_summed {
    const uint8_t *payload, *sums;
    uint64_t len;
    uint64_t offset; /* of the payload in the file, for messages */
} umbeli_summed;

uint64_t umbeli_pieces_of(uint64_t payload_len);

/* UMBEL_ECORRUPT, with its place, unless piece i has its sum. */
umbel_err umbeli_piece_check(const umbeli_summed *s, uint64_t i, umbel_diag *diag);

/* From here on lookups check what they read.  The filter borrows the payload, and it and the sums
 * outlive the filter. */
umbel_err umbeli_check_later(umbel_filter *f, const umbeli_summed *s, umbel_diag *diag);

/* For a filter whose bits are its own, as a private mapping is: checks all pieces now, except those
 * that are zeros by their sums.  These are checked before a key first reads or changes them; until
 * then nobody has touched them, and an almost empty filter takes little time and memory however
 * large it is. */
umbel_err umbeli_check_but_zeros(umbel_filter *f, const umbeli_summed *s, umbel_diag *diag);

/* Whether bytes [from, end) of the payload are such a piece, and its sum. */
bool umbeli_untouched_zeros(const umbel_filter *f, uint64_t from, uint64_t end, uint64_t *sum);

/* For saving: checks the pieces that were changed but not checked, such as the last of a payload
 * that has grown since. */
umbel_err umbeli_check_touched(const umbel_filter *f, umbel_diag *diag);

/* Checks all that has not been checked yet: for what reads bits in other ways than lookups do, and
 * for copies, which would give damaged bits new checksums. */
umbel_err umbeli_check_now(const umbel_filter *f, umbel_diag *diag);

/* UMBEL_ECORRUPT, with its place, if what has been checked so far was damaged. */
umbel_err umbeli_damage(const umbel_filter *f, umbel_diag *diag);

/* How many pieces have been checked; those of other filters were, before they existed. */
uint64_t umbeli_pieces_checked(const umbel_filter *f);

#endif
