/* SPDX-License-Identifier: MIT
 *
 * unlzma.c - LZMA, a seventh smaller than what browsers unpack by themselves
 *
 * WebAssembly, because a page's first second is too short for JavaScript to become fast: this takes
 * a third of its time.
 *
 * A raw stream as bindings/web/build makes it: 3 bits of the byte before are a literal's context, positions
 * are none (lc=3, lp=0, pb=0), and an end marker says where it ends.  The page unpacks only what
 * was packed with it, so nothing is checked.
 */
#include <stdbool.h>
#include <stdint.h>

enum { CONTEXT_BITS = 3, EVEN = 1024 /* of 2048 */ };

/* Where each table of probabilities starts; each for a state but for those of distances and
 * lengths. */
enum {
    MATCH = 0,
    REPEAT = MATCH + 12,
    REPEAT_0 = REPEAT + 12,
    REPEAT_1 = REPEAT_0 + 12,
    REPEAT_2 = REPEAT_1 + 12,
    LONG_0 = REPEAT_2 + 12,
    SLOT = LONG_0 + 12,
    MIDDLE = SLOT + 4 * 64,
    ALIGN = MIDDLE + 128,
    LENGTH = ALIGN + 16,
    REPEAT_LENGTH = LENGTH + 2 + 8 + 8 + 256,
    LITERAL = REPEAT_LENGTH + 2 + 8 + 8 + 256,
    CHANCES = LITERAL + (0x300 << CONTEXT_BITS),
};

static const uint32_t ENDED = UINT32_MAX; /* as a distance */

static const uint8_t *in;
static uint32_t range, code;
static uint16_t chances[CHANCES]; /* of a zero */

/* Keeps the range large enough to be divided. */
static void refill(void) {
    if (range >= 1u << 24) return;
    range <<= 8;
    code = code << 8 | *in++;
}

/* A bit by the range coder, whose probabilities learn. */
static uint32_t one(uint32_t at) {
    uint32_t chance = chances[at], bound = (range >> 11) * chance, bit = code >= bound;
    if (bit) {
        range -= bound;
        code -= bound;
        chances[at] = (uint16_t)(chance - (chance >> 5));
    } else {
        range = bound;
        chances[at] = (uint16_t)(chance + ((2048 - chance) >> 5));
    }
    refill();
    return bit;
}

/* The upper bits first, each in the context of those before it. */
static uint32_t tree(uint32_t at, uint32_t count) {
    uint32_t node = 1;
    while (node < 1u << count) node = 2 * node + one(at + node);
    return node - (1u << count);
}

/* The lower bits first. */
static uint32_t reversed(uint32_t at, uint32_t count) {
    uint32_t node = 1, value = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = one(at + node);
        node = 2 * node + bit;
        value += bit << i;
    }
    return value;
}

/* Bits that are as likely 0 as 1. */
static uint32_t plain(uint32_t count) {
    uint32_t value = 0;
    while (count--) {
        range >>= 1;
        uint32_t bit = code >= range;
        if (bit) code -= range;
        value = 2 * value + bit;
        refill();
    }
    return value;
}

static uint32_t length_of_copy(uint32_t at) {
    if (!one(at)) return 2 + tree(at + 1, 3);
    if (!one(at + 9)) return 10 + tree(at + 10, 3);
    return 18 + tree(at + 18, 8);
}

static uint32_t distance_of_copy(uint32_t length) {
    uint32_t slot = tree(SLOT + 64 * (length < 5 ? length - 2 : 3), 6);
    if (slot < 4) return slot;
    uint32_t count = (slot >> 1) - 1, start = (2 + (slot & 1)) << count;
    if (slot < 14) return start + reversed(MIDDLE + start - slot, count);
    return start + 16 * plain(count - 4) + reversed(ALIGN, 4);
}

/* After a copy the byte differs from `guess`, the one at the latest distance, which is a context as
 * well. */
static uint8_t literal(uint8_t before, bool guessed, uint32_t guess) {
    uint32_t at = LITERAL + 0x300 * (uint32_t)(before >> (8 - CONTEXT_BITS)), node = 1;
    while (node < 256 && guessed) {
        guess <<= 1;
        uint32_t expected = guess >> 8 & 1, bit = one(at + 256 * (1 + expected) + node);
        node = 2 * node + bit;
        guessed = bit == expected;
    }
    while (node < 256) node = 2 * node + one(at + node);
    return (uint8_t)node;
}

/* The distance of a copy from further back than the latest becomes the latest. */
static void recall(uint32_t *latest, uint32_t state) {
    uint32_t which = !one(REPEAT_1 + state) ? 1 : 2 + one(REPEAT_2 + state);
    uint32_t distance = latest[which];
    for (; which; which--) latest[which] = latest[which - 1];
    latest[0] = distance;
}

__attribute__((export_name("unpack"))) void unpack(const uint8_t *packed, uint8_t *out) {
    uint32_t latest[4] = {0}; /* distances, less one */
    uint32_t state = 0;       /* what came last; below 7: a literal */
    uint8_t before = 0;
    in = packed + 1;
    range = UINT32_MAX;
    for (int i = 0; i < 4; i++) code = code << 8 | *in++;
    for (int i = 0; i < CHANCES; i++) chances[i] = EVEN;
    for (;;) {
        uint32_t length = 1;
        bool calm = state < 7;
        if (!one(MATCH + state)) {
            *out = before = literal(before, !calm, calm ? 0 : *(out - latest[0] - 1));
            out++;
            state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
            continue;
        }
        if (!one(REPEAT + state)) {
            length = length_of_copy(LENGTH);
            for (int i = 3; i; i--) latest[i] = latest[i - 1];
            latest[0] = distance_of_copy(length);
            if (latest[0] == ENDED) return;
            state = calm ? 7 : 10;
        } else if (one(REPEAT_0 + state)) {
            recall(latest, state);
            length = length_of_copy(REPEAT_LENGTH);
            state = calm ? 8 : 11;
        } else if (one(LONG_0 + state)) {
            length = length_of_copy(REPEAT_LENGTH);
            state = calm ? 8 : 11;
        } else {
            state = calm ? 9 : 11;
        }
        for (; length; length--) {
            *out = before = *(out - latest[0] - 1);
            out++;
        }
    }
}
