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
