/* SPDX-License-Identifier: MIT
 *
 * values.h - values of every sort for the tests of their bytes, and what must hold of two equal
 * ones
 */
#ifndef VALUES_H
#define VALUES_H

#include "fakeserver.h"
#include "storage/types.h"

enum { SHAPES = 11, WINDOW = 6 };

/* A value with the keys key0, key1, ...; i, below SHAPES, is its sort, and WINDOW the window. */
bf_value *some_value(int i, int keys);

const fake_type *type_of(const bf_value *v);

/* To RDB and back. */
fake_io saved(bf_value *v);
bf_value *loaded(const fake_type *type, const fake_io *io);

void assert_same(bf_value *a, bf_value *b);
void assert_holds(const bf_value *v, int from, int to);

/* Both take further keys in the same way, and are then equal. */
void assert_goes_on_alike(bf_value *a, bf_value *b);

/* A teardown: all of the server's memory has been freed. */
int quiet(void **state);

#endif
