/* SPDX-License-Identifier: MIT */
#include "native_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/bits.h"
#include "golden.h"
#include "hash/xxh.h"

enum { PIECE = 1024 * 1024 };

uint8_t *file_bytes(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *len = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*len + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    bytes[*len] = 0;
    fclose(file);
    return bytes;
}

void file_put(const char *path, const void *bytes, size_t len) {
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

void native_set(uint8_t *bytes, size_t at, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; i++) bytes[at + i] = (uint8_t)(value >> (8 * i));
}

uint64_t native_get(const uint8_t *bytes, size_t at, size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)bytes[at + i] << (8 * i);
    return value;
}

void native_resum(uint8_t *bytes, size_t len) {
    uint64_t header = native_get(bytes, 12, 4), payload = native_get(bytes, 96, 8);
    uint64_t sums = payload + native_get(bytes, 104, 8);
    if (header < 8 || header > len) return;
    uint64_t sum = umbeli_xxh3_64(bytes, (size_t)header - 8, 0);
    native_set(bytes, (size_t)header - 8, 8, sum);
    if (len < 8 || sums > len - 8 || sums < payload) return;
    for (uint64_t i = 0, at = payload; at < sums && sums + 8 * i + 8 <= len - 8; i++, at += PIECE) {
        uint64_t piece = sums - at < PIECE ? sums - at : PIECE;
        native_set(bytes, (size_t)(sums + 8 * i), 8, umbeli_xxh3_64(bytes + at, (size_t)piece, i));
    }
    native_set(bytes, len - 8, 8, umbeli_xxh3_64(bytes + sums, len - 8 - (size_t)sums, sum));
}

hex_keys hex_keys_from(const char *path) {
    size_t len, used = 0;
    char *text = (char *)file_bytes(path, &len);
    hex_keys set = {.keys = calloc(len + 1, sizeof *set.keys), .bytes = malloc(len + 1)};
    assert_non_null(set.keys);
    assert_non_null(set.bytes);
    for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
        umbel_key *key = &set.keys[set.n++];
        *end = 0;
        uint8_t *bytes = golden_hex(at, &key->len);
        key->data = memcpy(set.bytes + used, bytes, key->len);
        used += key->len;
        free(bytes);
    }
    free(text);
    return set;
}

void free_hex_keys(hex_keys *set) {
    free(set->keys);
    free(set->bytes);
}
