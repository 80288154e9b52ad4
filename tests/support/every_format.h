/* SPDX-License-Identifier: MIT
 *
 * every_format.h - filters of every foreign format and variant, from what the library says of them
 *
 * Tests that are about formats as such loop over these, so that a new one is in them at once.
 */
#ifndef EVERY_FORMAT_H
#define EVERY_FORMAT_H

#include "umbel_foreign.h"

enum { EVERY_FORMAT = 64 };

typedef struct format_form {
    char name[48]; /* "guava", "guava mitz32 guava2024", ... */
    umbel_format_info about;
    double fpr;         /* the rate that was asked for                           */
    umbel_foreign made; /* what umbel_create_foreign takes ...                    */
    umbel_foreign read; /* ... and what umbel_decode takes: no more than it needs */
} format_form;

/* Writes one for each format and each set of its variants with which filters can be made, for so
 * many keys and this rate; a form that takes no rate gets the textbook's bytes and hashes.  Returns
 * how many there are. */
size_t every_format(format_form forms[EVERY_FORMAT], uint64_t capacity, double fpr);

/* The usual form of one format, as every_format gives it. */
format_form usual_form(umbel_format format, uint64_t capacity, double fpr);

#endif
