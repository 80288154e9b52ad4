# SPDX-License-Identifier: MIT
# umbel build --universe: filters that are never wrong about keys that were known.
load helper

@test "universe: no known key is answered wrongly, and every face says for whom" {
    seq 20000 > members
    seq 19991 400000 > good
    run --separate-stderr umbel build --universe good -o f.umb members
    [ "$status" -eq 0 ]
    [[ $stderr == *"good keys: warning: listed as well: 10; they are found"* ]]
    [[ $stderr == *"20,000 keys in "*", exact for 400,000 known keys, 3.12% for others"* ]]
    [[ $stderr != *"false-positive rate"* ]]
    [ "$(umbel check -c f.umb members)" -eq 20000 ]
    [ "$(umbel check -c f.umb good)" -eq 10 ]
    [ "$(seq 500001 600000 | umbel check -c f.umb)" -gt 2850 ]
    [ "$(seq 500001 600000 | umbel check -c f.umb)" -lt 3400 ]
    umbel info f.umb | grep -q '^exact for  *400,000 known keys, 3.12% for others$'
    [ "$(umbel info --json f.umb | jq .universe)" = 380000 ]
    [ "$(umbel info --json f.umb | jq '.bytes * 8 / .keys < 6.4')" = true ]
    umbel verify -q f.umb
}

@test "universe: several files, --never, pipes and --tmp make the same bytes" {
    seq 5000 > members
    seq 5001 40000 > a
    seq 30000 90000 > b
    umbel build -q --universe a --universe b -o one.umb members
    umbel build -q --universe a --never b --tmp . -o two.umb < members
    cat b a a | umbel build -q --universe /dev/stdin --threads 2 -o three.umb members
    cmp one.umb two.umb
    cmp one.umb three.umb
}

@test "universe: a lower rate for others, or a size" {
    seq 5000 > members
    seq 5001 90000 > good
    umbel build -q --universe good -p 1e-4 -o f.umb members
    [ "$(umbel info --json f.umb | jq '.fpr_now <= 1e-4')" = true ]
    umbel build -q --universe good -m 8KiB -o g.umb members
    [ "$(umbel info --json g.umb | jq '.bytes <= 8192 and .bytes > 7000')" = true ]
    [ "$(umbel check -c g.umb members)" -eq 5000 ]
    [ "$(umbel check -c g.umb good)" -eq 0 ]
    run umbel build -q --universe good -m 2KiB -o h.umb members
    [ "$status" -eq 2 ]
    [ ! -e h.umb ]
}

@test "universe: the recipe makes the keys of the universe, and names bring their parents" {
    printf 'bad.example\n' > list
    for i in $(seq 2000); do printf 'a%s.ok%s.example\n' "$i" "$i"; done > good
    umbel build -q --domains --universe good -o f.umb list
    umbel check -q f.umb -e http://www.bad.example/x
    [ "$(umbel check -c f.umb good)" -eq 0 ]
    [ "$(sed 's/^[^.]*\.//' good | umbel check -c f.umb)" -eq 0 ]
    printf 'Name,Mail\nx,ADA@EXAMPLE.ORG\n' > m.csv
    printf 'Name,Mail\ny,BOB@example.org\n' > g.csv
    umbel build -q --csv --header -k Mail --lower --universe g.csv -o c.umb m.csv
    [ "$(umbel check -c c.umb m.csv)" -eq 1 ]
    [ "$(umbel check -c c.umb g.csv)" -eq 0 ]
}

@test "universe: none of either" {
    : > none
    seq 100 > some
    umbel build -q --universe some -o f.umb none
    [ "$(umbel check -c f.umb some)" -eq 0 ]
    umbel build -q --universe none -o g.umb some
    [ "$(umbel check -c g.umb some)" -eq 100 ]
    umbel verify -q f.umb
    umbel verify -q g.umb
}

@test "universe: what contradicts it is refused by name" {
    seq 10 > some
    run umbel build --universe some --kind tight -o f.umb some
    [ "$status" -eq 2 ]
    [[ $output == *"--universe: not for --kind tight"* ]]
    run umbel build --kind exact -o f.umb some
    [ "$status" -eq 2 ]
    [[ $output == *"--universe FILE"* ]]
    run umbel build --universe some --format leveldb -o f.umb some
    [ "$status" -eq 2 ]
    run umbel build --universe absent -o f.umb some
    [ "$status" -eq 2 ]
    run umbel build --universe some --max-memory 64 -o f.umb some
    [ "$status" -eq 2 ]
    [[ $output == *"--tmp DIR"* ]]
    [ ! -e f.umb ]
}

@test "universe: plan says what it takes, and what it is for others" {
    run umbel plan -n 117e3 --universe 8.16e6
    [ "$status" -eq 0 ]
    [[ $output == *"117,000 keys among 8,277,000 that are known"* ]]
    [[ $output == *"Other keys are found at a rate of 0.781%"* ]]
    [ "$(umbel plan -n 117e3 --universe 8.16e6 --json | jq '.chosen.bits_per_key < 8.2')" = true ]
    umbel plan -n 117e3 --universe 8.16e6 -p 1e-4
    run umbel plan -n 117e3 --universe 8.16e6 --kind tight
    [ "$status" -eq 2 ]
    [[ $output == *"--universe: not for --kind tight"* ]]
    run umbel plan -n 117e3 --universe 8.16e6 --format guava
    [ "$status" -eq 2 ]
    ! umbel plan -n 117e3 -p 1% | grep -q exact
}

@test "universe: standard input is read once" {
    seq 5 > members
    for args in "--universe -" "--universe - -" "--never - -p 1% -"; do
        # shellcheck disable=SC2086 # words
        run umbel build -f $args -o f.umb < members
        [ "$status" -eq 2 ]
        [[ $output == *"standard input: can be read only once"* ]]
    done
    seq 6 9 | umbel build -q -f --universe - -o f.umb members
    [ "$(umbel check -c f.umb members)" = 5 ]
}
