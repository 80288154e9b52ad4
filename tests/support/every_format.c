/* SPDX-License-Identifier: MIT */
#include "every_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

static const double ln2_squared = 0.4804530139182014;

static void set_size(umbel_foreign *made, double fpr) {
    made->fpr = 0;
    made->bytes = (uint64_t)ceil(-log(fpr) / ln2_squared * (double)made->capacity / 8);
    made->hashes = (uint32_t)fmax(1, round(-log2(fpr)));
}

static void set_name(format_form *form, umbel_format format) {
    size_t used = (size_t)snprintf(form->name, sizeof form->name, "%s", form->about.name);
    for (uint32_t bit = 1; bit; bit <<= 1) {
        if (!(form->made.variant & bit)) continue;
        used += (size_t)snprintf(form->name + used, sizeof form->name - used, " %s",
                                 umbel_variant_name(format, bit));
    }
    assert_true(used < sizeof form->name);
}

static void set_read(format_form *form) {
    const umbel_foreign *made = &form->made;
    uint32_t needs = form->about.needs;
    form->read = (umbel_foreign){
        .format = made->format,
        .variant = needs ? made->variant : 0,
        .capacity = needs & UMBEL_FIELD_CAPACITY ? made->capacity : 0,
        .fpr = needs & UMBEL_FIELD_FPR ? made->fpr : 0,
        .seed = needs & UMBEL_FIELD_SEED ? made->seed : 0,
        .hashes = needs & UMBEL_FIELD_HASHES ? made->hashes : 0,
        .bits_per_key = needs & UMBEL_FIELD_BITS_PER_KEY ? made->bits_per_key : 0,
    };
}

static bool make_form(format_form *form, umbel_format format, uint32_t variant, uint64_t capacity,
                      double fpr) {
    umbel_plan plan;
    form->fpr = fpr;
    form->made =
        (umbel_foreign){.format = format, .variant = variant, .capacity = capacity, .fpr = fpr};
    if (umbel_plan_foreign(&form->made, &plan, NULL)) set_size(&form->made, fpr);
    if (umbel_plan_foreign(&form->made, &plan, NULL)) return false;
    set_name(form, format);
    set_read(form);
    return true;
}

size_t every_format(format_form forms[EVERY_FORMAT], uint64_t capacity, double fpr) {
    size_t count = 0;
    umbel_format_info about;
    for (umbel_format f = UMBEL_FMT_NATIVE + 1; umbel_format_describe(f, &about); f++) {
        for (uint32_t variant = 0; variant <= about.variants; variant++) {
            if (variant & ~about.variants) continue;
            assert_true(count < EVERY_FORMAT);
            forms[count].about = about;
            count += make_form(&forms[count], f, variant, capacity, fpr);
        }
    }
    return count;
}

format_form usual_form(umbel_format format, uint64_t capacity, double fpr) {
    format_form form;
    assert_true(umbel_format_describe(format, &form.about));
    assert_true(make_form(&form, format, 0, capacity, fpr));
    return form;
}
