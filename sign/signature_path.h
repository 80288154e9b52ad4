/* SPDX-License-Identifier: MIT
 *
 * signature_path.h - where the signature of a file is
 */
#ifndef UMBELI_SIGNATURE_PATH_H
#define UMBELI_SIGNATURE_PATH_H

#include <stdlib.h>
#include <string.h>

#define UMBELI_SIGNATURE_END ".minisig"

/* `PATH.minisig` and `more`, to be freed; NULL: no memory. */
static inline char *umbeli_signature_path(const char *path, const char *more) {
    size_t len = strlen(path);
    char *out = malloc(len + sizeof UMBELI_SIGNATURE_END + strlen(more));
    if (!out) return NULL;
    memcpy(out, path, len);
    strcpy(out + len, UMBELI_SIGNATURE_END);
    strcat(out + len, more);
    return out;
}

#endif
