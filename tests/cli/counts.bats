# SPDX-License-Identifier: MIT
# labels: asan
# umbel count, uniq -c and --top, umbel diff: next to sort, uniq and comm
load helper

@test "counts: count is exact for few keys, within its error for many" {
    [ "$(printf 'a\nb\na\n' | umbel count -q)" -eq 2 ]
    [ "$(umbel count -q /dev/null)" -eq 0 ]
    for j in 1 3; do
        [ "$(seq 65536 | cat - <(seq 1000) | umbel count -q -j $j)" -eq 65536 ]
        n=$(urls 1 300000 | umbel count -q -j $j)
        [ "$n" -gt 284000 ] # 6.5 standard errors: the hashes differ from run to run
        [ "$n" -lt 316000 ]
    done
    run --separate-stderr umbel count <(seq 100000) <(seq 100000)
    [[ $stderr == "count: 200,000 lines, an estimate: between "*" (95%)" ]]
    seq 100000 | umbel count --json > got
    jq -e '.lines == 100000 and .distinct_error > 700 and .distinct_error < 900' got
    [ "$(seq 9 | umbel count --json | jq -c '[.distinct, .distinct_error]')" = "[9,0]" ]
}

@test "counts: lines with equal hashes, once their seed is known, are counted apart" {
    { printf 'alice@example.com\n%.0s' 1 2; printf '\x15\x38\x54\xbd\xb8\x52\x5d\x7e\n'; } > lines
    [ "$(umbel count -q lines)" -eq 2 ]
    umbel uniq -c -q lines > got
    LC_ALL=C sort lines | LC_ALL=C uniq -c | LC_ALL=C sort > want
    LC_ALL=C sort got | cmp - want
    umbel uniq --top 5 -q lines > got
    LC_ALL=C sort got | cmp - want
    [ "$(head -n 1 got)" = "      2 alice@example.com" ]
}

@test "counts: count takes keys, and says which lines have none" {
    printf 'x,A\ny,a\nz\n' > t.csv
    run --separate-stderr umbel count --csv -k 2 --lower t.csv
    [ "$status" -eq 3 ]
    [ "$output" = 1 ]
    [[ $stderr == *"warning: 1 line does not have the field: skipped"* ]]
    refused "No such file" umbel count nothing
    refused "unknown option" umbel count -n 5
}

@test "counts: uniq -c agrees with sort and uniq, in order of first occurrence" {
    awk 'BEGIN { srand(7); for (i = 0; i < 200000; i++) print int(exp(rand() * 11)) }' > stream
    sort stream | uniq -c | sort > truth
    for j in 1 3; do
        umbel uniq -q -c -j $j stream > got
        sort got | cmp - truth
    done
    awk '!seen[$0]++' stream | cmp - <(awk '{ print $2 }' got)
    sort stream | uniq -cd | sort | cmp - <(umbel uniq -q -cd stream | sort)
    run --separate-stderr umbel uniq -c stream
    [[ $stderr == "uniq: 200,000 lines, $(wc -l < truth | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\b/\1,\2/;ta') different; in "* ]]
    [ "$(umbel uniq -c --json=/dev/stderr stream 2>&1 > /dev/null | jq .distinct)" -eq "$(wc -l < truth)" ]
}

@test "counts: uniq -c with fields, headers and lines without a key" {
    printf 'k,v\na,1\nb,2\na,3\n' > t.csv
    [ "$(umbel uniq -q -c --csv -k k t.csv)" = $'k,v\n      2 a,1\n      1 b,2' ]
    printf 'a x\nb\nc x\nb\n' > short
    run --separate-stderr umbel uniq -q -c -k 2 short
    [ "$status" -eq 3 ]
    [ "$output" = $'      2 a x\n      1 b\n      1 b' ]
    refused "--state and --count contradict each other" umbel uniq -c --state s.umb short
    refused "--keys and --count contradict each other" umbel uniq -c -n 100 short
    seq 100000 > many
    refused "more keys than --max-memory has room for" umbel uniq -c --max-memory 100K many
}

@test "counts: uniq -d, -D, -u and -c print the lines that coreutils' print, from files, pipes and packed input" {
    awk 'BEGIN { srand(5); for (i = 0; i < 60000; i++) print int(exp(rand() * 11)) }' > stream
    gzip -k stream
    mkfifo pipe
    for option in -d -D -u -c -cd -cu; do
        LC_ALL=C sort stream | LC_ALL=C uniq $option | LC_ALL=C sort > want
        [ -s want ]
        for j in 1 3; do
            umbel uniq -q $option -j $j stream | LC_ALL=C sort | cmp - want
            cat stream | umbel uniq -q $option -j $j | LC_ALL=C sort | cmp - want
        done
        umbel uniq -q $option < stream.gz | LC_ALL=C sort | cmp - want
        umbel uniq -q $option stream.gz | LC_ALL=C sort | cmp - want
        umbel uniq -q $option <(cat stream) | LC_ALL=C sort | cmp - want
        cat stream > pipe &
        umbel uniq -q $option pipe | LC_ALL=C sort | cmp - want
    done
    # Lines stay in input order; --tmp is where a pipe is kept, and nothing stays there.
    printf 'b\na\nb\nc\na\nb\n' > t
    [ "$(umbel uniq -q -d t | paste -sd ' ')" = "b a" ]
    [ "$(umbel uniq -q -D t | paste -sd ' ')" = "b a b a b" ]
    [ "$(umbel uniq -q --repeats t | paste -sd ' ')" = "b a b" ]
    mkdir kept
    [ "$(umbel uniq -q -u --tmp kept < <(cat t))" = c ]
    [ -z "$(ls -A kept)" ]
    refused "No such file" umbel uniq -u --tmp nowhere < <(cat t)
    refused "--all-repeated and --count contradict" umbel uniq -cD t
    refused "--repeats prints every repetition, as -d did before 0.4" umbel uniq -d --state s.umb t
}

@test "counts: --top is exact while there is a counter for every key" {
    awk 'BEGIN { srand(3); for (i = 0; i < 100000; i++) print int(exp(rand() * 10)) }' > stream
    sort stream | uniq -c | sort -k1,1nr -s | awk 'NR <= 10 { print $1 }' > truth
    for j in 1 3; do
        umbel uniq --top 10 -j $j < stream > got 2> err
        awk '{ print $1 }' got | cmp - truth
        grep -q "counts are exact" err
    done
    while read -r count key; do [ "$(grep -cx "$key" stream)" -eq "$count" ]; done < got
    [ "$(printf 'b\na\nb\n' | umbel uniq -q --top 5)" = $'      2 b\n      1 a' ]
}

@test "counts: --top beyond its counters says how wrong it may be, and is not more wrong" {
    # 300,000 keys once, and 20 keys 500 to 10,000 times, mixed.
    awk 'BEGIN { srand(5); for (i = 0; i < 300000; i++) print "once" i
                 for (k = 1; k <= 20; k++) for (i = 0; i < 500 * k; i++) print "often" k }' |
        shuf --random-source=<(yes) > stream
    umbel uniq --top 15 stream > got 2> err
    [ "$(wc -l < got)" -eq 15 ]
    grep -q "counts are at most [1-9][0-9]* too high" err
    sed 's/^ *\([0-9]*\)-\([0-9]*\) often/\1 \2 /; s/^ *\([0-9]*\) often/\1 \1 /' got |
        awk -v at=20 '{ if ($1 > 500 * $3 || $2 < 500 * $3 || $3 != at--) exit 1 }'
    # Nothing stands out: that is said too.
    run --separate-stderr umbel uniq -q --top 3 <(seq 200000)
    [ "$status" -eq 3 ]
    [[ $stderr == *"warning: 3 of these lines may not belong to the top 3"* ]]
    refused "contradict each other (--repeats prints every repetition, as -d did before 0.4)" umbel uniq --top 3 -d stream
    refused "at least 1" umbel uniq --top 0 stream
}

@test "counts: diff prints lines of A that are not in B, and leaves out at most the rate" {
    urls 1 30000 > a
    urls 10001 50000 > b
    urls 1 10000 > truth
    for j in 1 3; do
        umbel diff -q --exact -j $j a b | cmp - truth
        umbel diff -q -p 1% -j $j a b > got
        comm -13 <(sort truth) <(sort got) | cmp - /dev/null # certainly not in B
        [ "$(wc -l < got)" -ge 9850 ]                         # 1% of 10,000, and five deviations
    done
    run --separate-stderr umbel diff a b
    [[ $stderr == "diff: 30,000 lines, "*" of them not in b; about "*" such lines left out ("*")" ]]
    run --separate-stderr umbel diff --exact --json -c a b
    [ "$(jq -c '[.lines, .selected, .lost_estimated]' <<< "$output")" = "[30000,10000,0]" ]
    [ "$(umbel diff -q -n 40000 - b < a | wc -l)" -ge 9900 ]
    [ "$(umbel diff -q a - < b | wc -l)" -ge 9900 ]
    run umbel diff -q a a
    [ "$status" -eq 1 ]
    [ -z "$output" ]
}

@test "counts: diff by keys, and what it refuses" {
    printf 'id,name\n1,Ada\n2,Bob\n' > a.csv
    printf 'name\nada\n' > b.csv
    [ "$(umbel diff -q --exact --csv -k name --lower a.csv b.csv)" = $'id,name\n2,Bob' ]
    run --separate-stderr umbel diff -q -k 2 <(printf 'a b\nc\n') <(printf 'z b\nq\n')
    [ "$status" -eq 3 ]
    [ "$output" = c ]
    [[ $stderr == *"skipped"*"printed"* ]]
    refused "cannot be both A and B" umbel diff - -
    refused "missing argument" umbel diff a.csv
    seq 3 | umbel diff -q --exact - <(seq 2 9) | cmp - <(echo 1)
    refused "No such file" umbel diff a.csv nothing
    seq 2000 > many
    run --separate-stderr umbel diff -q -n 100 many many
    [ "$status" -eq 3 ]
    [[ $stderr == *"many: warning: "*"100 planned"* ]]
}

@test "counts: --top says by how much a count may be too high" {
    # Every counter has 1 when X takes one over: it may have been counted once before.
    [ "$({ seq 65536; echo X; echo X; } | umbel uniq -q --top 1)" = "2-3 X" ]
}

@test "counts: no sum is impossible" {
    run --separate-stderr umbel count <(seq 65537)
    [ "$output" = 65537 ] # it counted so many one by one
    [[ $stderr == *"counted exactly" ]]
    for n in 65538 70000 100000 200000; do
        umbel count --json <(seq $n) | jq -e ".distinct <= $n and .distinct > 0.95 * $n"
    done
    for options in "-m 600K" "-m 60K" "-m 6K" "--kind auto -n 9000"; do
        umbel uniq -q --json=report $options <(seq 200000) > out || [ $? -eq 3 ]
        jq -e '.lost_estimated == null or .lost_estimated + .new <= .lines' report
    done
}
