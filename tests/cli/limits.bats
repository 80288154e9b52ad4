# SPDX-License-Identifier: MIT
# labels: asan
# --max-memory: what is refused, and what is enough
load helper

setup_file() {
    seq 10000 > "$BATS_FILE_TMPDIR/keys"
    seq 5001 15000 > "$BATS_FILE_TMPDIR/more"
}

# refused_below_minimum COMMAND...: refused under --max-memory 1KiB, done with what the message says
# is enough, and refused again with one byte less.
refused_below_minimum() {
    refused "more than --max-memory allows (--max-memory " "$@" --max-memory 1KiB
    [[ $stderr =~ "--max-memory "([0-9]+)" is enough" ]]
    local enough=${BASH_REMATCH[1]}
    refused "more than --max-memory allows" "$@" --max-memory $((enough - 1))
    "$@" --max-memory "$enough"
}

@test "limits: every command that makes or loads filters, and what is enough" {
    cp "$BATS_FILE_TMPDIR"/* .
    refused_below_minimum umbel build -q -f -o k.umb keys
    refused_below_minimum umbel build -q -f -o other.umb --kind blocked -n 1e5 keys
    refused_below_minimum umbel build -q -f -o classic.umb --kind classic keys
    refused_below_minimum umbel build -q -f -o counts.umb --kind counting keys
    refused_below_minimum umbel build -q -f -o window.umb --kind window keys
    refused_below_minimum umbel build -q -f -o guava --format guava keys
    refused_below_minimum umbel build -q -f -o redis --format redisbloom -n 2e4 keys
    refused_below_minimum umbel build -q -f -o leveldb --format leveldb keys
    umbel build -q -o a.umb -n 1e5 keys
    umbel build -q -o b.umb -n 1e5 more
    refused_below_minimum umbel add -q a.umb more
    refused_below_minimum umbel remove -q counts.umb keys
    refused_below_minimum umbel merge -q -f -o m.umb a.umb b.umb
    refused_below_minimum umbel intersect -q -f -o i.umb a.umb b.umb
    refused_below_minimum umbel fold -q -f -p 10% -o f.umb a.umb
    refused_below_minimum umbel convert -q -f -o c.umb a.umb
    refused_below_minimum umbel uniq -q -n 1e5 keys > out
    cmp out keys
    refused_below_minimum umbel uniq -q --window 1e4 keys > out
    cmp out keys
    umbel uniq -q -n 1e5 --state s.umb keys > out
    refused_below_minimum umbel uniq -q --state s.umb keys
}

@test "limits: gzipped filters are unpacked into memory, and no more of it than they may have" {
    gzip -c "$root/tests/golden/dcso/a.bloom" > packed.bloom
    for command in info "check -c" "convert -f -q --to dcso -o plain.bloom"; do
        refused "needs 120 bytes, more than --max-memory allows (--max-memory 120 is enough)" \
            umbel $command --max-memory 1 packed.bloom
        refused "needs 120 bytes, more than --max-memory allows (--max-memory 120 is enough)" \
            umbel $command --max-memory 119 packed.bloom
    done
    umbel info --max-memory 168 packed.bloom > out
    umbel verify -q --max-memory 168 packed.bloom
    # Data after the bits: 80 MB of zeros in 80 kB.
    (cat "$root/tests/golden/dcso/a.bloom" && head -c 80000000 /dev/zero) | gzip > bomb.bloom
    refused "bomb.bloom: is longer than the filter in it" umbel info bomb.bloom
    refused "the filter is larger than --max-memory allows" umbel info --max-memory 5000 bomb.bloom
    # A claim of a terabyte.
    (head -c 32 "$root/tests/golden/dcso/a.bloom" && printf '\0\0\0\0\0\010\0\0' &&
        head -c 8000000 /dev/zero) | gzip > claim.bloom
    refused "m: more bits than the file has" umbel info claim.bloom
}

@test "limits: mapped files need no memory" {
    cp "$BATS_FILE_TMPDIR"/* .
    umbel build -q -o a.umb keys
    cp a.umb b.umb
    umbel check --max-memory 1 a.umb keys | cmp - keys
    umbel verify -q --max-memory 1 a.umb --present keys
    umbel info --max-memory 1 a.umb > out
    refused_below_minimum umbel cmp -q a.umb b.umb # makes their union
    refused "above the memory limit: the filters of the table (--max-memory SIZE raises it)" \
        umbel table --max-memory 1 "$root/tests/golden/table/keys300.ldb"
    umbel table -q --max-memory 1M "$root/tests/golden/table/keys300.ldb" > out
}

@test "limits: a filter that has to grow beyond the limit" {
    cp "$BATS_FILE_TMPDIR"/* .
    umbel build -q --kind scalable -n 5000 -o grows.umb <(seq 5000)
    cp grows.umb before
    refused "grows.umb: has to grow from " umbel add -q --max-memory 30000 grows.umb more
    cmp grows.umb before
    umbel add -q --max-memory 1M grows.umb more
    # What uniq printed until then is remembered, and nothing else.
    cp before state.umb
    run --separate-stderr umbel uniq -q --state state.umb --max-memory 100000 <(seq 5001 100000)
    [ "$status" -eq 2 ]
    [[ $stderr == "umbel: state.umb: has to grow from "* ]]
    printf '%s\n' "$output" > printed
    [ "$(wc -l < printed)" -gt 1000 ]
    umbel uniq -q --state state.umb <(seq 5001 100000) > rest
    sort -n printed rest | uniq -d | cmp - /dev/null
    [ "$(cat printed rest | wc -l)" -gt 90000 ] # all except false positives
}

@test "limits: static filters need 8 bytes per key while being built" {
    cp "$BATS_FILE_TMPDIR"/* .
    refused "more than 8,000 keys, at 8 bytes each, exceed --max-memory (--tmp" \
        umbel build -q --kind static --max-memory 64000 -o k.umb keys
    umbel build -q --kind static --max-memory 80000 -o k.umb keys
    refused_below_minimum umbel build -q -f --kind static --tmp . -o k.umb keys
    umbel check -c k.umb keys | grep -qx 10000
}

@test "limits: a schema of Parquet without end" {
    python3 - > wide.parquet << 'EOF'
import struct, sys
columns = 20_000_000  # of a byte each
footer = bytes([0x29, 0xfc])  # field 2: a list of structs
n = columns
while n > 127:
    footer, n = footer + bytes([n & 127 | 128]), n >> 7
footer += bytes([n]) + bytes(columns) + b"\0"
sys.stdout.buffer.write(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")
EOF
    refused "--max-memory" umbel table wide.parquet --max-memory 10M
    python3 - "$UMBEL" table wide.parquet --max-memory 10M << 'EOF'
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
usage = os.wait4(child.pid, 0)[2]
print(usage.ru_maxrss >> 10, "MiB")
assert usage.ru_maxrss >> 10 <= 20 + 10 + 40  # the file, mapped; the limit; the program
EOF
}

# peak KIBIBYTES COMMAND...: ends with status 2, and took at most so much memory; its words are in err
peak() {
    local most=$1
    shift
    ! grep -q __asan_init "$UMBEL" || most=$((1 << 30)) # it keeps what was freed
    python3 - "$most" "$@" << 'EOF'
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=open("err", "w"))
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss, "KiB:", *sys.argv[2:])
assert os.waitstatus_to_exitcode(status) == 2, open("err").read()
assert usage.ru_maxrss <= int(sys.argv[1])
EOF
}

# Every command that reads lines, and one line of 100 MB in half a megabyte.
@test "limits: a long line takes what --max-memory says" {
    cp "$BATS_FILE_TMPDIR"/* .
    umbel build -q -o a.umb keys
    umbel build -q --kind counting -o c.umb keys
    { seq 10; head -c 100000000 /dev/zero | tr '\0' x; } | gzip -1 > long.gz
    for command in "build -q -o new.umb" "build -q -n 100 -o new.umb" "build -q --kind static -n 100 -o new.umb" \
        "add -q a.umb" "remove -q c.umb" "check a.umb" "uniq -q" "uniq -q -c" "uniq -q --top 3" "count" \
        "diff -q keys" "verify -q a.umb --present"; do
        for j in 1 2; do
            peak 131072 "$UMBEL" $command long.gz -j $j --max-memory 64M ||
                { [ $j = 2 ] && grep -q "unknown option" err; }
            grep -q "unknown option" err || grep -qE \
                "^umbel: long.gz: line 11 has more than [0-9.]+ MiB, and needs more memory than the (32|16) MiB for lines" err
        done
    done
    # From a file in parts, in pipes, and with room for it.
    gunzip -k long.gz
    peak 131072 "$UMBEL" uniq -q -j 2 --max-memory 64M long
    grep -q "^umbel: long: line 11 has more than " err
    peak 131072 bash -c 'cat long | "$UMBEL" uniq -q --max-memory 64M'
    grep -q "^umbel: standard input: line 11 has more than " err
    [ "$("$UMBEL" uniq -q --max-memory 512M long | wc -c)" -eq 100000022 ]
    [ "$("$UMBEL" uniq -q --max-memory 64M long 2> /dev/null)" = "$(seq 10)" ]
}

@test "limits: what a recipe makes of long lines counts" {
    { seq 10; head -c 4000000 /dev/zero | tr '\0' x; echo; } > text
    fields=$(seq -s, 1 2 39)
    umbel count -k "$fields" --missing-empty text > /dev/null
    peak 131072 "$UMBEL" count -k "$fields" --missing-empty --max-memory 64M text
    grep -qE "text: the lines from line [0-9]+ on need 2[0-9]{2} MiB, more than the 32 MiB" err
    # Quoted line ends in a record.
    { printf '"'; head -c 9000000 /dev/zero | tr '\0' '\n'; echo '"'; } > records
    [ "$(umbel count --csv -k 1 records)" = 1 ]
    peak 131072 "$UMBEL" count --csv -k 1 --max-memory 64M records
    grep -q "the lines from line 1 on need " err
}

# Frames by hand (RFC 8878): a window descriptor, and a last block that repeats a byte.
@test "limits: the window of zstd" {
    python3 - << 'EOF'
for log in (20, 25, 26, 27, 28, 31):
    frame = b"\x28\xb5\x2f\xfd" + bytes([0, (log - 10) << 3])
    open(f"w{log}.zst", "wb").write(frame + ((5 << 3 | 2 | 1).to_bytes(3, "little")) + b"\n")
# All in one segment of 300 MiB, after a frame that is fine.
one = b"\x28\xb5\x2f\xfd" + bytes([0x20 | 2 << 6]) + (300 << 20).to_bytes(4, "little")
open("segment.zst", "wb").write(open("w20.zst", "rb").read() + one + b"\x01\x00\x00")
EOF
    for log in 20 25 26 27; do [ "$(umbel count w$log.zst)" = 1 ]; done
    [ "$(umbel count --max-memory 64M w25.zst)" = 1 ]
    [ "$(umbel count --max-memory 512MiB w28.zst)" = 1 ]
    [ "$(umbel count --max-memory 4096MiB w31.zst)" = 1 ]
    refused "w28.zst: needs a window of 256 MiB to decompress zstd, more than 128 MiB (--max-memory 512MiB allows it)" \
        umbel count w28.zst
    refused "w31.zst: needs a window of 2 GiB to decompress zstd, more than 128 MiB (--max-memory 4096MiB allows it)" \
        umbel count w31.zst
    refused "w26.zst: needs a window of 64 MiB to decompress zstd, more than 32 MiB (--max-memory 128MiB allows it)" \
        umbel count --max-memory 64M w26.zst
    refused "standard input: needs a window of 300 MiB to decompress zstd, more than 128 MiB (--max-memory 1024MiB" \
        bash -c '{ head -c 15 segment.zst; sleep 0.1; tail -c +16 segment.zst; } | "$UMBEL" count'
    refused "segment.zst: needs a window of 300 MiB" umbel info segment.zst
    if command -v zstd > /dev/null; then
        [ "$(zstd -dc w25.zst | tr '\n' n)" = nnnnn ]
        run zstd -dc w28.zst
        [ "$status" -ne 0 ]
        [ "$(zstd -dc --memory=300MB w28.zst | tr '\n' n)" = nnnnn ]
    fi
}

@test "limits: lines that --top keeps, and keys that --verify-with asks for" {
    cp "$BATS_FILE_TMPDIR"/* .
    for i in $(seq 40); do head -c 1000000 /dev/zero | tr '\0' x; echo $i; done > long
    umbel uniq -q --top 3 long > /dev/null
    refused "--top: its counters, each with a line, need more than 32 MiB" umbel uniq -q --top 3 --max-memory 32MiB long
    umbel build -q -o long.umb long
    umbel check -q long.umb --verify-with long long
    refused "32 MiB is too little for the keys that are to be verified: at least " \
        umbel check -c long.umb --verify-with long --max-memory 32MiB long
    refused "32 MiB is too little for the keys" umbel diff -q --exact --max-memory 32MiB long long
}
