# SPDX-License-Identifier: MIT
# labels: asan
# info, verify, add, merge, intersect, cmp, fold, convert
load helper

of() { # of FIRST LAST FILE [OPTION...]
    seq "$1" "$2" | umbel build -q -n 2000 -p 1e-6 -o "$3" "${@:4}"
}

@test "info: everything, for people and programs" {
    of 1 1000 k.umb
    run umbel info k.umb
    [ "$status" -eq 0 ]
    [[ $output == *"kind               "*$'\n'"keys               1,000"$'\n'* ]]
    [[ $output == *"planned for        2,000"*"room left          1,000"*"recipe             line"* ]]
    umbel info --json k.umb > info.json
    python3 - <<'P'
import json
i = json.load(open("info.json"))
assert i["keys"] == 1000 and i["capacity"] == 2000 and i["headroom"] == 1000, i
assert i["keys_error"] < 0.5 and i["keys_added"] <= 1000, i
assert 0 < i["fpr_now"] < i["fpr"] <= 1e-6, i
assert i["overfull"] is False and i["recipe"] == "line", i
P
}

@test "a filter that is above its rate with the planned keys is not said to hold more" {
    seq 134 > keys
    run --separate-stderr umbel build -q --kind line --seed 83 -n 134 -p 1% -o unlucky.umb keys
    [ "$status" -eq 3 ]
    [[ $stderr == "umbel: unlucky.umb: warning: exceeds the promised rate: the false-positive rate is 1.06%, not 1%; by chance: another --seed or a slightly larger -n avoids it" ]]
    refused "exceeds the promised rate: the false-positive rate is 1.06%, not 1%; by chance: another --seed or a slightly larger -n avoids it (nothing was saved" \
        umbel build -q --strict --kind line --seed 83 -n 134 -p 1% -o strict.umb keys
    run --separate-stderr umbel merge -q -o both.umb unlucky.umb unlucky.umb
    [ "$status" -eq 3 ]
    [[ $stderr == "umbel: both.umb: warning: exceeds the promised rate; umbel info shows the live rate" ]]
    run umbel verify --absent <(seq 1000001 1300000) unlucky.umb
    [ "$status" -eq 1 ]
    [[ $output == *"promise            broken: the filter exceeds the promised rate"* ]]
    run umbel info unlucky.umb
    [[ $output == *"rate now           1.06%"* ]]
    [[ $output == *"warning            exceeds the promised rate"* ]]
    [[ $output != *"more keys"* ]]
}

@test "info: room and warning at the last key of the plan" {
    seq 999 | umbel build -q -n 1000 -p 1e-12 -o k.umb
    for n in 999 1000 1001; do
        [ $n -eq 999 ] || echo $n | umbel add -q k.umb || [ $? -eq 3 ]
        run umbel info k.umb
        [[ $output == *"keys               "*"room left          $((n < 1000 ? 1000 - n : 0))"$'\n'* ]]
        if [ $n -gt 1000 ]; then [[ $output == *"warning            holds more keys than planned"* ]]
        else [[ $output != *warning* ]]; fi
        umbel info --json k.umb > info.json
        python3 - $n <<'P'
import json, sys
i, n = json.load(open("info.json")), int(sys.argv[1])
assert (i["keys"], i["headroom"], i["overfull"]) == (n, max(0, 1000 - n), n > 1000), i
assert abs(i["bits_per_key"] - i["bits"] / n) < 1e-9 and i["fill"] == round(i["bits_set"] / i["bits"], 12), i
P
    done
}

# The notion of keys in it, everywhere: not the adds that changed a bit.
@test "keys: merged with itself, intersected, folded, other formats, saturated" {
    seq 1000 > keys
    umbel build -n 2000 -p 30% -o a.umb keys 2> said
    [[ $(cat said) =~ "about "(9[5-9][0-9]|1,0[0-4][0-9])" keys in " ]]
    umbel merge -o twice.umb a.umb a.umb 2> said
    [[ $(cat said) != *warning* && $(cat said) =~ "about "(9[0-9][0-9]|1,0[0-9][0-9])" keys in " ]]
    seq 501 1500 | umbel build -q -n 2000 -p 30% -o b.umb
    umbel intersect -q -o both.umb a.umb b.umb
    umbel build -q -n 1000 -p 1% --format guava -o g.guava keys
    umbel build -q -m 32 -n 1 --kind blocked -o full.umb keys || [ $? -eq 3 ]
    python3 - <<'P'
import json, os, subprocess
def info(path, *more):
    return json.loads(subprocess.run([os.environ["UMBEL"], "info", "--json", path, *more], stdout=subprocess.PIPE, check=True).stdout)
for path, keys, near in (("a.umb", 1000, 50), ("twice.umb", 1000, 100), ("both.umb", 500, 100), ("g.guava", 1000, 40)):
    i = info(path, *(["--format", "guava"] if path == "g.guava" else []))
    assert abs(i["keys"] - keys) <= near, (path, i)
    if path != "g.guava": assert not i["overfull"] and abs(i["headroom"] - 2000 + i["keys"]) == 0, (path, i)
i = info("full.umb")
assert i["keys"] is None and i["overfull"] and i["headroom"] == 0, i
P
    [[ $(umbel info full.umb) == *"keys               unknown: every bit is set"* ]]
    umbel add --strict -q twice.umb <(seq 1001 1500)
}

# Whatever room it shows may be filled, or --strict says that it cannot.
@test "keys: --strict never ends well with a rate above the promise" {
    for rate in 5% 30% 50%; do
        for kind in blocked classic; do
            seq 700 | umbel build -q -n 1000 -p $rate --kind $kind -o s.umb 2> /dev/null || continue
            for round in 1 2 3; do
                room=$(umbel info --json s.umb | awk -F '[:, ]+' '/"headroom"/ { print $3 }')
                run umbel add --strict -q s.umb <(seq $((round * 1000)) $((round * 1000 + room - 1)))
                [ "$status" -eq 0 ] || [ "$status" -eq 2 ]
                umbel info --json s.umb | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert i["fpr_now"] <= i["fpr"] and not i["overfull"], i'
            done
            refused "s.umb: " umbel add --strict -q s.umb <(seq 5000 5400)
            refused "t.umb: " umbel build --strict -q -n 1000 -p $rate --kind $kind -o t.umb <(seq 1400)
            [ ! -e t.umb ]
        done
    done
}

@test "info: metadata cannot control the terminal" {
    of 1 10 k.umb --meta "$(printf 'n\033[2J=v\033]0;x\a')" --meta "$(printf 'bytes=\377\376')"
    run umbel info k.umb
    [[ $output != *$'\033'* && $output == *'meta n?[2J'*'v?]0;x?'* ]]
    umbel info --json k.umb > info.json
    python3 -c 'import json; m = json.load(open("info.json"))["meta"]; assert list(m["bytes"]) == ["bytes"], m'
}

@test "verify: damage is found anywhere" {
    of 1 1000 k.umb
    umbel verify k.umb
    size=$(stat -c %s k.umb)
    for at in 0 9 40 100 4095 4096 5000 $((size - 1)); do
        cp k.umb bad.umb
        printf '\x5a' | dd of=bad.umb bs=1 seek="$at" conv=notrunc status=none
        cmp -s k.umb bad.umb && printf '\xa5' | dd of=bad.umb bs=1 seek="$at" conv=notrunc status=none
        refused "umbel: bad.umb: " umbel verify bad.umb
    done
}

@test "verify: --present proves, --absent measures" {
    of 1 1000 k.umb
    run umbel verify k.umb --present <(seq 1000)
    [ "$status" -eq 0 ]
    [[ $output == *"1,000 keys, none missing"* ]]
    run umbel verify k.umb --present <(seq 999 1010)
    [ "$status" -eq 1 ]
    [[ $output == *"10 of 12 keys missing; the first is 1001"* ]]
    run umbel verify -q k.umb --present <(seq 999 1010)
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    # Keys that are in look like a rate far above the promise.
    run umbel verify k.umb --absent <(seq 500 1500)
    [ "$status" -eq 1 ]
    [[ $output == *"promise            broken"* ]]
    umbel verify --json k.umb --absent <(seq 2001 52000) > v.json
    python3 - <<'P'
import json
v = json.load(open("v.json"))
assert v["absent"] == 50000 and v["false_positives"] <= 1 and v["promise_kept"], v
assert v["fpr_low"] <= v["fpr_measured"] <= v["fpr_high"], v
P
}

# 81 of 263: Newcombe 1998, table I, has 0.2553 to 0.3662.
@test "verify: the range for counts that are known" {
    seq 81 | umbel build -q -n 1e6 -p 24% -o k.umb
    seq 263 > some
    [ "$(umbel check -c k.umb some)" -eq 81 ]
    run umbel verify k.umb --absent some
    [ "$status" -eq 0 ]
    [[ $output == *"absent             81 of 263 keys found"* ]]
    [[ $output == *"rate measured      30.8% (95% confidence: 25.5% to 36.6%)"* ]]
    # More than the promise, but within three deviations of it: 23 %.
    [[ $output == *"rate promised      24%"*"promise            kept"* ]]
    umbel verify --json k.umb --absent some > v.json
    python3 - <<'P'
import json
v = json.load(open("v.json"))
assert (v["absent"], v["false_positives"], v["promise_kept"]) == (263, 81, True), v
assert abs(v["fpr_measured"] - 81 / 263) < 1e-9, v
assert abs(v["fpr_low"] - 0.2553) < 6e-5 and abs(v["fpr_high"] - 0.3662) < 6e-5, v
P
    seq 81 | umbel build -q -n 1e6 -p 22% -o less.umb
    run umbel verify less.umb --absent some
    [ "$status" -eq 1 ]
    [[ $output == *"promise            broken, or these keys were added"* ]]
    seq 5 | umbel build -q -n 4 -p 1e-6 -o over.umb || [ $? -eq 3 ]
    run umbel verify over.umb --absent <(seq 5)
    [ "$status" -eq 1 ]
    [[ $output == *"(95% confidence: 56.6% to 100%)"* ]]
    [[ $output == *"promise            broken: the filter holds more keys than planned"* ]]
    run umbel verify k.umb --absent /dev/null
    [ "$status" -eq 0 ]
    [[ $output == *"rate measured      0% (95% confidence: 0% to 100%)"* ]]
}

@test "verify: the first key that is missing, and how many" {
    seq 1000 | umbel build -q -p 1e-9 -n 1000 -o k.umb
    { seq 1000; printf 'gone\tfor good\nlost\n'; } > some
    run umbel verify k.umb --present some
    [ "$status" -eq 1 ]
    [[ $output == *"present            2 of 1,002 keys missing; the first is gone?for good"* ]]
    umbel verify --json k.umb --present some > v.json || [ $? -eq 1 ]
    python3 -c 'import json; v = json.load(open("v.json")); assert (v["present"], v["missing"]) == (1002, 2), v'
    # The first of several, not in the first block, and only its beginning.
    seq 200000 | umbel build -q -p 1e-9 -n 2e5 -o many.umb
    long=$(printf 'x%.0s' {1..100})
    { seq 150000; echo "$long"; seq 150001 200000; echo other; } > some
    for j in 1 3; do
        run umbel verify -j $j many.umb --present some
        [ "$status" -eq 1 ]
        [[ $output == *"2 of 200,002 keys missing; the first is ${long:0:80}" ]]
    done
}

@test "add: keys are added; the file is replaced atomically" {
    of 1 1000 k.umb
    run --separate-stderr umbel add k.umb <(seq 1001 1500)
    [ "$status" -eq 0 ]
    [[ $stderr == "k.umb: 500 lines, 1,500 keys in "* ]]
    [ "$(umbel check -c k.umb <(seq 1500))" -eq 1500 ]
    run --separate-stderr umbel add k.umb <(seq 1501 1700)
    [[ $stderr == *"warning: 85% of the plan is used up: 1,700 of 2,000 keys"* ]]
    cp k.umb almost
    run --separate-stderr umbel add k.umb <(seq 1701 1996)
    [[ $stderr != *warning* ]] # said once
    mv almost k.umb
    cp k.umb before
    refused "more keys than the 2,000 planned (nothing was saved" \
        umbel add -q --strict k.umb <(seq 1701 2500)
    cmp k.umb before
    run --separate-stderr umbel add k.umb <(seq 1701 2500)
    [[ $stderr == *"warning: more keys than the 2,000 planned"* ]]
    run umbel info k.umb
    [[ $output == *"holds more keys than planned"* ]]
}

@test "add: warnings come with the right key, --strict takes exactly the plan" {
    seq 700 | umbel build -q -n 1000 -p 1e-12 -o k.umb
    run --separate-stderr umbel add k.umb <(seq 701 799)
    [ "$status" -eq 0 ]
    [[ $stderr != *warning* ]]
    run --separate-stderr umbel add k.umb <(echo 800)
    [ "$status" -eq 0 ]
    [[ $stderr == "umbel: k.umb: warning: 80% of the plan is used up: 800 of 1,000 keys"* ]]
    run --separate-stderr umbel add --strict k.umb <(seq 801 1000)
    [ "$status" -eq 0 ]
    [[ $stderr != *"more keys than"* ]]
    refused "more keys than the 1,000 planned" umbel add -q --strict k.umb <(echo 1001)
    run --separate-stderr umbel add k.umb <(echo 1001)
    [ "$status" -eq 3 ]
    [[ $stderr == *"warning: more keys than the 1,000 planned"* ]]
}

@test "add: the same keys in any portions give the same bits" {
    of 1 1000 whole.umb
    of 1 300 parts.umb
    umbel add -q parts.umb <(seq 301 1000)
    run umbel cmp whole.umb parts.umb
    [ "$status" -eq 0 ]
}

@test "merge: the union of two and three" {
    of 1 400 a.umb
    of 300 700 b.umb
    of 600 1000 c.umb
    umbel merge -q -o all.umb a.umb b.umb c.umb
    of 1 1000 whole.umb
    run umbel cmp all.umb whole.umb
    [ "$status" -eq 0 ]
}

@test "merge: other seeds, sizes and kinds are refused with a reason" {
    of 1 400 a.umb
    of 1 400 seed.umb --seed 5
    seq 400 | umbel build -q -n 9999 -p 1e-6 -o size.umb
    of 1 400 kind.umb --kind blocked
    of 1 400 lower.umb --lower
    refused "seed.umb: " umbel merge -o x.umb a.umb seed.umb
    refused "(only filters with the same layout, size and seed can be combined)" umbel merge -o x.umb a.umb size.umb
    refused "kind.umb: " umbel merge -o x.umb a.umb kind.umb
    refused "lower.umb: recipe: the filters make keys from records differently" umbel merge -o x.umb a.umb lower.umb
    refused "missing argument" umbel merge -o x.umb a.umb
    [ ! -e x.umb ]
}

@test "intersect: common keys stay" {
    of 1 700 a.umb
    of 500 1200 b.umb
    umbel intersect -q -o both.umb a.umb b.umb
    [ "$(umbel check -c both.umb <(seq 500 700))" -eq 201 ]
    [ "$(umbel check -c both.umb <(seq 1 1200))" -lt 210 ]
}

@test "cmp: equal, subset, superset, overlapping, disjoint" {
    of 1 1000 a.umb
    of 1 1000 same.umb
    of 1 200 part.umb
    of 501 1500 shifted.umb
    of 3000 3900 far.umb
    is() {
        run umbel cmp "$2" "$3"
        [ "$status" -eq "$4" ] && [ "${lines[0]}" = "relation           $1" ] ||
            { echo "$output"; return 1; }
    }
    is equal a.umb same.umb 0
    is subset part.umb a.umb 1
    is superset a.umb part.umb 1
    is overlapping a.umb shifted.umb 1
    is disjoint a.umb far.umb 1
    umbel cmp --json a.umb shifted.umb > c.json || [ $? -eq 1 ]
    python3 - <<'P'
import json
c = json.load(open("c.json"))
assert abs(c["keys_both"] - 500) < 40 and abs(c["jaccard"] - 1 / 3) < 0.03, c
P
    refused "(only filters with the same layout, size and seed can be compared)" \
        umbel cmp a.umb <(seq 9 | umbel build -q -n 9 -o -) || {
        seq 9 | umbel build -q -n 9 -o other.umb
        refused "(only filters with the same layout, size and seed can be compared)" umbel cmp a.umb other.umb
    }
}

@test "fold: smaller, every key stays, the rate holds" {
    seq 1000 | umbel build -q -n 100000 -m 128KiB --kind blocked -o large.umb
    umbel fold -q -p 1% -o small.umb large.umb
    [ "$(stat -c %s small.umb)" -lt "$(stat -c %s large.umb)" ]
    umbel verify small.umb --present <(seq 1000)
    run umbel check -c small.umb <(seq 100001 200000)
    [ "$output" -le 1150 ]
    refused "its false-positive rate is " umbel fold -p 1e-9 -o x.umb small.umb
    seq 100 | umbel build -q -n 100 -m 160 --kind blocked -o odd.umb # five blocks
    run --separate-stderr umbel fold -q -p 50% -o same.umb odd.umb
    [[ $stderr == *"odd.umb: warning: cannot be made smaller"* ]]
    umbel cmp -q odd.umb same.umb
    refused "-p RATE is missing" umbel fold -o x.umb small.umb
}

@test "convert: in place, with -f" {
    cp "$BATS_TEST_DIRNAME/../golden/dcso/a.bloom" plain.bloom
    gzip -c plain.bloom > list.bloom
    refused "list.bloom: already exists" umbel convert -o list.bloom list.bloom
    umbel convert -q -f -o list.bloom list.bloom
    cmp plain.bloom list.bloom
    umbel help convert --all | grep -q 'OUT may be IN itself'
}

@test "convert: native to native keeps everything" {
    of 1 1000 k.umb --meta a=b --lower
    umbel convert -q --from native --to native -o copy.umb k.umb
    cmp k.umb copy.umb
    refused "unknown format 'zip'" umbel convert --to zip -o x.umb k.umb
}

@test "summaries: what was not read is not counted" {
    of 1 1000 a.umb
    of 1 1000 b.umb
    run --separate-stderr umbel merge -o m.umb a.umb b.umb
    [[ $stderr == "m.umb: "*" keys in "* ]]
    [[ $stderr != *lines* ]]
    run --separate-stderr umbel build -n 10 -o one.umb <(echo x)
    [[ $stderr == "one.umb: 1 line, 1 key in "* ]]
    run --separate-stderr umbel build -n 1000 -p 1e-12 -o p.umb <(seq 700)
    run --separate-stderr umbel add p.umb <(seq 701 998)
    [[ $stderr == "umbel: p.umb: warning: 99.8% of the plan is used up: 998 of 1,000 keys"* ]]
}

opens() { # how often a command opens f.umb
    # LeakSanitizer does not work under strace.
    ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o calls -e trace=open,openat,openat2 "$UMBEL" "$@" > out || true
    grep -c '"f\.umb"' calls
}

@test "a filter is opened once, so that all of a command sees the same file" {
    of 1 1000 f.umb
    [ "$(opens info f.umb)" -eq 1 ]
    [ "$(opens check -e 7 f.umb)" -eq 1 ]
    [ "$(opens verify f.umb)" -eq 1 ]
    seq 1 10 > present
    [ "$(opens verify --present present f.umb)" -eq 1 ]
    [ "$(opens fold -p 0.1 -o folded.umb f.umb)" -eq 1 ]
    [ "$(opens add f.umb present)" -eq 1 ]
    printf 0123456789abcdef0123456789abcdef > secret
    [ "$(opens info --secret-file secret f.umb)" -eq 1 ]
}
