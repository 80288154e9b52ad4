/* SPDX-License-Identifier: MIT
 *
 * value_hold.h - values that a thread of the module reads
 *
 * A server may delete, overwrite or flush a key at any moment, and frees its value, perhaps in a
 * thread of its own.  A value that is held outlives that: whoever lets go of it last frees it.
 * Nothing changes or moves a value while it is held.
 */
#ifndef BF_VALUE_HOLD_H
#define BF_VALUE_HOLD_H

#include "value/value.h"

/* Any number of times, and letting go as often; by the thread that serves clients. */
void bf_value_hold(bf_value *v);
void bf_value_let_go(bf_value *v);
bool bf_value_held(const bf_value *v);

/* Frees a value that no key has any more, as soon as nobody holds it; by any thread. */
void bf_value_drop(bf_value *v);

#endif
