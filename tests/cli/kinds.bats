# SPDX-License-Identifier: MIT
# What the kinds beyond blocked and classic can and cannot do
load helper

@test "kinds: static is the smallest, from files and pipes, with any number of threads" {
    urls 1 50000 > keys
    urls 1 50000 other > others
    umbel build -q --kind static -p 1% -o s.umb keys
    umbel build -q --kind classic -p 1% -o c.umb keys
    [ "$(stat -c %s s.umb)" -lt "$(stat -c %s c.umb)" ]
    umbel verify -q s.umb --present keys --absent others
    umbel build -q --kind static -p 1% -j 3 -o j.umb < <(cat keys)
    cmp s.umb j.umb
    umbel build -q --kind static -p 1% --tmp . -o t.umb keys
    cmp s.umb t.umb
    refused "static filters are built once and cannot be changed (build it again from all of its keys)" \
        umbel add -q s.umb keys
    refused "keys cannot be removed from this kind" umbel remove -q s.umb keys
}

@test "kinds: the key rule and metadata of a static filter are stored" {
    printf 'Ada\nBob\n' | umbel build -q --kind static -p 1e-6 --lower --meta from=test -o s.umb
    [ "$(printf 'ADA\neve\n' | umbel check s.umb)" = ADA ]
    umbel info s.umb | grep -q 'meta from          test'
}

@test "kinds: keys removed from a counting filter are gone, the others stay" {
    seq 1 2000 | umbel build -q --kind counting -n 5000 -p 1e-6 -o c.umb
    umbel remove -q c.umb <(seq 1001 2000)
    [ "$(umbel check -c c.umb <(seq 1 2000))" -eq 1000 ]
    umbel verify -q c.umb --present <(seq 1 1000)
    umbel info --json c.umb | grep -q '"keys": 1000,'
    run --separate-stderr umbel remove c.umb <(seq 995 1005)
    [ "$status" -eq 1 ]
    [[ $stderr == *"5 keys were not in"* ]]
    [ "$(umbel check -c c.umb <(seq 1 2000))" -eq 994 ]
    seq 9 | umbel build -q -n 9 -o b.umb
    cp b.umb before
    refused "keys cannot be removed from this kind (build it with --kind counting" umbel remove b.umb <(seq 9)
    cmp b.umb before
}

@test "kinds: scalable grows and keeps its rate" {
    seq 60000 | umbel build -q --kind scalable -n 1000 -p 1% -o s.umb
    umbel verify -q s.umb --present <(seq 60000) --absent <(seq 100001 200000)
    run --separate-stderr umbel add s.umb <(seq 60001 90000)
    [ "${#stderr_lines[@]}" -eq 1 ] # no warning: it is allowed
    umbel verify -q s.umb --present <(seq 90000) --absent <(seq 100001 200000)
    umbel uniq -q --kind scalable -n 1000 -p 1e-6 <(seq 50000; seq 50000) | cmp - <(seq 50000)
}

@test "kinds: every kind is planned" {
    run umbel plan -n 1e6 -p 1%
    for kind in blocked classic static counting scalable; do
        [[ $output =~ $'\n'$kind\ +1,000,000 ]] || { echo "$kind: $output"; return 1; }
    done
}

@test "kinds: uniq --window forgets, and remembers the last N" {
    # 1 is repeated after 500 others (within the window of 1000) and after 5000 (forgotten).
    { echo 1; seq 10001 10500; echo 1; seq 20001 25000; echo 1; } > text
    run --separate-stderr umbel uniq --window 1000 -p 1e-9 text
    [ "$status" -eq 0 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ "$(grep -cx 1 <<< "$output")" -eq 2 ]
    [ "${#lines[@]}" -eq 5502 ]
    # Across runs, and an endless stream causes no warning of a full plan.
    seq 1 800 | umbel uniq -q --window 1000 -p 1e-9 --state w.umb | cmp - <(seq 1 800)
    seq 701 1500 | umbel uniq -q --window 1000 -p 1e-9 --state w.umb | cmp - <(seq 801 1500)
    run --separate-stderr bash -c 'seq 2001 9000 | "$UMBEL" uniq --state w.umb'
    [ "${#stderr_lines[@]}" -eq 1 ]
    run --separate-stderr umbel add w.umb <(seq 10001 20000)
    [ "${#stderr_lines[@]}" -eq 1 ]
    run umbel info w.umb
    [[ $output == *"remembers the last 1,000"* && $output != *planned* ]]
    refused "--window and --keys contradict" umbel uniq --window 5 -n 5 text
}
