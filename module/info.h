/* SPDX-License-Identifier: MIT
 *
 * info.h - the section `bf` of INFO
 */
#ifndef BF_INFO_H
#define BF_INFO_H

#include "api.h"

int bf_info_register(RedisModuleCtx *ctx);

#endif
