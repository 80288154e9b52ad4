# SPDX-License-Identifier: MIT
load helper

@test "plan: two billion keys in 500 MiB, in plain language" {
    run umbel plan -n 2e9 -m 500MiB
    [ "$status" -eq 0 ]
    text=$(tr -s ' \n' ' ' <<< "$output")
    [[ $text == *"2,000,000,000 keys in 500 MiB is 2.10 bits per key."* ]]
    [[ $text == *"No filter of any kind can have a false-positive rate below 23.4% there."* ]]
    [[ $text == *"Of the kinds here, tight gets 24."*"If keys must be added later, classic gets 37.8%."* ]]
    [[ $text == *"No filter of any kind can reach 1% in that space."* ]]
    [[ $text == *"With classic, these keys take 2.23 GiB at 1%. With classic, 500 MiB holds 437,"*" keys at 1%."* ]]
    [[ $output == *"hash set of 4-byte hashes    7.45 GiB"* ]]
    [[ $output == *"bitmap"*"512 MiB"* ]]
}

@test "plan: any two of keys, rate and memory" {
    run umbel plan -n 1e6 -p 1%
    [ "$status" -eq 0 ]
    [[ $output == *"classic"*"1.14 MiB"*"9.60"*"7"* ]]
    run umbel plan -m 1MiB -p 1%
    [ "$status" -eq 0 ]
    [[ $output =~ classic\ +873,[0-9]{3} ]]
}

@test "plan: given all three, says whether they are possible together" {
    run umbel plan -n 1000 -p 1% -m 1M
    [ "$status" -eq 0 ]
    [[ $output == *"1% is possible."* ]]
    run umbel plan -n 2e9 -p 1% -m 500MiB
    [ "$status" -eq 1 ]
    [[ $output == *"No filter of any kind can reach 1% in that space"* ]]
}

@test "plan: --domains says the promise per name, which is asked with its parents" {
    umbel plan -n 2M -p 1e-6 --domains --kind tight | tr '\n' ' ' | grep -q 'its rate is at most 1 in 500,000 with 2 labels, 1 in 250,000 with 4\.'
    umbel plan -n 2M -p 40% --domains | tr '\n' ' ' | grep -Eq 'at most (79|80)(\.[0-9]+)?% with 2 labels, 100% with 4\.'
    [ "$(umbel plan -n 2M -p 1e-6 --domains --kind tight --json | python3 -c 'import json, sys; print(round(json.load(sys.stdin)["fpr_4_labels"] * 1e6))')" = 4 ]
    refused "--domains and --format contradict" umbel plan -n 2M --domains --format guava
}

@test "plan: --kind shows that kind alone" {
    run umbel plan -n 1e6 -p 1% --kind blocked
    [ "$status" -eq 0 ]
    [[ $output == *blocked* ]]
    [[ $output != *classic* ]]
}

@test "plan: the plot is printed with --plot, not by default in a pipe" {
    run umbel plan -n 1e6 -p 1%
    [[ $output != *"the plan"* ]]
    run umbel plan -n 1e6 -p 1% --plot
    [[ $output == *"1.00x"*" the plan"* ]]
    # However low the rate, the plan has a bar, and nothing is wider than a terminal.
    for p in 1e-9 1e-15 50%; do
        LC_ALL=C.UTF-8 umbel plan -n 1e6 -p $p --plot > plot
        grep -q '1.00x .*██.* the plan' plot
        [ "$(python3 -c 'print(max(len(l.rstrip("\n")) for l in open("plot", encoding="utf-8")))')" -le 80 ]
    done
}

@test "plan: --json has the same numbers" {
    umbel plan -n 2e9 -m 500MiB --json > plan.json
    python3 - <<'P'
import json
p = json.load(open("plan.json"))
kinds = {k["kind"]: k for k in p["kinds"]}
assert p["keys"] == 2000000000 and p["bytes"] == 500 << 20, p
assert abs(kinds["classic"]["fpr"] - 0.378) < 0.001, kinds
assert abs(kinds["classic"]["bound"] - 0.234) < 0.001, kinds
assert len(p["curve"]) == 9 and p["curve"][0]["fpr"] < p["curve"][-1]["fpr"]
P
}

@test "plan: sizes and rates in every notation" {
    for size in 1048576 1MiB 1M 1024K 1024KiB "1 MiB"; do
        run umbel plan -p 1% -m "$size" --json
        [[ $output == *'"bytes": 1048576,'* ]] || { echo "$size: $output"; return 1; }
    done
    run umbel plan -p 1% -m 1MB --json
    [[ $output == *'"bytes": 1000000,'* ]]
    for rate in 1% 0.01 1/100 1e-2 "1 %"; do
        run umbel plan -n 1000 -p "$rate" --json
        [[ $output == *'"fpr": 0.01,'* ]] || { echo "$rate: $output"; return 1; }
    done
    for keys in 2000000000 2e9 2G 2000M 0.002T; do
        run umbel plan -n "$keys" -p 1% --json
        [[ $output == *'"keys": 2000000000,'* ]] || { echo "$keys: $output"; return 1; }
    done
}

@test "plan: what umbel prints it also takes" {
    for size in 11.4MiB "11.4 MiB" 6.28MiB "32 bytes" .5GiB; do
        run umbel plan -p 1% -m "$size" --json
        [ "$status" -eq 0 ] || { echo "$size: $output"; return 1; }
    done
    run umbel plan -p "1 in 1,000,000" -n 1,000,000 --json
    [[ $output == *'"keys": 1000000,'*'"fpr": 1e-6,'* ]]
    run umbel plan -p .01 -n 1000 --json
    [[ $output == *'"fpr": 0.01,'* ]]
    help=$(umbel plan --help | tr -s " \n" " ")
    [[ $help == *"here M is a million"*"here M is MiB"* ]]
}

@test "plan: it does not contradict itself" {
    # 11.41 MiB is enough for a blocked filter; a little less is not, and it says how much is.
    need=$(umbel plan -n 10M -p 1% --kind blocked --json | awk -F '[:, ]+' '/"bytes"/ { print $3; exit }')
    run umbel plan -n 10M -p 1% --kind blocked -m "$need"
    [ "$status" -eq 0 ]
    [[ $output == *"1% is possible."* ]]
    run umbel plan -n 10M -p 1% --kind blocked -m $((need - 1))
    [ "$status" -eq 1 ]
    text=$(tr -s ' \n' ' ' <<< "$output")
    [[ $text == *"blocked does not reach 1% in that space. With blocked, these keys take "*" bytes at 1%."* ]]
    [[ $text != *"With classic"* ]]
    # The rate is 1% where build also takes that.
    [ "$(umbel plan -n 1e6)" = "$(umbel plan -n 1e6 -p 1%)" ]
    [ "$(umbel plan -m 1M)" = "$(umbel plan -m 1M -p 1%)" ]
}

@test "plan: invalid values are refused with a hint" {
    refused "two of -n KEYS, -p RATE and -m SIZE" umbel plan
    refused "two of -n KEYS, -p RATE and -m SIZE" umbel plan -p 1%
    refused "'abc' is not a number" umbel plan -n abc -p 1%
    refused "'-5' is not a number" umbel plan -n -5 -p 1%
    refused "must be at least 1" umbel plan -n 0 -p 1%
    refused "must be at least 1" umbel plan -n 5 -m 0
    refused "'1.5' is not a number" umbel plan -n 1.5 -p 1%
    refused "'0x10' is not a number" umbel plan -n 0x10 -p 1%
    refused "'nan' is not a size" umbel plan -n 5 -m nan
    for huge in 1e30 1e99 1e999 18446744073709551616 99999999P; do
        refused "'$huge' is too large" umbel plan -n $huge -p 1%
    done
    refused "'1e30' is too large" umbel plan -n 5 -m 1e30
    refused "'1,00' is not a number" umbel plan -n 1,00 -p 1%
    for rate in 0 1 150% 100% 0% -1 1e999 inf nan 5/0 x 1%%; do
        refused "'$rate' is not a rate (between 0 and 1" umbel plan -n 5 -p "$rate"
    done
    refused "unknown kind 'round' (" umbel plan -n 5 -p 1% --kind round
    refused "unexpected argument 'more'" umbel plan -n 5 -p 1% more
}

# The widest numbers that there are, and what people ask for.
@test "plan: fits 80 columns, in any locale" {
    for locale in C C.UTF-8; do
        for what in "-n 1e6 -p 1%" "-n 2e9 -m 500MiB" "-n 10 -p 1e-9" "-n 1e15 -p 1e-6" \
            "-m 500MiB -p 0.01%" "-n 1e6 -p 1% -m 10K" "-n 1e6 -p 1% -m 1M" \
            "-n 1e6 -p 1% --format redisbloom" "-n 1e9 -p 1e-6 --format leveldb"; do
            LC_ALL=$locale "$UMBEL" plan $what --plot > out || true
            python3 - "$what" <<'P'
import sys
for line in open("out", encoding="utf-8"):
    assert len(line.rstrip("\n")) <= 80, (sys.argv[1], line)
P
        done
    done
}

@test "plan: the plot has a logarithmic axis, blocks where the locale has them" {
    LC_ALL=C "$UMBEL" plan -n 1e6 -p 1% --plot > ascii
    LC_ALL=C.UTF-8 "$UMBEL" plan -n 1e6 -p 1% --plot > utf8
    run grep -c '[^ -~]' ascii
    [ "$output" = 0 ]
    grep -q '█' utf8
    grep -q '┴' utf8
    python3 - <<'P'
rows = [l for l in open("ascii") if "x " in l[:7]]
bars = [l.count("#") for l in rows]
assert len(rows) == 9 and bars == sorted(bars) and bars[0] > 0, bars
# Eight decades in 48 cells: 1% is a quarter from the right.
assert 34 <= bars[4] <= 37, bars
assert "1%" in open("ascii").read().splitlines()[-1]
P
}

@test "plan: formats with many keys stay in their columns" {
    run umbel plan --format redisbloom -n 1234567890 -p 1%
    [ "${#lines[0]}" -eq "${#lines[1]}" ]
    [[ ${lines[1]} == *" 1.23 G "* ]]
}

@test "plan: what is built once has no curve" {
    umbel plan -n 1e6 -p 1% --kind tight --plot > out
    grep -q "^A filter of kind tight is built once" out
    ! grep -q "the plan" out
}
