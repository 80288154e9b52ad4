# SPDX-License-Identifier: MIT
# labels: asan
# What a line is, and which part of it is the key.  Rates of 1e-9 rule out false positives; grep, awk
# and python3 give the expected results.
load helper

exact() { umbel build -q -f -p 1e-9 "$@"; }

@test "lines: the same answer as grep -Fx for lines of many lengths" {
    python3 - <<'P'
import random
seed = random.randrange(1 << 32)
print("seed", seed)
r = random.Random(seed)
with open("keys", "wb") as k, open("text", "wb") as t:
    for i in range(30000):
        n = r.choice([0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 300, 5000 if i % 50 == 0 else 9])
        line = bytes(r.randrange(97, 123) for _ in range(n))
        if r.random() < 0.5: k.write(line + b"\n")
        if r.random() < 0.7: t.write(line + b"\n")
P
    exact -o k.umb keys
    LC_ALL=C sort -u keys > set
    LC_ALL=C awk 'NR == FNR { in_set[$0] = 1; next } $0 in in_set' set text > expected
    umbel check k.umb text > got
    cmp expected got
    umbel check -j 4 k.umb text > got4
    cmp expected got4
    umbel check k.umb < <(cat text) > piped
    cmp expected piped
    LC_ALL=C awk 'NR == FNR { in_set[$0] = 1; next } !($0 in in_set)' set text > not
    umbel check -v -j 2 k.umb text > got_not
    cmp not got_not
}

@test "lines: the last line needs no newline, and files do not run together" {
    printf 'a\nb' > one
    printf 'c\nd\n' > two
    exact -o k.umb one two
    umbel info --json k.umb | grep -q '"keys": 4,'
    printf 'b' > tail
    [ "$(umbel check k.umb tail | od -An -c | tr -d ' ')" = 'b\n' ]
    run umbel check k.umb <(printf 'bc\n')
    [ "$status" -eq 1 ]
}

@test "lines: blocks and ranges may begin anywhere" {
    # Lines around the block size of 256 KiB: shorter, equal, longer, and a few of several blocks.
    python3 - <<'P'
B = 256 << 10
lens = [B - 1, 0, B - 2, B, 5, B + 1, 3 * B, 1, 0, 0, 2 * B - 7, 4095, 4096, 4097, B - 4096, B - 4097]
with open("text", "wb") as t:
    for i, n in enumerate(lens):
        t.write(bytes([97 + i]) * n + b"\n")
    t.write(b"end")
P
    exact -n 100 -o k.umb text
    umbel info --json k.umb | grep -q '"keys": 15,' # three empty lines are one key
    for j in 1 2 5; do
        { cat text; echo; } | cmp - <(umbel check -j $j k.umb text)
        { cat text; echo; } | cmp - <(cat text | umbel check -j $j k.umb)
        [ "$(umbel uniq -q -j $j text | wc -l)" -eq 15 ]
    done
}

@test "lines: a block that starts exactly at a line, at every offset around the border" {
    for shift in -2 -1 0 1 2; do
        python3 -c "
B = (256 << 10) + $shift
open('text', 'wb').write(b'x' * (B - 1) + b'\n' + b'y' * 10 + b'\n' + b'z')"
        [ "$(umbel uniq -q text | wc -l)" -eq 3 ]
        [ "$(umbel uniq -q -j 2 text | wc -c)" -eq $((262144 + shift + 11 + 2)) ]
    done
}

@test "lines: a long line of 40 MB from a file and from a pipe" {
    head -c 40000000 /dev/zero | tr '\0' a > long
    exact -n 10 -o k.umb long
    [ "$(umbel check -c k.umb long)" -eq 1 ]
    [ "$(cat long | umbel check -c k.umb)" -eq 1 ]
    [ "$(umbel check -j 3 k.umb long | wc -c)" -eq 40000001 ]
}

@test "lines: NUL and non-ASCII bytes are ordinary" {
    printf 'a\0b\n\377\376\n\0\n' > keys
    exact -o k.umb keys
    umbel check k.umb keys | cmp - keys
    run umbel check -c k.umb <(printf 'a\n\377\n')
    [ "$output" = 0 ]
}

@test "lines: -0 and -z end lines with NUL, in and out" {
    printf 'a\nb\0c\0' > keys
    exact -0 -o k.umb keys
    umbel check -z k.umb keys | cmp - keys
    [ "$(printf 'c\0x\0' | umbel check --null k.umb | od -An -c | tr -d ' ')" = 'c\0' ]
}

@test "lines: --crlf leaves the carriage return out of the key" {
    printf 'a\r\nb\n' > dos
    exact --crlf -o k.umb dos
    [ "$(printf 'a\nb\n' | umbel check -c k.umb)" -eq 2 ]
    umbel check k.umb dos | cmp - dos # remembered
    exact -o plain.umb dos
    umbel check plain.umb dos | cmp - dos
    [ "$(umbel check -c --crlf plain.umb dos)" = 1 ] # added to what the filter says
    refused "--crlf and --null contradict" umbel check -0 --crlf k.umb dos
}

@test "lines: empty lines are keys unless --skip-empty" {
    printf 'a\n\n\nb\n' > keys
    exact -o with.umb keys
    [ "$(echo | umbel check -c with.umb)" -eq 1 ]
    exact --skip-empty -o without.umb keys
    umbel info --json without.umb | grep -q '"capacity": 2,'
    run umbel check -c without.umb <(echo)
    [ "$output" = 0 ]
    [ "$(umbel check -v -c --skip-empty without.umb <(printf '\n\nz\n'))" -eq 1 ]
    [ "$(umbel uniq -q --skip-empty keys)" = "$(printf 'a\nb')" ]
}

@test "lines: fields as cut and awk see them" {
    printf 'one,two,three\n,x\nlonely\na,,c\n' > csv
    run -3 --separate-stderr exact -t , -k 2 -n 10 -o k.umb csv
    [ "$(printf 'two\nx\n\nthree\nlonely\n' | umbel check -k 1 -t '|' k.umb)" = "$(printf 'two\nx\n')" ]
    printf '  a  b\tc\n\td e\n' > blanks
    exact -k 2 -n 10 -o k2.umb blanks
    [ "$(printf 'b\ne\na\nc\n' | umbel check -k 1 k2.umb)" = "$(printf 'b\ne')" ]
    exact -t '\t' -k 2 -n 10 -o k3.umb blanks
    [ "$(printf 'c\nd e\n' | umbel check -t '|' -k 1 k3.umb)" = "$(printf 'c\nd e')" ]
}

@test "lines: the key rule is stored and applied by later commands" {
    printf '  Ada;1  \nBOB;2\n' > keys
    exact -n 10 -t ';' -k 1 --trim --lower -o k.umb keys
    printf 'ADA;9\nbob;;\n eve\n Ada ;\n' > text
    [ "$(umbel check k.umb text)" = "$(printf 'ADA;9\nbob;;\n Ada ;')" ]
    [ "$(printf 'x,BOB\n' | umbel check -t , -k 2 k.umb)" = x,BOB ] # another field in other files
    [ "$(printf 'BOB,x\n' | umbel check -t , k.umb)" = BOB,x ]      # the same field, other separator
    echo 'EVE;x' | umbel add -q k.umb
    [ "$(umbel check -c k.umb text)" -eq 4 ]
    run umbel info k.umb
    [[ $output == *"recipe             field=1 delimiter=; trim lower"* ]]
    exact -n 10 --upper -o up.umb keys
    [ "$(echo 'bob;2' | umbel check -c up.umb)" -eq 1 ]
    refused "the filter's keys are made differently: lower (its own recipe is applied" umbel check --upper k.umb text
    refused "--lower and --upper contradict" umbel build -f --lower --upper -o k.umb text
}

@test "lines: case conversion changes ASCII letters only" {
    python3 -c "
import sys
open('keys', 'wb').write(bytes(b for b in range(256) if b != 10) + b'\n')"
    exact -n 10 --lower -o k.umb keys
    python3 -c "
open('lower', 'wb').write(bytes(b + 32 if 65 <= b <= 90 else b for b in range(256) if b != 10) + b'\n')"
    [ "$(umbel check -c k.umb lower)" -eq 1 ]
}

@test "lines: gzip and zstd are recognised, in files and pipes, including several members" {
    urls 1 50000 > keys
    gzip -k keys
    head -n 100 keys | gzip > two.gz
    tail -n +101 keys | gzip >> two.gz
    exact -o plain.umb keys
    exact -o gz.umb keys.gz
    cmp plain.umb gz.umb
    exact -n 50000 -o piped.umb < <(cat two.gz)
    [ "$(umbel check -c piped.umb keys)" -eq 50000 ]
    umbel check -j 2 plain.umb two.gz | cmp - keys
    if command -v zstd > /dev/null; then
        zstd -qk keys
        cat keys.zst keys.zst > twice.zst
        [ "$(umbel check -c plain.umb twice.zst)" -eq 100000 ]
        [ "$(cat keys.zst | umbel check -c plain.umb)" -eq 50000 ]
    fi
}

# A larger pipe means fewer switches between writer and reader: twice the speed.
@test "lines: pipes on both sides are enlarged" {
    seq 9 | umbel build -q -n 9 -o k.umb
    run python3 - "$UMBEL" << 'EOF'
import fcntl, os, subprocess, sys
(source, into), (out, sink) = os.pipe(), os.pipe()
os.write(into, b"7\nno\n")
os.close(into)
subprocess.run([sys.argv[1], "check", "k.umb"], stdin=source, stdout=sink, check=True)
print(os.read(out, 99), *(fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) for fd in (source, out)))
EOF
    [ "$output" = "b'7\n' 1048576 1048576" ]
}

@test "lines: a stream is processed line by line, not when it ends" {
    seq 9 | exact -n 9 -o k.umb
    mkfifo in out
    umbel check k.umb < in > out 3>&- &
    exec 8> in 9< out
    echo 5 >&8
    read -r -t 300 answer <&9
    [ "$answer" = 5 ]
    echo 7 >&8
    read -r -t 300 answer <&9
    [ "$answer" = 7 ]
    exec 8>&- 9<&-
    wait $! || :
}
