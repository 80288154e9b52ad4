/* SPDX-License-Identifier: MIT
 *
 * fuzz_table_parquet.c - the reader of Parquet files: the input is the file, with its magic numbers
 * filled in
 */
#include <stdlib.h>
#include <string.h>

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    umbel_table_hints hints = {.system = UMBEL_TABLE_PARQUET};
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy) return 0;
    if (len) memcpy(copy, bytes, len);
    if (len >= 8) {
        memcpy(copy, "PAR1", 4);
        memcpy(copy + len - 4, "PAR1", 4);
    }
    use_table(copy, len, &hints);
    free(copy);
    return 0;
}
