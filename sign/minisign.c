/* SPDX-License-Identifier: MIT */
#include "sign/minisign.h"

#include <string.h>

#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "

static const int base64 = sodium_base64_VARIANT_ORIGINAL;

/* Takes a line from the rest of the text, without its end. */
static umbel_key next_line(umbel_key *rest) {
    const char *from = rest->data, *end = rest->len ? memchr(from, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - from) : rest->len;
    size_t taken = end ? len + 1 : len;
    *rest = (umbel_key){taken ? from + taken : from, rest->len - taken};
    while (len && from[len - 1] == '\r') len--;
    return (umbel_key){from, len};
}

static bool begins(umbel_key line, const char *with) {
    size_t len = strlen(with);
    return line.len >= len && memcmp(line.data, with, len) == 0;
}

/* Whether the line is base 64 of this many bytes.  libsodium takes some bytes above 127 for others
 * below. */
static bool decode(const umbeli_sodium *na, umbel_key line, void *out, size_t len) {
    const char *text = line.data, *end = NULL;
    size_t got = 0;
    for (size_t i = 0; i < line.len; i++) {
        if ((unsigned char)text[i] > 127) return false;
    }
    return line.len &&
           na->sodium_base642bin(out, len, text, line.len, NULL, &got, &end, base64) == 0 &&
           got == len && end == text + line.len;
}

/* The line of base 64 of a key, which may stand alone; nothing may follow. */
static bool decode_key(const umbeli_sodium *na, umbel_key text, void *out, size_t len) {
    umbel_key line = next_line(&text);
    if (begins(line, UNTRUSTED)) line = next_line(&text);
    while (text.len) {
        if (next_line(&text).len) return false;
    }
    return decode(na, line, out, len);
}

const char *umbeli_minisign_read_public(const umbeli_sodium *na, umbel_key text,
                                        minisign_public *out) {
    minisign_secret mistaken;
    if (decode_key(na, text, out, sizeof *out)) {
        return memcmp(out->algorithm, "Ed", 2) == 0 ? NULL : "is of an unknown kind";
    }
    bool secret = decode_key(na, text, &mistaken, sizeof mistaken);
    na->sodium_memzero(&mistaken, sizeof mistaken);
    return secret ? "is a secret key, where the public one belongs"
                  : "is no public key of minisign";
}

const char *umbeli_minisign_read_secret(const umbeli_sodium *na, umbel_key text,
                                        minisign_secret *out) {
    static const uint8_t none[2];
    minisign_public mistaken;
    if (decode_key(na, text, &mistaken, sizeof mistaken)) {
        return "is a public key, where the secret one belongs";
    }
    if (!decode_key(na, text, out, sizeof *out)) return "is no secret key of minisign";
    bool known = memcmp(out->algorithm, "Ed", 2) == 0 && memcmp(out->summing, "B2", 2) == 0 &&
                 (memcmp(out->protection, "Sc", 2) == 0 || memcmp(out->protection, none, 2) == 0);
    return known ? NULL : "is of an unknown kind";
}

const char *umbeli_minisign_read_signature(const umbeli_sodium *na, umbel_key text,
                                           minisign_signature *out) {
    umbel_key untrusted = next_line(&text), over_file = next_line(&text);
    umbel_key comment = next_line(&text), over_both = next_line(&text);
    if (!begins(untrusted, UNTRUSTED) || !begins(comment, TRUSTED) ||
        !decode(na, over_file, &out->over_file, sizeof out->over_file) ||
        !decode(na, over_both, out->over_both, sizeof out->over_both)) {
        return "its signature is none of minisign's";
    }
    out->prehashed = memcmp(out->over_file.algorithm, "ED", 2) == 0;
    if (!out->prehashed && memcmp(out->over_file.algorithm, "Ed", 2) != 0) {
        return "its signature is of an unknown kind";
    }
    out->comment = (const char *)comment.data + strlen(TRUSTED);
    out->comment_len = comment.len - strlen(TRUSTED);
    if (out->comment_len > MINISIGN_COMMENT_MAX) return "its signature has too long a comment";
    return memchr(out->comment, '\0', out->comment_len) ? "its signature has a NUL in the comment"
                                                        : NULL;
}

size_t umbeli_minisign_write(const umbeli_sodium *na, const char *comment, const void *bytes,
                             size_t len, char *out) {
    size_t used = strlen(comment), room = (len + 2) / 3 * 4 + 1;
    memcpy(out, comment, used);
    out[used++] = '\n';
    na->sodium_bin2base64(out + used, room, bytes, len, base64);
    used += room - 1;
    memcpy(out + used, "\n", 2);
    return used + 1;
}

uint64_t umbeli_minisign_number(const uint8_t id[MINISIGN_ID]) {
    uint64_t number = 0;
    for (int i = MINISIGN_ID; i-- > 0;) number = number << 8 | id[i];
    return number;
}
