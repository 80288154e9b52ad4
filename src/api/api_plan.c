/* SPDX-License-Identifier: MIT
 *
 * api_plan.c - the planner's public functions
 */
#include "core/diag.h"
#include "format/codec.h"
#include "plan/plan.h"

umbel_err umbel_plan_solve(umbel_plan *plan, umbel_diag *diag) {
    umbel_err e = umbeli_plan_solve(plan);
    return e ? umbeli_fail(diag, e, plan->why) : UMBEL_OK;
}

double umbel_plan_rate(const umbel_plan *plan, uint64_t keys) {
    return umbeli_plan_rate(plan, keys);
}

umbel_err umbel_plan_foreign(const umbel_foreign *foreign, umbel_plan *plan, umbel_diag *diag) {
    return umbeli_codec_plan(foreign, plan, diag);
}
