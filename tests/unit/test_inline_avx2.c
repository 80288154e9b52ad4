/* SPDX-License-Identifier: MIT
 *
 * test_inline_avx2.c - the same as test_inline.c, compiled for AVX2 where the compiler can do that
 * for one file
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#endif

#include "test_inline.c"
