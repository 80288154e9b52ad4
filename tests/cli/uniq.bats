# SPDX-License-Identifier: MIT
load helper

@test "uniq: first occurrences in order, as awk finds them" {
    awk 'BEGIN { srand(7); for (i = 0; i < 60000; i++) print "k" int(rand() * 20000) }' > text
    awk '!seen[$0]++' text > expected
    awk 'seen[$0]++' text > repeated
    for j in 1 4; do
        umbel uniq -q -p 1e-9 -n 1e6 -j $j text | cmp - expected
        umbel uniq -q -p 1e-9 -n 1e6 -j $j -d text | cmp - repeated
        umbel uniq -q -p 1e-9 -n 1e6 --kind blocked -j $j < text | cmp - expected
    done
}

@test "uniq: --state remembers across runs" {
    seq 1 100 | umbel uniq -q -p 1e-6 -n 1000 --state s.umb | cmp - <(seq 1 100)
    seq 51 150 | umbel uniq -q --state s.umb | cmp - <(seq 101 150)
    umbel info --json s.umb | grep -q '"keys_added": 150,'
    run --separate-stderr umbel uniq -p 1e-6 -n 1000 --state s.umb <(seq 5)
    [ "${#stderr_lines[@]}" -eq 1 ] # the same plan: nothing to tell but the summary
    run --separate-stderr umbel uniq -n 5000 --state s.umb <(seq 5)
    [[ $stderr == "umbel: s.umb: is there already: its own plan holds, not what is given here"* ]]
}

@test "uniq: an error leaves the old state" {
    seq 1 100 | umbel uniq -q -n 1000 --state s.umb > /dev/null
    cp s.umb before
    refused "missing: No such file" umbel uniq -q --state s.umb missing
    cmp s.umb before
    if [ -e /dev/full ]; then
        seq 200 100000 > more
        run bash -c '"$UMBEL" uniq -q --state s.umb more > /dev/full'
        [ "$status" -eq 2 ]
        [[ $output == "umbel: standard output: No space left on device" ]]
    fi
}

@test "uniq: tells how many new lines it expects to have dropped" {
    run --separate-stderr umbel uniq -n 100000 -p 1% <(seq 100000)
    [ "$status" -eq 0 ]
    [[ $stderr =~ "100,000 lines, "([0-9,]+)" of them new; about "([0-9.]+)" new ones taken for old" ]]
    dropped=$((100000 - ${BASH_REMATCH[1]//,/}))
    expected=${BASH_REMATCH[2]%.*}
    # The rate grows from 0 to 1 %, so some hundreds; both numbers agree within five deviations.
    [ "$expected" -gt 50 ] && [ "$expected" -lt 1000 ]
    [ $((dropped - expected)) -lt $((expected / 2)) ] && [ $((expected - dropped)) -lt $((expected / 2)) ]
}

@test "uniq: warns beyond the plan, --strict stops" {
    run --separate-stderr umbel uniq -n 1000 -p 1e-6 <(seq 5000)
    [ "$status" -eq 0 ]
    [[ $stderr == *"warning: more keys than the 1,000 planned"* ]]
    run --separate-stderr umbel uniq --strict -n 1000 -p 1e-6 --state s.umb <(seq 5000)
    [ "$status" -eq 2 ]
    [ ! -e s.umb ]
}

@test "uniq: the key may be a field, lines stay whole" {
    printf '1 a\n2 b\n1 c\n' > text
    [ "$(umbel uniq -q -k 1 text)" = "$(printf '1 a\n2 b')" ]
    umbel uniq -q -k 1 --state s.umb text > /dev/null
    [ "$(printf '3 x\n2 y\n' | umbel uniq -q --state s.umb)" = "3 x" ]
}
