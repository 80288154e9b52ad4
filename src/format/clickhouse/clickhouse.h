/* SPDX-License-Identifier: MIT
 *
 * clickhouse.h - ClickHouse's BloomFilter class, which tokenbf_v1 and ngrambf_v1 use
 */
#ifndef UMBELI_CLICKHOUSE_H
#define UMBELI_CLICKHOUSE_H

#include "kind/classic/classic.h"

extern const umbeli_scheme umbeli_scheme_clickhouse;

#endif
