/* SPDX-License-Identifier: MIT */
#include "core/settings.h"

#include "core/diag.h"
#include "core/text.h"
#include "umbel_text.h"

enum { MAX_THREADS = 1024 };

umbel_err umbeli_settings_from(const umbel_opts *opts, umbeli_settings *out, umbel_diag *diag) {
    umbeli_settings m = {.threads = 1};
    if (opts) {
        if (!umbeli_reserved_zero(opts->reserved, sizeof opts->reserved)) {
            return umbeli_invalid(diag, "opts.reserved: must be 0");
        }
        if (opts->alloc) {
            m.hook = *opts->alloc;
            if (!m.hook.alloc || !m.hook.free) {
                return umbeli_invalid(diag, "alloc: lacks alloc or free");
            }
        }
        m.max_bytes = opts->max_bytes;
        if (opts->threads > MAX_THREADS) {
            return umbeli_invalid(diag, "threads: must be at most 1024");
        }
        if (opts->threads > 1) m.threads = opts->threads;
        m.concurrent = opts->concurrent;
        m.unchecked = opts->unchecked;
        m.keyed = opts->secret != NULL;
        if (m.keyed) m.secret = umbeli_secret_from(opts->secret);
    }
    *out = m;
    return UMBEL_OK;
}

static bool from_digits(const uint8_t *text, size_t len, uint8_t *secret) {
    uint8_t bytes[UMBELI_SECRET_BYTES];
    if (len && text[len - 1] == '\n') len--;
    if (len && text[len - 1] == '\r') len--;
    if (len != 2 * sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        int high = umbeli_hex_digit(text[2 * i]), low = umbeli_hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(secret, bytes, sizeof bytes);
    return true;
}

/* Sixteen random bytes look like text once in seven million times; a password always does. */
static bool is_text(const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        bool blank = bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\t';
        if (!blank && (bytes[i] < 0x20 || bytes[i] > 0x7e)) return false;
    }
    return true;
}

umbel_err umbel_parse_secret(const void *bytes, size_t len, uint8_t *secret, umbel_diag *diag) {
    if (len != UMBELI_SECRET_BYTES) {
        if (from_digits(bytes, len, secret)) return UMBEL_OK;
        return umbeli_invalid(diag, "a secret is 16 bytes or 32 hexadecimal digits");
    }
    if (is_text(bytes, len)) return umbeli_invalid(diag, "is text, but a secret must be random");
    memcpy(secret, bytes, len);
    return UMBEL_OK;
}
