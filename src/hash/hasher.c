/* SPDX-License-Identifier: MIT */
#include "hash/hasher.h"

uint64_t umbeli_fingerprint(umbeli_secret secret) {
    static const char text[] = "umbel: which key is it?";
    uint64_t print = umbeli_siphash13(text, sizeof text - 1, secret);
    return print ? print : 1;
}
