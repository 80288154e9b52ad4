/* SPDX-License-Identifier: MIT
 *
 * delta_parts.h - files of deltas: one after the other, each perhaps with its signature
 *
 * The signature of a delta is the one of the file that it came in, whose bytes are here unchanged.
 * So whoever puts deltas together need not be who signed them.  Spec: docs/formats/delta.md.
 */
#ifndef UMBELI_DELTA_PARTS_H
#define UMBELI_DELTA_PARTS_H

#include "format/delta/delta_file.h"

enum { UMBELI_DELTA_SIGNATURE_MAX = 16384 };

typedef struct umbeli_delta_part {
    umbel_key delta, signature; /* borrowed; without a signature, its length is 0 */
    size_t len;                 /* of both, in the file */
} umbeli_delta_part;

/* Finds the first part of the bytes, which may come from anybody: nothing is made of a delta before
 * its signature is checked, so of the delta no more than its length is read. */
umbel_err umbeli_delta_part_read(const uint8_t *bytes, size_t len, umbeli_delta_part *out,
                                 umbel_diag *diag);

/* Gives a part this signature. */
umbel_err umbeli_delta_part_sign(umbeli_delta_part *part, umbel_key signature, umbel_diag *diag);

/* Writes part->len bytes; where the next part belongs. */
uint8_t *umbeli_delta_part_write(const umbeli_delta_part *part, uint8_t *to);

#endif
