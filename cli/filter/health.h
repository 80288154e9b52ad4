/* SPDX-License-Identifier: MIT
 *
 * health.h - whether a filter holds more keys than planned
 */
#ifndef CLI_HEALTH_H
#define CLI_HEALTH_H

#include "umbel.h"

/* Beyond doubt more keys than planned, or a rate above the promise. */
bool cli_is_overfull(const umbel_info *info, const umbel_measurement *now);

/* Keys that the plan still has room for. */
uint64_t cli_room(const umbel_info *info, const umbel_measurement *now);

#endif
