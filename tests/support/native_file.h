/* SPDX-License-Identifier: MIT
 *
 * native_file.h - native files in the tests: reading them, changing them despite their checksums
 */
#ifndef NATIVE_FILE_H
#define NATIVE_FILE_H

#include "umbel.h"

/* All bytes of a file; free() them. */
uint8_t *file_bytes(const char *path, size_t *len);
void file_put(const char *path, const void *bytes, size_t len);

/* Corrects every checksum that can be located by the lengths in the header. */
void native_resum(uint8_t *bytes, size_t len);

/* A little-endian number of 1 to 8 bytes. */
void native_set(uint8_t *bytes, size_t at, size_t width, uint64_t value);
uint64_t native_get(const uint8_t *bytes, size_t at, size_t width);

/* Keys in hexadecimal, one per line, as in tests/golden/native/keys.hex. */
typedef struct hex_keys {
    umbel_key *keys;
    size_t n;
    uint8_t *bytes;
} hex_keys;

hex_keys hex_keys_from(const char *path);
void free_hex_keys(hex_keys *set);

#endif
