/* SPDX-License-Identifier: MIT
 *
 * digest.h - SHA-1 and MD4, the digests of password lists: for keys, not for security
 */
#ifndef UMBELI_DIGEST_H
#define UMBELI_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { UMBELI_SHA1_BYTES = 20, UMBELI_MD4_BYTES = 16 };

void umbeli_sha1(const void *bytes, size_t len, uint8_t digest[UMBELI_SHA1_BYTES]);
void umbeli_md4(const void *bytes, size_t len, uint8_t digest[UMBELI_MD4_BYTES]);

#endif
