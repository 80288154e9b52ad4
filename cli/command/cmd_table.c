/* SPDX-License-Identifier: MIT
 *
 * cmd_table.c - umbel table: filters inside the files of other systems
 */
#include "command/command.h"
#include "options/programs.h"

static const uint8_t options[] = {OPT_CHECK,      OPT_COLUMN,    OPT_COLUMN_TYPE, OPT_INDEX,
                                  OPT_COLUMNS,    OPT_SIZE_FPR,  OPT_FILTER,      OPT_OUTPUT,
                                  OPT_FORCE,      OPT_FILL_PLOT, OPT_QUIET,       OPT_JSON,
                                  OPT_MAX_MEMORY, OPT_HELP,      OPT_END};

const cli_command cli_command_table = {
    .name = "table",
    .summary = "inspect the filters inside LevelDB, RocksDB, ClickHouse and Parquet files",
    .synopsis = "FILE... [OPTION]...",
    .examples = "umbel table 000123.ldb\n"
                "# Would LevelDB read this file for a key, and which block?\n"
                "umbel table 000123.ldb --check user:42\n"
                "# A whole RocksDB or LevelDB database, file by file\n"
                "umbel table /var/lib/app/db\n"
                "# Extract one filter from a table, and look keys up in it\n"
                "umbel table 000123.sst --filter 0 -o f.rocksdb\n"
                "umbel check --format rocksdb f.rocksdb keys.txt\n"
                "# Which row groups may hold a value?\n"
                "umbel table orders.parquet --column customer --check 4711\n"
                "# Is a ClickHouse index well sized?\n"
                "umbel table all_1_1_0/skp_idx_tk.idx --index 'tokenbf_v1(256, 2, 0)' -p 0.1%\n",
    .text =
        "FILE is a table of LevelDB or RocksDB (.ldb, .sst), a Parquet file, or an index of a "
        "ClickHouse part: skp_idx_NAME.idx, or the directory that contains it. It is recognised by "
        "its content. A directory with .sst or .ldb files stands for all of them; several files are "
        "shown as one line each, with totals. A ClickHouse index does not record its definition, so --index must give it.\n\n"
        "Every filter is listed with the part of the file that it covers, its fill and its "
        "live false-positive rate; terminals also get a plot. With --check, only the parts, or of several "
        "files those, that may hold KEY are printed, and for LevelDB and RocksDB the block that their "
        "readers would read. "
        "For tokenbf_v1 and ngrambf_v1 every token of KEY must be present.\n\n"
        "Damage is reported with its offset, and the rest is still shown; whatever a damaged "
        "filter covers may hold any key.",
    .exits = "0 the file is sound, or may hold KEY; 1 it certainly does not hold KEY; 2 error or "
             "damage",
    .options = options,
    .run = CLI_APART(cli_run_table),
};
