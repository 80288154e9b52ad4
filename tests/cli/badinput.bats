# SPDX-License-Identifier: MIT
# labels: asan
# One clear line, exit 2, no partial output, no crash
load helper

small() { seq 9 | umbel build -q -n 9 -o "${1:-k.umb}"; }

@test "bad input: options and commands that do not exist" {
    refused "unknown command 'frobnicate' (umbel --help lists them)" umbel frobnicate
    refused "unknown option --frob (umbel build --help lists its options)" umbel build --frob
    refused "unknown option --thread" umbel build --thread 5
    refused "(did you mean '--threads'?)" umbel build --thread 5
    refused "unknown option -X" umbel check -X
    refused "unknown option --annotate" umbel build --annotate
    refused "needs a value: KEYS" umbel build -n
    refused "takes no value" umbel check --count=5 k.umb
    refused "unknown command 'frobnicate'" umbel help frobnicate
    refused "unknown option -X (umbel --help lists its options)" umbel -X
    refused "unknown command 'buld' (did you mean 'build'?)" umbel buld
    run umbel
    [ "$status" -eq 2 ]
    run umbel -
    [ "$status" -eq 0 ]
}

@test "bad input: missing and unreadable files, directories" {
    small
    mkdir dir
    refused "missing.umb: No such file" umbel check missing.umb /dev/null
    refused "missing.umb: No such file" umbel info missing.umb
    refused "missing.umb: No such file" umbel verify missing.umb
    refused "missing: No such file" umbel check k.umb missing
    refused "missing: No such file" umbel build -o new.umb missing
    refused "dir: is a directory" umbel info dir
    refused "dir: is a directory" umbel check k.umb dir
    refused "dir: is a directory" umbel build -n 5 -o new.umb dir
    refused "dir: is a directory" umbel build -f -n 5 -o dir /dev/null
    refused "nowhere/new.umb: No such file" umbel build -n 5 -o nowhere/new.umb /dev/null
    [ ! -e new.umb ]
    if [ "$(id -u)" -ne 0 ]; then
        chmod 0 k.umb
        refused "k.umb: Permission denied" umbel info k.umb
    fi
}

@test "bad input: truncated filters, other files, empty files" {
    small
    size=$(stat -c %s k.umb)
    for n in 0 1 7 8 63 64 200 4095 4096 $((size - 1)); do
        head -c "$n" k.umb > short.umb
        for command in info check verify add fold cmp; do
            case $command in
            check | add) refused "short.umb: " umbel $command short.umb /dev/null ;;
            fold) refused "short.umb: " umbel fold -p 1% -o x.umb short.umb ;;
            cmp) refused "short.umb: " umbel cmp short.umb k.umb ;;
            *) refused "short.umb: " umbel $command short.umb ;;
            esac
        done
    done
    { cat k.umb; echo more; } > long.umb
    refused "long.umb: " umbel info long.umb
    seq 1000 > text
    refused "text: " umbel info text
    refused "(--format is needed for formats without a magic number)" umbel check text text
    refused "unknown format 'rar'" umbel info --format rar k.umb
}

@test "bad input: contradictory and missing parameters" {
    refused "-o is missing" umbel build -n 5
    refused "contradict each other" umbel build -n 5 -o k.umb --lower --upper
    refused "'x' is not NAME=VALUE" bash -c 'seq 5 | "$UMBEL" build -n 5 --meta x -o k.umb'
    refused "umbel: build: " umbel build -n 1e6 -p 1e-9 -m 10 -o k.umb /dev/null
    refused "(umbel plan shows what is possible)" umbel build -n 1e6 -p 1e-9 -m 10 -o k.umb /dev/null
    refused "too long (at most " umbel uniq --max-line 4GiB /dev/null
    refused "too long (at most " umbel uniq --max-line $(((3 << 30) + 1)) /dev/null
    refused "too many (at most 1024)" umbel check -j 1025 <(seq 9 | umbel build -q -n 9 -o -) /dev/null
    refused "'-1' is not a number" umbel build -n 5 -j -1 -o k.umb /dev/null
    refused "must be at least 1" umbel build -n 5 -j 0 -o k.umb /dev/null
    [ ! -e k.umb ]
}

@test "bad input: a filter larger than memory" {
    refused "umbel: build: " umbel build -n 1e15 -p 1% -o k.umb /dev/null
    [ ! -e k.umb ]
}

@test "bad input: broken and truncated gzip and zstd" {
    urls 1 20000 > keys
    gzip -k keys
    head -c 30000 keys.gz > cut.gz
    refused "cut.gz: the gzip data is truncated" umbel build -n 20000 -o k.umb cut.gz
    cp keys.gz bad.gz
    printf 'XXXXXXXX' | dd of=bad.gz bs=1 seek=20000 conv=notrunc status=none
    refused "bad.gz: the gzip data is damaged" umbel build -n 20000 -o k.umb bad.gz
    { cat keys.gz; echo garbage; } > tail.gz
    refused "tail.gz: the gzip data is damaged" umbel build -n 20000 -o k.umb tail.gz
    if command -v zstd > /dev/null; then
        zstd -qk keys
        head -c 20000 keys.zst > cut.zst
        refused "cut.zst: the zstd data is truncated" umbel build -n 20000 -o k.umb cut.zst
        cp keys.zst bad.zst
        printf 'XXXXXXXXXXXX' | dd of=bad.zst bs=1 seek=15000 conv=notrunc status=none
        refused "bad.zst: the zstd data is damaged" umbel build -n 20000 -o k.umb bad.zst
    fi
    [ ! -e k.umb ]
}

@test "bad input: a line of 5 GiB" {
    truncate -s 5G huge # one line of NUL bytes
    refused "huge: has a line of more than 16 MiB: line 1 (--max-line raises the limit" \
        umbel build -n 5 --max-line 16MiB -o k.umb huge
    refused "standard input: has a line of more than 16 MiB" \
        bash -c 'cat huge | "$UMBEL" build -n 5 --max-line 16MiB -o k.umb'
    refused "huge: has a line of more than 1 GiB" umbel build -n 5 -o k.umb huge
    [ ! -e k.umb ]
}

# A line of 1 MiB in blocks of 256 KiB: it ends at the end of a block, or just after.
@test "bad input: a line as long as --max-line allows is accepted, from files, pipes and packed" {
    head -c 1048576 /dev/zero | tr '\0' x > line
    { cat line; echo; echo y; } > text
    { echo y; cat line; } > last
    { echo y; cat line line; } > twice
    gzip -k text last twice
    for j in 1 2; do
        for f in text last text.gz last.gz; do
            [ "$(umbel uniq -q -j $j --max-line 1MiB $f | wc -c)" -eq 1048579 ]
            [ "$(cat $f | umbel uniq -q -j $j --max-line 1MiB | wc -c)" -eq 1048579 ]
        done
        for f in twice twice.gz; do
            run umbel uniq -q -j $j --max-line 1MiB $f
            [ "$status" -eq 2 ]
            [[ $output == *"$f: has a line of more than 1 MiB: line 2 "* ]]
        done
    done
}

# Also within a block, to the byte; what comes before the line is still output.
@test "bad input: --max-line is exact" {
    { seq 20000; printf '%050d\n' 1; seq 5; } > text
    gzip -k text
    for j in 1 2; do
        for f in text text.gz; do
            [ "$(umbel uniq -q -j $j --max-line 50 $f | wc -l)" -eq 20001 ]
            run --separate-stderr umbel uniq -q -j $j --max-line 49 $f
            [ "$status" -eq 2 ]
            [ "$output" = "$(seq 20000)" ]
            [[ $stderr == *"$f: has a line of more than 49 bytes: line 20001 "* ]]
        done
        [ "$(cat text | umbel uniq -q -j $j --max-line 50 | wc -l)" -eq 20001 ]
        refused "has a line of more than 49 bytes" bash -c 'cat text | "$UMBEL" uniq -q -j $0 --max-line 49 > out' $j
        [ "$(cat out)" = "$(seq 20000)" ]
    done
}

@test "bad input: records of CSV have at most 16 MiB" {
    head -c $(((16 << 20) - 2)) /dev/zero | tr '\0' x > most # and two quotes
    { echo a; printf '"'; cat most; printf '"\nb\n'; } > fits
    { echo a; printf '"x'; cat most; printf '"\nb\n'; } > exceeds
    { echo a; printf '"'; cat most most; printf '"\nb\n'; } > twice
    for from in cat "gzip -1c"; do
        [ "$($from fits | umbel count --csv -k 1)" = 3 ]
        for file in exceeds twice; do
            refused "standard input: has a line of more than 16 MiB: line 2 (a quote may be missing" \
                bash -c "$from $file | '$UMBEL' count --csv -k 1"
        done
    done
    [ "$(umbel count --csv -k 1 fits)" = 3 ]
    refused "exceeds: has a line of more than 16 MiB: line 2 (" umbel count --csv -k 1 exceeds
    [ "$(umbel count --csv -k 1 --max-line 17M exceeds)" = 3 ]
}

@test "bad input: binary input is just lines" {
    head -c 3000000 /dev/urandom > noise
    umbel build -q -p 1e-6 -o k.umb noise
    umbel verify -q k.umb --present noise
}

@test "bad input: full disk, closed standard output, reader gone" {
    small
    seq 100000 > text
    if [ -e /dev/full ]; then
        run bash -c '"$UMBEL" check -v k.umb text > /dev/full'
        [ "$status" -eq 2 ]
        [ "$output" = "umbel: standard output: No space left on device" ]
        run bash -c '"$UMBEL" info k.umb > /dev/full'
        [ "$status" -eq 2 ]
        [ "$output" = "umbel: standard output: No space left on device" ]
        run bash -c '"$UMBEL" plan --json -n 5 -p 1% > /dev/full'
        [ "$status" -eq 2 ]
    fi
    run bash -c '"$UMBEL" check -v k.umb text >&-'
    [ "$status" -eq 2 ]
    [ "$output" = "umbel: standard output: Bad file descriptor" ]
    run bash -c 'seq 9 | "$UMBEL" build -q -f -n 9 -o k.umb >&- 2>&-; "$UMBEL" verify -q k.umb'
    [ "$status" -eq 0 ]
    run bash -c '"$UMBEL" check -v k.umb < text <&-'
    [ "$status" -eq 2 ]
    run bash -c 'set -o pipefail; "$UMBEL" check -v k.umb text text text | head -n 1'
    [ "$output" = 10 ]
    [ "$status" -eq 141 ]
    # With SIGPIPE ignored, as some parents leave it: still quiet.
    run bash -c 'trap "" PIPE; "$UMBEL" check -v k.umb text text text | head -n 1; exit ${PIPESTATUS[0]}'
    [ "$output" = 10 ]
    [ "$status" -eq 2 ]
}

@test "bad input: nobody reads, and SIGPIPE is ignored: exit 2 without a word" {
    small
    seq 100000 > text
    python3 - <<'P'
import os, signal, subprocess
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
for words in ("check -v k.umb text", "check -vc k.umb text", "uniq -q text", "info k.umb",
              "info --json k.umb", "plan -n 5 -p 1%", "--help", "--version", "help --man"):
    unread, out = os.pipe()
    os.close(unread)
    run = subprocess.run([os.environ["UMBEL"], *words.split()], stdout=out, stderr=subprocess.PIPE,
                         restore_signals=False)
    os.close(out)
    assert (run.returncode, run.stderr) == (2, b""), (words, run)
P
}

@test "bad input: a full disk leaves no temporary file" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small tmpfs"
    mkdir small
    mount -t tmpfs -o size=64k tmpfs small 2> /dev/null || skip "cannot mount a tmpfs here"
    run umbel build -n 1e6 -o small/k.umb <(seq 300000)
    left=$(ls -A small)
    umount small
    [ "$status" -eq 2 ]
    [[ $output == "umbel: small/k.umb: No space left on device" ]]
    [ -z "$left" ]
}
