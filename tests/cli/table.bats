# SPDX-License-Identifier: MIT
# labels: asan
# Filters inside other systems' files; the files were written by those systems.
load helper

golden=$BATS_TEST_DIRNAME/../golden

@test "table: a LevelDB table is listed with its blocks and keys" {
    umbel table "$golden/table/keys300.ldb" > out
    grep -qx 'system  *leveldb' out
    grep -qx 'keys  *300' out
    grep -q '^blocks from 0 to 2048  *720  *6  *44.3%' out
    run ! grep -q 'fill of each place' out
    LC_ALL=C umbel table --plot "$golden/table/keys300.ldb" | grep -qF '|= = = = = -|'
    LC_ALL=C.UTF-8 umbel table --plot "$golden/table/keys300.ldb" > out
    grep -qF '|▄ ▄ ▄ ▄ ▄ ▃|' out
}

@test "table: --check answers like LevelDB's reader and exits like grep" {
    umbel table "$golden/table/keys300.ldb" --check key000299 > out
    grep -qx 'blocks from 20480 to 22528' out
    grep -q '^block at 2[0-9]*, [0-9]* bytes$' out
    run -1 umbel table "$golden/table/keys300.ldb" --check key000299x
    [ -z "$output" ]
    run -0 umbel table -q "$golden/table/keys300.ldb" --check key000000
    [ -z "$output" ]
    run -2 umbel table "$golden/table/keys300.ldb" --column a --check key000000
}

@test "table: a Parquet file, its columns and types" {
    umbel table "$golden/parquet/duckdb_t.parquet" --column s > out
    [ "$(grep -c '^row group' out)" -eq 2 ]
    umbel table "$golden/parquet/duckdb_t.parquet" --column d --check 4.75 | grep -qx 'row group 1, d'
    run -1 umbel table "$golden/parquet/duckdb_t.parquet" --column n --check 4711
    run -2 umbel table "$golden/parquet/duckdb_t.parquet" --column n --check four
    run -2 umbel table "$golden/parquet/duckdb_t.parquet" --check 1
    [[ $output == *"say which"* ]]
    run -2 umbel table "$golden/parquet/duckdb_t.parquet" --column none
}

@test "table: a ClickHouse index, by file and by directory" {
    def='tokenbf_v1(256, 2, 0)'
    umbel table "$golden/table/skp_idx_tk.idx" --index "$def" > file
    umbel table "$golden/table" --index "tk $def" > dir
    [ "$(grep -c '^granule' file)" -eq 3 ]
    diff <(tail -n +2 file) <(tail -n +2 dir)
    grep -q '^size  *1% for .* would take .* bytes and .* hashes' file
    [ "$(umbel table "$golden/table" --index "tk $def" --check 'user_0')" = "granule 0, column 1" ]
    run -1 umbel table "$golden/table" --index "tk $def" --check 'nobody'
    umbel table "$golden/table" --index 'bf_id bloom_filter(0.01)' --type UInt64 --check 149 > out
    grep -qx 'granule 2, column 1' out
    run -2 umbel table "$golden/table/skp_idx_tk.idx"
    [[ $output == *"--index"* ]]
    run -2 umbel table "$golden/table" --index "$def"
    [[ $output == *"NAME DEFINITION"* ]]
    run -2 umbel table "$golden/table/skp_idx_tk.idx" --index 'minmax'
}

@test "table: RocksDB's tables, whole filters and partitions" {
    umbel table "$golden/rocksdb/v5_ribbon_parts.sst" > out
    grep -qx 'system  *rocksdb' out
    grep -qx 'format version  *5' out
    grep -qx 'policy  *ribbonfilter' out
    grep -qx 'keys  *800' out
    grep -qE '^bits per key +[6-9]\.' out
    [ "$(grep -c '^partition [012] ' out)" -eq 3 ]
    umbel table "$golden/rocksdb/v6.sst" > out
    grep -q '^the whole file  *2048  *7 ' out
    umbel table --json "$golden/rocksdb/v6.sst" | python3 -c '
import json, sys
table = json.load(sys.stdin)
said = table["properties"]
assert said["footer.format_version"] == 6 and said["rocksdb.num.entries"] == 200 == table["keys"]
assert said["rocksdb.filter.policy"] == "bloomfilter" and table["faults"] == []
assert table["places"][0]["bits"] == 2048'
    umbel table "$golden/rocksdb/v5_parts_lz4.sst" --check key000000150 > out
    grep -qx 'partition [012]' out
    grep -q '^block at [0-9]*, [0-9]* bytes$' out
    run -1 umbel table "$golden/rocksdb/v5_parts_lz4.sst" --check key000000150x
    run -2 umbel table "$golden/rocksdb/v1.sst"
    [[ $output == *"format_version: only 2 to 6 are read"* ]]
}

@test "table: one filter is written to a file, which check knows" {
    for name in v2 v5_zstd v6_ribbon; do
        umbel table -q "$golden/rocksdb/$name.sst" --filter 0 -o "$name.filter"
        [ "$(umbel check -c --format rocksdb "$name.filter" <(seq -f 'key%09.0f' 0 199))" -eq 200 ]
    done
    run -2 umbel table "$golden/rocksdb/v2.sst" --filter 0 -o v2.filter
    [[ $output == *"exists"* ]]
    run -2 umbel table "$golden/rocksdb/v2.sst" --filter 1 -o other
    [[ $output == *"1 places, counted from 0"* ]]
    run -2 umbel table "$golden/rocksdb/v2.sst" --filter 0
    run -2 umbel table "$golden/rocksdb/v2.sst" -o other
    umbel build -q --format rocksdb -n 200 --bits-per-key 10 -o ours <(seq -f 'key%09.0f' 0 199)
    cmp ours v5_zstd.filter
    umbel table -q "$golden/table/keys300.ldb" --filter 0 -o ldb.filter
    umbel check -q --format leveldb ldb.filter <<< key000000
}

@test "table: several files and directories are summed" {
    mkdir db
    cp "$golden/rocksdb/v5_zstd.sst" db/000012.sst
    cp "$golden/rocksdb/v6_ribbon.sst" db/000007.sst
    cp "$golden/table/keys300.ldb" db/000003.ldb
    echo MANIFEST > db/CURRENT
    umbel table db > out
    [ "$(grep -c 'db/0000' out)" -eq 3 ]
    grep -qx 'files  *3' out
    grep -qx 'keys  *1,100' out
    [ "$(umbel table db --check key000000150)" = "$(printf 'db/000007.sst\ndb/000012.sst')" ]
    run -1 umbel table db --check nothing
    umbel table --json db/000012.sst db/000007.sst | python3 -c '
import json, sys
db = json.load(sys.stdin)
assert [f["keys"] for f in db["files"]] == [200, 600] and db["keys"] == 800 and db["files_read"] == 2'
    cp "$golden/rocksdb/v1.sst" db/000001.sst
    run -2 umbel table db
    [[ $output == *"format_version"*"000012.sst"* ]]
}

@test "table: JSON" {
    umbel table --json "$golden/table/keys300.ldb" | python3 -c '
import json, sys
t = json.load(sys.stdin)
assert t["system"] == "leveldb" and t["filters"] == 6 and t["faults"] == []
assert sum(p["keys"] or 0 for p in t["places"]) == 300
assert t["places"][0]["bits"] == 720 and t["places"][1]["state"] == "empty"'
    umbel table --json "$golden/table/keys300.ldb" --check key000000 | python3 -c '
import json, sys
t = json.load(sys.stdin)
assert t["may_contain"] and t["may_hold"] == [0] and t["block_offset"] == 0'
}

@test "table: damage is reported with its offset, and the rest is shown" {
    cp "$golden/table/keys300.ldb" bad.ldb
    printf 'x' | dd of=bad.ldb bs=1 seek=100 conv=notrunc status=none
    run -2 --separate-stderr umbel table bad.ldb
    [[ $stderr == *"byte 0: the checksum of a block is wrong"* ]]
    [[ $output == *"blocks from 4096 to 6144"* ]]
    run -0 --separate-stderr umbel table bad.ldb --check key000000
    head -c 1000 "$golden/table/keys300.ldb" > cut.ldb
    run -2 umbel table cut.ldb
    run -2 umbel table /dev/null
    run -2 umbel table nowhere
    run -2 umbel table
}
