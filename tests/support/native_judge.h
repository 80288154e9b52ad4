/* SPDX-License-Identifier: MIT
 *
 * native_judge.h - a small native file, and how the library reacts when it has been tampered with
 */
#ifndef NATIVE_JUDGE_H
#define NATIVE_JUDGE_H

#include "umbel.h"

/* 160 bytes of bits, 26 keys and the metadata name = text, second = more; free() it. */
uint8_t *native_sample(umbel_kind kind, size_t *len);

/* A copy that ends where its memory ends, so that the sanitizer catches an overrun. */
uint8_t *exact_copy(const uint8_t *bytes, size_t len);

/* What umbel_decode returns.  Fails unless all ways to read agree, none takes much memory or leaks
 * any, and a filter that results from it works. */
umbel_err native_verdict(const uint8_t *bytes, size_t len, umbel_diag *diag);

/* Fails unless these bytes are refused with this error at this offset. */
void native_refused(const uint8_t *bytes, size_t len, umbel_err want, uint64_t offset);

#endif
