/* SPDX-License-Identifier: MIT */
#include "base/safe_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The length of the character at the start of the text; 0: not UTF-8. */
static size_t character(const char *text, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)text;
    size_t len = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    *code = len > 1 ? *p & (0x7fU >> len) : *p;
    for (size_t i = 1; i < len; i++) {
        if (p[i] >> 6 != 2) return 0; /* the NUL at the end, too */
        *code = *code << 6 | (p[i] & 0x3f);
    }
    bool surrogate = *code >> 11 == 0xd800 >> 11;
    return len && *code >= least[len] && *code <= 0x10ffff && !surrogate ? len : 0;
}

static bool is_safe(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } unsafe[] = {{0, 0x1f},         {0x7f, 0x9f}, {0x61c, 0x61c}, /* Arabic letter mark */
                  {0x200e, 0x200f},    /* left-to-right and right-to-left marks */
                  {0x2028, 0x202e},    /* separators of lines, embeddings and overrides */
                  {0x2066, 0x206f},    /* isolates */
                  {0xfff9, 0xfffb},    /* annotations */
                  {0xe0000, 0xe007f}}; /* tags */
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++) {
        if (code >= unsafe[i].first && code <= unsafe[i].last) return false;
    }
    return true;
}

int cli_put_safe(const char *text, FILE *to) {
    int n = 0;
    for (; *text; n++) {
        uint32_t code;
        size_t len = character(text, &code);
        if (len && is_safe(code)) {
            fwrite(text, 1, len, to);
        } else {
            fputc('?', to);
        }
        text += len ? len : 1;
    }
    return n;
}

void cli_vprint_safe(FILE *to, const char *format, va_list args) {
    char text[16 << 10]; /* for several of the longest paths; memory may be short */
    int n = vsnprintf(text, sizeof text, format, args);
    cli_put_safe(text, to);
    if (n >= (int)sizeof text) fputs("...", to);
}

void cli_print_safe(FILE *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    cli_vprint_safe(to, format, args);
    va_end(args);
}
