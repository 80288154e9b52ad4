/* SPDX-License-Identifier: MIT
 *
 * cases.h - cmocka with the headers that it needs before it
 */
#ifndef CASES_H
#define CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hashing.h"

/* Fails with the library's own message. */
#define assert_ok(call)                                                              \
    do {                                                                             \
        umbel_err assert_ok_err = (call);                                            \
        if (assert_ok_err) fail_msg("%s: %s", #call, umbel_err_name(assert_ok_err)); \
    } while (0)

#endif
