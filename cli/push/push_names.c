/* SPDX-License-Identifier: MIT
 *
 * push_names.c - names of keys: their slots in a Redis Cluster, their siblings and shards
 */
#include "push/push.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"

/* CRC-16/XMODEM: polynomial 1021, from 0, no reflection. */
static uint32_t crc16(const char *text, size_t len) {
    uint32_t crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint32_t)(uint8_t)text[i] << 8;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1;
        }
    }
    return crc;
}

/* What is between the first { and the next }, unless it is empty. */
static bool find_tag(const char *name, const char **tag, size_t *len) {
    const char *open = strchr(name, '{');
    const char *close = open ? strchr(open, '}') : NULL;
    if (!close || close == open + 1) return false;
    *tag = open + 1;
    *len = (size_t)(close - open) - 1;
    return true;
}

uint32_t cli_cluster_slot(const char *name) {
    const char *tag = name;
    size_t len = strlen(name);
    find_tag(name, &tag, &len);
    return crc16(tag, len) % CLI_CLUSTER_SLOTS;
}

static char *joined(const char *a, const char *b, const char *c, const char *d) {
    size_t room = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 1;
    char *out = cli_alloc(room);
    snprintf(out, room, "%s%s%s%s", a, b, c, d);
    return out;
}

char *cli_sibling_name(const char *name, const char *suffix) {
    const char *tag;
    size_t len;
    if (find_tag(name, &tag, &len)) return joined(name, ":", suffix, "");
    if (*name && !strchr(name, '}')) return joined("{", name, "}:", suffix);
    /* The name cannot be a tag, so use a number that has the same slot. */
    char number[16];
    uint32_t slot = cli_cluster_slot(name);
    for (uint32_t i = 0;; i++) {
        snprintf(number, sizeof number, "{%u}", i);
        if (cli_cluster_slot(number) == slot) break;
    }
    char *tagged = joined(number, ":", name, ":"), *out = joined(tagged, suffix, "", "");
    free(tagged);
    return out;
}

uint32_t cli_shard_of(const void *key, size_t len, uint32_t shards) {
    uint64_t crc = crc32_z(0, key, len);
    return (uint32_t)(crc * shards >> 32);
}

char *cli_shard_name(const char *name, uint32_t shard) {
    char number[16];
    snprintf(number, sizeof number, ":{%u}", shard);
    return joined(name, number, "", "");
}
