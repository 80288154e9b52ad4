# SPDX-License-Identifier: MIT
# labels: asan
# What check prints about lines, exact answers, filters that are replaced, and keys of -e
load helper

make_filter() {
    seq 100 > keys
    umbel build -q -n 100 -p 20% --kind classic -o f.umb keys
    seq 51 1150 > lines
    : > empty
}

@test "lookup: --line-number and -H print what grep -nH prints" {
    make_filter
    grep -nHxFf keys lines > truth
    umbel check --verify-with keys --line-number -H f.umb lines > got
    cmp truth got
    [ "$(umbel check --line-number f.umb --skip-empty <(printf '\n\n7\n\n8\n'))" = $'3:7\n5:8' ]
    [ "$(umbel check -H f.umb < keys | head -1)" = "standard input:1" ]
    [ "$(umbel check --line-number -v f.umb <(printf '1\nx\n2\ny\n') -j 2)" = $'2:x\n4:y' ]
    # Records of CSV, of which a header is the first.
    [ "$(printf 'id,k\n1,5\n2,"x\ny"\n3,6\n' | umbel check --line-number --csv -k k f.umb)" = $'2:1,5\n4:3,6' ]
}

@test "lookup: -c -H counts each file, with -j and --json, empty and missing ones too" {
    make_filter
    seq 40 60 > other
    for j in 1 3; do
        run --separate-stderr umbel check --verify-with keys -cH -j $j f.umb lines empty other
        [ "$output" = $'lines:50\nempty:0\nother:21' ]
    done
    run --separate-stderr umbel check -cH f.umb keys nothing other
    [ "$status" -eq 2 ]
    [ "$output" = $'keys:100\nother:21' ]
    [[ $stderr == *"nothing: No such file"* ]]
    umbel check -cH --json f.umb keys empty | jq -c '.files[]' > got
    printf '%s\n' '{"file":"keys","lines":100,"selected":100}' '{"file":"empty","lines":0,"selected":0}' > want
    cmp want got
    [ "$(umbel check -c f.umb keys keys)" -eq 200 ]
    refused "--line-number and --count contradict each other" umbel check --line-number -c f.umb keys
}

@test "lookup: --mark says yes or no of every line" {
    make_filter
    umbel check --verify-with keys --mark f.umb lines > got
    awk '{ print ($1 <= 100 ? "yes" : "no") "\t" $1 }' lines > want
    cmp want got
    printf 'id,email\n1,a\n2,b\n' > users.csv
    umbel build -q -o u.umb --csv -k email -p 1e-9 users.csv
    run umbel check --mark u.umb <(printf 'n,email\n7,b\n8,c\n')
    [ "$output" = $'found,n,email\nyes,7,b\nno,8,c' ]
    run umbel check --mark f.umb -e nothing-of-the-kind
    [ "$status" -eq 1 ]
    [ "$output" = $'no\tnothing-of-the-kind' ]
    [ "$(umbel check --mark --json-lines u.umb -e a -e z | jq -c .filters)" = $'["u.umb"]\n[]' ]
    refused "contradict each other" umbel check --mark -v f.umb keys
}

@test "lookup: --verify-with drops the false positives, all of them and nothing else" {
    make_filter
    [ "$(umbel check -c f.umb lines)" -gt 60 ] # a filter that is wrong often
    for j in 1 3; do
        [ "$(umbel check -c -j $j --verify-with keys f.umb lines)" -eq 50 ]
        [ "$(umbel check -vc -j $j --verify-with keys f.umb lines)" -eq 1050 ]
        umbel check --verify-with keys -j $j f.umb lines | cmp - <(seq 51 100)
    done
    run umbel check --verify-with keys f.umb -e 7 -e 700
    [ "$output" = 7 ]
    gzip -k keys
    [ "$(umbel check -c --verify-with keys.gz f.umb lines)" -eq 50 ]
    # FILE is read as the filter was built, the lines as the options say.
    awk '{ print "x " $1 }' keys > pairs
    umbel build -q -k 2 -p 20% -o pairs.umb pairs
    [ "$(awk '{ print $1 " y" }' lines | cat > first; umbel check -c -k 1 --verify-with pairs pairs.umb first)" -eq 50 ]
    # Parents of names.
    printf 'ads.example\n' > names
    umbel build -q --domains -p 20% -o names.umb names
    [ "$(umbel check --verify-with names names.umb -e a.b.ads.example -e example)" = a.b.ads.example ]
}

@test "lookup: --verify-with refuses what it cannot do" {
    make_filter
    seq 90 110 | umbel check --verify-with keys f.umb | cmp - <(seq 90 100) # from a pipe, too
    refused "No such file" umbel check --verify-with nothing f.umb lines
    refused "contradict each other" umbel check --verify-with keys --also f.umb f.umb lines
}

@test "lookup: -e for build, add and remove" {
    umbel build -q --kind counting -n 10 -p 1e-9 -o c.umb -e a -e 'b c' -e $'d\ne'
    [ "$(umbel check -c c.umb -e a -e 'b c' -e $'d\ne' -e e)" -eq 3 ]
    umbel add -q c.umb -e f
    umbel remove -q c.umb -e a
    [ "$(umbel check c.umb -e a -e f)" = f ]
    run umbel remove -q c.umb -e nothing
    [ "$status" -eq 1 ]
    seq 5 > five
    umbel build -q -o mixed.umb -p 1e-9 -e x five
    [ "$(umbel info --json mixed.umb | jq .capacity)" -eq 6 ]
    umbel build -q --kind tight -o t.umb -p 1e-9 -e x five
    [ "$(umbel check -c t.umb five -e x)" -eq 6 ]
    # The key itself: nothing is cut out of it, but it is treated like one.
    umbel build -q --lower -k 2 -o k.umb -p 1e-9 -e ADA
    [ "$(umbel check -c k.umb <(echo x Ada))" -eq 1 ]
    run --separate-stderr umbel build -q --type int64 --format guava -n 5 -p 1% -o g.bin -e 12x
    [ "$status" -eq 3 ]
    [[ $stderr == *"-e: warning: 1 line is not"* ]]
}

@test "lookup: output follows tail -F line by line, without a terminal" {
    make_filter
    : > log
    mkfifo out
    tail -n +1 -s 0.1 -F log 2> /dev/null > >(exec "$UMBEL" check f.umb > out) &
    tail=$!
    exec 7< out
    for i in 5 9 77; do
        echo $i >> log
        read -r -t 300 line <&7
        [ "$line" = "$i" ]
    done
    mv log old # rotated
    echo 42 > log
    read -r -t 300 line <&7
    [ "$line" = 42 ]
    kill $tail
    exec 7<&-
}

@test "lookup: uniq follows a pipe line by line" {
    mkfifo in out
    "$UMBEL" uniq -q < in > out &
    exec 8> in 7< out
    echo a >&8
    read -r -t 300 line <&7
    [ "$line" = a ]
    printf 'a\nb\n' >&8
    read -r -t 300 line <&7
    [ "$line" = b ]
    exec 8>&-
    wait $!
}

@test "lookup: --line-buffered writes although more input is there" {
    make_filter
    # A reader that sees the first lines while a writer never pauses.
    run timeout 300 bash -c 'yes 5 | "$UMBEL" check --line-buffered f.umb | head -n 3'
    [ "$output" = $'5\n5\n5' ]
    [ "$(yes 5 | head -n 100000 | umbel check --line-buffered -j 2 f.umb | wc -l)" -eq 100000 ]
    [ "$(yes 5 | head -n 100000 | umbel uniq -q --line-buffered)" = 5 ]
}

@test "lookup: --follow-filter takes up a filter that was replaced" {
    seq 10 > ten
    umbel build -q -p 1e-9 -o f.umb ten
    mkfifo in out
    "$UMBEL" check --follow-filter f.umb < in > out 2> err &
    pid=$!
    exec 8> in 7< out
    printf '7\n11\n' >&8
    read -r -t 300 line <&7
    [ "$line" = 7 ]
    umbel build -q -f -p 1e-9 -o f.umb -e 11 -e 12
    printf '7\n11\n' >&8
    read -r -t 300 line <&7
    [ "$line" = 11 ]
    grep -q "f.umb: was replaced: using the new filter" err
    echo garbage > bad && mv bad f.umb
    printf '7\n12\n' >&8
    read -r -t 300 line <&7
    [ "$line" = 12 ]
    grep -q "f.umb: warning: was replaced, but the old filter stays: " err
    umbel build -q -f -p 1e-9 --lower -o f.umb ten
    printf '7\n11\n' >&8
    read -r -t 300 line <&7
    [ "$line" = 11 ]
    grep -q "the recipe of the new one is line lower" err
    umbel build -q -f -p 1e-9 -o f.umb ten
    printf '12\n3\n' >&8
    read -r -t 300 line <&7
    [ "$line" = 3 ]
    exec 8>&-
    wait $pid
}

@test "lookup: -l, -L, --max-count and --only-matching do what grep's do" {
    make_filter
    seq 500 600 > none
    gzip -kc keys > keys.gz
    [ "$(umbel check --verify-with keys -l f.umb keys none empty keys.gz lines | paste -sd ' ')" = "keys keys.gz lines" ]
    [ "$(umbel check --verify-with keys -L f.umb keys none empty keys.gz lines | paste -sd ' ')" = "none empty" ]
    [ "$(umbel check --verify-with keys -lv f.umb keys none | paste -sd ' ')" = none ]
    [ "$(umbel check --verify-with keys --max-count 2 f.umb keys lines | paste -sd ' ')" = "$(grep -hxm 2 -Ff keys keys lines | paste -sd ' ')" ]
    [ "$(umbel check --verify-with keys -c -H --max-count 2 f.umb keys none)" = $'keys:2\nnone:0' ]
    # An endless stream ends with its last line.
    [ "$(timeout 300 bash -c 'yes 5 | "$UMBEL" check --max-count 3 f.umb')" = $'5\n5\n5' ]
    [ "$(printf 'a,5,x\nb,6,y\n' | umbel check -t , -k 2 --only-matching f.umb)" = $'5\n6' ]
    refused "--only-matching prints keys" umbel check -o f.umb keys
    refused "--max-count N" umbel check -m 3 f.umb keys
    refused "--line-number numbers lines" umbel check -n f.umb keys
    refused "by umbel build" umbel check -f keys lines
}

@test "lookup: --follow-filter refuses a packed filter, which it would never follow" {
    make_filter
    gzip -k f.umb
    [ "$(umbel check -c f.umb.gz keys)" = 100 ]
    refused "f.umb.gz: is compressed with gzip, so --follow-filter cannot follow it" umbel check --follow-filter f.umb.gz keys
}
