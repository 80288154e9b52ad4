# SPDX-License-Identifier: MIT
# labels: asan
load helper

@test "build: every key is found, and lines are counted if -n is not given" {
    urls 1 20000 > keys
    run --separate-stderr umbel build -p 1% -o k.umb keys
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ $stderr == "k.umb: 20,000 lines, "*" keys in "*" bits per key), blocked; false-positive rate "*", promised 1%" ]]
    [ "$(umbel check -c k.umb keys)" -eq 20000 ]
    umbel info --json k.umb | grep -q '"capacity": 20000,'
}

@test "build: a pipe that cannot grow the filter needs -n, or -m with -p" {
    refused "is a pipe, so the number of keys is unknown (-n KEYS" \
        bash -c 'seq 9 | "$UMBEL" build --kind blocked -o k.umb'
    refused "is a pipe, so the number of keys is unknown" bash -c 'seq 9 | "$UMBEL" build -m 1M -o k.umb'
    refused "fifo: is a pipe" \
        bash -c 'mkfifo fifo; "$UMBEL" build --kind classic -o k.umb fifo'
    [ ! -e k.umb ]
    seq 9 | umbel build -q -n 9 -o k.umb
    [ "$(seq 9 | umbel check -c k.umb)" -eq 9 ]
    seq 9 | umbel build -q -m 1M -p 1% -o m.umb
    [ "$(seq 9 | umbel check -c m.umb)" -eq 9 ]
}

@test "build: standard input that is a file is counted, even from its middle" {
    seq 1000 > keys
    umbel build -q -o k.umb < keys
    umbel info --json k.umb | grep -q '"capacity": 1000,'
    { read -r _; umbel build -q -o m.umb; } < keys || true
    [ "$(umbel check -c k.umb keys)" -eq 1000 ]
}

@test "build: -m uses exactly the given memory" {
    seq 1000 > keys
    umbel build -q -m 64KiB -o k.umb keys
    umbel info --json k.umb | grep -q '"bytes": 65536,'
}

@test "build: the rate is kept, whatever the promise" {
    urls 1 30000 > keys
    urls 1 30000 other > others
    for rate in 10% 1% 1/1000; do
        umbel build -q -f -p $rate -o k.umb keys
        run umbel verify k.umb --present keys --absent others
        [ "$status" -eq 0 ] || { echo "$output"; return 1; }
        [[ $output == *"30,000 keys, none missing"* ]]
        [[ $output == *"promise            kept"* ]]
    done
}

@test "build: -f is needed to overwrite, and an error leaves the old file alone" {
    seq 9 | umbel build -q -n 9 -o k.umb
    cp k.umb before
    refused "k.umb: already exists (-f overwrites it)" umbel build -n 9 -o k.umb /dev/null
    refused "missing: No such file" umbel build -f -n 9 -o k.umb missing
    cmp k.umb before
    seq 5 | umbel build -q -f -n 9 -o k.umb
    run ! cmp -s k.umb before
}

@test "build: the same bytes for any number of threads" {
    urls 1 200000 > keys
    umbel build -q -n 200000 -j 1 -o 1.umb keys
    for j in 2 3 8; do
        umbel build -q -f -n 200000 -j $j -o j.umb keys
        cmp 1.umb j.umb
        umbel build -q -f -n 200000 -j $j -o j.umb < <(cat keys)
        cmp 1.umb j.umb
    done
    umbel build -q -n 200000 -j 1 --kind classic -o c1.umb keys
    umbel build -q -n 200000 -j 3 --kind classic -o c3.umb keys
    cmp c1.umb c3.umb
}

@test "build: a filter larger than the caches, by one thread and by several" {
    seq 1500000 | umbel build -q -n 40M -o big.umb
    [ "$(seq 1500000 | umbel check -c big.umb)" -eq 1500000 ]
    seq 1500000 | umbel build -q -n 40M -j 3 -o big3.umb
    cmp big.umb big3.umb
}

@test "build: -o - is standard output, but not on a terminal" {
    seq 9 | umbel build -q -n 9 -o k.umb
    seq 9 | umbel build -q -n 9 -o - > piped.umb
    cmp k.umb piped.umb
    if command -v script > /dev/null; then
        run script -qec "seq 9 | '$UMBEL' build -n 9 -o -" /dev/null
        [[ $output == *"will not write a filter to a terminal"* ]]
    fi
}

@test "build: metadata, seed and kind are stored" {
    seq 9 | umbel build -q -n 9 --meta source=feed-7 --meta 'by=a=b' --seed 77 --kind classic -o k.umb
    umbel info --json k.umb > info.json
    python3 - <<'P'
import json
i = json.load(open("info.json"))
assert i["meta"] == {"source": "feed-7", "by": "a=b"}, i
assert i["seed"] == 77 and i["kind"] == "classic", i
P
    run umbel info k.umb
    [[ $output == *"meta source        feed-7"* ]]
}

@test "build: more keys than planned cause a warning, with --strict an error" {
    run --separate-stderr bash -c 'seq 2000 | "$UMBEL" build -n 1000 -o k.umb'
    [ "$status" -eq 3 ]
    [[ $stderr == *"warning: more keys than the 1,000 planned"* ]]
    refused "more keys than the 1,000 planned" \
        bash -c 'seq 2000 | "$UMBEL" build --strict -n 1000 -o strict.umb'
    [ ! -e strict.umb ]
}

# At this rate so few keys give no false positive.
@test "build: --strict takes exactly the plan, and one key more is told" {
    for j in 1 3; do
        run --separate-stderr umbel build -f --strict -j $j -n 1000 -p 1e-12 -o k.umb <(seq 1000)
        [ "$status" -eq 0 ]
        [[ $stderr != *"more keys than"* ]]
        umbel info --json k.umb | grep -q '"keys": 1000,'
        refused "more keys than the 1,000 planned (nothing was saved; -n KEYS plans for more)" \
            umbel build -q --strict -j $j -n 1000 -p 1e-12 -o more.umb <(seq 1001)
    done
    run --separate-stderr umbel build -f -n 1000 -p 1e-12 -o k.umb <(seq 1001)
    [[ $stderr == *"warning: more keys than the 1,000 planned"* ]]
}

@test "build: --json describes the filter" {
    seq 100 > keys
    umbel build --json -o k.umb keys > made.json
    python3 -c 'import json; m = json.load(open("made.json")); assert m["lines"] == 100 and m["fpr"] == 0.01'
}

@test "build: an empty input makes an empty filter" {
    : > none
    umbel build -q -o k.umb none
    run umbel check -c k.umb <(seq 100)
    [ "$status" -eq 1 ]
    [ "$output" = 0 ]
}

@test "build, add, remove, uniq: the input is not the output, under any name" {
    seq 1 100 > k.txt
    cp k.txt kept
    ln -s k.txt link
    ln k.txt second
    for name in k.txt link ./second; do
        refused "is also the output" umbel build -q -f -o "$name" k.txt
        refused "is also the output" umbel build -q -f -n 100 -o k.txt kept "$name"
        refused "is also the output" umbel uniq -q --state "$name" k.txt
        refused "is also the output" umbel add -q "$name" k.txt
        refused "is also the output" umbel remove -q k.txt "$name"
    done
    refused "standard input: is also the output" bash -c '"$UMBEL" build -q -f -n 9 -o k.txt < link'
    head -c 16 /dev/urandom > secret
    chmod 600 secret
    cp secret kept-secret
    refused "is also the output" umbel build -q -f --secret-file secret -o secret k.txt
    cmp kept-secret secret
    cmp kept k.txt
}

# A pipe is kept until its end, up to a million keys or six million hashes; only then the filter is sized.
@test "build: a pipe gets the filter that a file gets, and a growing one beyond six million keys" {
    seq 5000 > lines
    for p in 1% 1e-5 1e-9; do
        umbel build -q -p $p --lower -f -o file.umb lines
        for j in 1 3; do
            umbel build -q -p $p --lower -j $j -f -o pipe.umb < <(cat lines)
            cmp file.umb pipe.umb
        done
    done
    run --separate-stderr umbel build -f -o one.umb < <(echo hi)
    [[ $stderr == "one.umb: 1 line, 1 key in 32 bytes"* ]]
    umbel build -q -f -o none.umb < <(:)
    run umbel check -q none.umb -e ''
    [ "$status" -eq 1 ]
    run --separate-stderr umbel build -f -o kept.umb < <(seq 1000000)
    [[ $stderr == "kept.umb: 1,000,000 lines"*blocked* ]]
    # More of them are kept as hashes, and so are few that are long.
    seq 1000001 > more
    yes "$(seq 2119)" | head -n 1200000 > repeated
    head -c 20000000 /dev/zero | tr '\0' x | fold -w 1000000 > long
    for text in more repeated long; do
        for p in 1% 1e-4; do
            umbel build -q -p $p -f -o file.umb $text
            for j in 1 3; do
                run --separate-stderr umbel build -p $p -j $j -f -o pipe.umb < <(cat $text)
                [[ $stderr != *"growing filter"* ]]
                cmp file.umb pipe.umb
            done
        done
    done
    for j in 1 3; do
        run --separate-stderr umbel build -j $j -f -o more$j.umb < <(seq 6000001)
        [[ $stderr == *"is a pipe of many keys, whose number is unknown: using a growing filter"*scalable* ]]
        [ "$(umbel check -c more$j.umb <(seq 6000001))" = 6000001 ]
    done
    cmp more1.umb more3.umb
    [ "$(umbel info --json more1.umb | jq '.bytes * 8 / 6000001 < 22')" = true ]
    # Filters that cannot be made of hashes grow earlier.
    run --separate-stderr umbel build -p 1e-9 -f -o low.umb < <(cat more)
    [[ $stderr == *"using a growing filter"*"1,000,001 lines"* ]]
    umbel verify low.umb --present more
}

@test "build: a file with repetitions gets the size of its different keys" {
    yes "$(seq 2119)" | head -n 63621 > lines
    for options in "" "-j 3" "--kind line" "--kind classic" "--kind counting"; do
        umbel build -q -f $options -o f.umb lines
        umbel info --json f.umb | jq -e '.capacity >= 2119 and .capacity < 2200 and .fpr_now < 0.0125'
        [ "$(umbel check -c f.umb <(seq 2119))" -eq 2119 ]
    done
    umbel build -q -f -o f.umb < <(cat lines) # a pipe
    [ "$(umbel info --json f.umb | jq .capacity)" -eq 2119 ]
    umbel build -q -f -n 63621 -o f.umb lines # as told
    [ "$(umbel info --json f.umb | jq .capacity)" -eq 63621 ]
    # Few repetitions are not worth a third reading; good keys are never found.
    seq 1000 | cat - <(seq 200) > some
    umbel build -q -f -o f.umb some
    [ "$(umbel info --json f.umb | jq .capacity)" -eq 1200 ]
    seq 100000 120000 > good
    umbel build -q -f -p 5% --never good -o f.umb lines
    [ "$(umbel check -c f.umb good || true)" -eq 0 ]
    [ "$(umbel check -c f.umb <(seq 2119))" -eq 2119 ]
}
