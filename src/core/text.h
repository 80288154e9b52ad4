/* SPDX-License-Identifier: MIT
 *
 * text.h - bytes of text as in the C locale, whatever the program's locale is
 */
#ifndef UMBELI_TEXT_H
#define UMBELI_TEXT_H

#include <stdbool.h>
#include <stdint.h>

static inline bool umbeli_is_digit(int c) {
    return c >= '0' && c <= '9';
}

static inline bool umbeli_is_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool umbeli_is_space(int c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The value of a hexadecimal digit, or -1. */
static inline int umbeli_hex_digit(int c) {
    if (umbeli_is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
