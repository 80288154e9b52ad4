/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include "cases.h"

#include <stdlib.h>
#include <string.h>

enum { TIMES = 8, SOME = 20000 };

static void text_room(text *t, size_t len) {
    if (t->len + len > t->room) {
        t->room = 2 * (t->len + len);
        t->bytes = realloc(t->bytes, t->room);
        assert_non_null(t->bytes);
    }
}

void text_put(text *t, const void *bytes, size_t len) {
    text_room(t, len);
    if (len) memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}

void text_byte(text *t, unsigned byte) {
    text_room(t, 1);
    t->bytes[t->len++] = (uint8_t)byte;
}

void text_varint(text *t, uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_byte(t, (unsigned)(value & 0x7f) | 0x80);
    text_byte(t, (unsigned)value);
}

static uint64_t work_at(const parser *p, size_t size, size_t *len) {
    text t = {0};
    p->make(&t, size);
    *len = t.len;
    uint64_t before = steps_taken();
    p->parse(&t);
    uint64_t taken = steps_taken() - before;
    free(t.bytes);
    return taken;
}

void assert_linear(const parser *p) {
    size_t len, larger;
    uint64_t one = work_at(p, p->size, &len), many = work_at(p, p->size * TIMES, &larger);
    print_message("# %-36s %9zu bytes %10llu steps, %10zu bytes %12llu steps\n", p->name, len,
                  (unsigned long long)one, larger, (unsigned long long)many);
    double times = (double)larger / (double)len;
    if ((double)many > 1.5 * times * (double)one + SOME) {
        fail_msg("%s: %.1f times the input, %.1f times the work", p->name, times,
                 (double)many / (double)one);
    }
}

int main(void) {
    int codecs = linear_codecs(), hostile = linear_hostile();
    int tables = linear_tables(), lines = linear_lines();
    return codecs || hostile || tables || lines;
}
