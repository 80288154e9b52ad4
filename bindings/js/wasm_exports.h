/* SPDX-License-Identifier: MIT
 *
 * wasm_exports.h - what the files that export functions share
 */
#ifndef WASM_EXPORTS_H
#define WASM_EXPORTS_H

#include "umbel.h"

#define EXPORT(name) __attribute__((export_name(name)))

/* What the package has and the page never calls. */
#ifdef UMBEL_PAGE
#define EXPORT_API(name) __attribute__((unused))
#else
#define EXPORT_API(name) EXPORT(name)
#endif

/* Keeps what error() and message() will return; true if the call succeeded. */
bool wasm_ok(umbel_err e, const umbel_diag *why);

/* Before a filter is freed, or has another recipe. */
void wasm_forget_lookup(const umbel_filter *f);

/* Fill `texts` and `numbers`. */
void wasm_put_text(const char *text);
void wasm_put_numbers(const double *list, size_t n);

#endif
