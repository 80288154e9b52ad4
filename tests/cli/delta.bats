# SPDX-License-Identifier: MIT
#
# delta.bats - umbel delta and umbel apply: lists that follow their changes

load helper

list() {
    seq 1 2000 > old.txt
    (seq 101 2000; seq 5001 5100) > new.txt
    umbel build -q --kind tight -p 1e-6 -o list.umb old.txt
}

# How many lines of a file the list has.
has() {
    umbel check -c list.umb "$1" || true
}

next() {
    umbel delta -q --from list.umb -o "$1" "$2" "$3"
}

@test "a list follows its delta: nothing lost, what left is out" {
    list
    run -0 --separate-stderr umbel delta --from list.umb -o 1.umd old.txt new.txt
    [[ "$stderr" == "1.umd: delta 1, 100 added, 100 removed, "* ]]
    run -0 --separate-stderr umbel apply list.umb 1.umd
    [[ "$stderr" == "list.umb: 1 delta, 100 added, 100 removed, "* ]]
    [ "$(has new.txt)" = 2000 ]
    [ "$(seq 1 100 | umbel check -c list.umb)" = 0 ]
}

@test "deltas follow each other, and a key comes back" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    next 2.umd new.txt old.txt
    umbel apply -q list.umb 2.umd
    [ "$(has old.txt)" = 2000 ]
    [ "$(seq 5001 5100 | umbel check -c list.umb)" = 0 ]
}

@test "the changes themselves instead of both lists" {
    list
    seq 1 100 > left.txt
    seq 101 2000 > kept.txt
    seq 5001 5100 > came.txt
    next 1.umd old.txt new.txt
    umbel delta -q --from list.umb -o other.umd --removed left.txt --kept kept.txt --added came.txt
    cmp 1.umd other.umd
    run -2 umbel delta --from list.umb -o 2.umd --added came.txt
    [[ "$output" == *"--kept"* ]]
    run -2 umbel delta --from list.umb -o 2.umd --kept kept.txt old.txt new.txt
    [[ "$output" == *"cannot both be given"* ]]
}

@test "twice is once; a gap, another base and damage are refused by name" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    next 2.umd new.txt old.txt
    umbel apply -q list.umb 1.umd
    cmp 1.umd list.umb.deltas
    rm list.umb.deltas
    run -2 umbel apply list.umb 2.umd
    [[ "$output" == *"2.umd: number: a delta before it is missing"* ]]
    [ ! -e list.umb.deltas ]
    umbel build -q -p 1% -o other.umb old.txt
    run -2 umbel apply other.umb 1.umd
    [[ "$output" == *"1.umd: base: it is for another base"* ]]
    head -c 300 1.umd > short.umd
    run -2 umbel apply list.umb short.umd
    [[ "$output" == *"cut off"* ]]
    run -2 umbel apply list.umb old.txt
    [[ "$output" == *"magic: not a delta"* ]]
    run -2 umbel apply list.umb missing.umd
    umbel apply -q list.umb 1.umd 2.umd
    [ "$(has old.txt)" = 2000 ]
}

@test "a damaged file beside a list is an error, not a wrong answer" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    printf X | dd of=list.umb.deltas bs=1 seek=200 conv=notrunc status=none
    run -2 umbel check list.umb -e 5001
    [[ "$output" == *"checksum"* ]]
    run -2 umbel info list.umb
    [[ "$output" == *"checksum"* ]]
}

@test "a new base takes the old one's place" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    umbel build -q --kind tight -p 1e-6 -o new.umb new.txt
    mv new.umb list.umb
    run -0 umbel check -c list.umb new.txt
    [[ "$output" == *"list.umb: warning: the deltas beside it are not used: base: it is for another base"* ]]
    rm list.umb.deltas
    next 1b.umd new.txt old.txt
    cp 1.umd list.umb.deltas
    umbel apply -q list.umb 1b.umd
    cmp 1b.umd list.umb.deltas
    [ "$(has old.txt)" = 2000 ]
}

@test "lines that the list does not have are not those before" {
    list
    run -2 umbel delta --from list.umb -o 1.umd new.txt old.txt
    [[ "$output" == *"new.txt: has lines that list.umb does not have"* ]]
    [ ! -e 1.umd ]
}

@test "good lines are not found, and domains have parents" {
    printf '%s\n' bad.example worse.example > old.txt
    printf '%s\n' bad.example ads.test '@@||good.ads.test^' > new.txt
    umbel build -q --kind tight -p 10% --domains -o list.umb old.txt
    seq 1 2000 | sed 's/$/.good.example/' > good.txt
    umbel delta -q --from list.umb --never good.txt -o 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    [ "$(has good.txt)" = 0 ]
    [ "$(umbel check list.umb -e a.b.ads.test -e x.bad.example)" = $'a.b.ads.test\nx.bad.example' ]
    run -1 umbel check list.umb -e worse.example
}

@test "a keyed list: the secret is needed, and the delta keeps it" {
    list
    head -c 16 /dev/urandom > secret
    umbel build -q -f -p 1e-6 --secret-file secret -o list.umb old.txt
    run -2 umbel delta --from list.umb -o 1.umd old.txt new.txt
    umbel delta -q --secret-file secret --from list.umb -o 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    [ "$(umbel check -c --secret-file secret list.umb new.txt)" = 2000 ]
    [ "$(seq 1 100 | umbel check -c --secret-file secret list.umb)" = 0 ]
}

@test "info adds up the rates, and says when a new base pays" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    run -0 umbel info list.umb
    [[ "$output" == *"rate with deltas   1 in 500,000"* ]]
    [[ "$output" == *"new base           not yet"* ]]
    umbel info --json list.umb > info.json
    [ "$(jq -c '.deltas | [.number, .added, .removed, .guarded, .keys, .rebase]' info.json)" = \
        '[1,100,100,0,2000,null]' ]
    [ "$(jq .fpr_with_deltas info.json)" = 2e-06 ] || [ "$(jq .fpr_with_deltas info.json)" = 0.000002 ]
    before=new.txt after=old.txt
    for i in $(seq 2 30); do
        next "$i.umd" "$before" "$after"
        umbel apply -q list.umb "$i.umd"
        t=$before before=$after after=$t
    done
    run -0 umbel info list.umb
    [[ "$output" == *"new base           30 deltas"* ]] || [[ "$output" == *"half of the base"* ]]
    [ "$(umbel info --json list.umb | jq '.deltas.rebase | type')" = '"string"' ]
}

@test "check --follow-filter goes on with the next delta" {
    list
    mkfifo lines
    next 1.umd old.txt new.txt
    umbel check --mark --follow-filter list.umb < lines > out.txt 2> err.txt 3>&- &
    check=$!
    exec 4> lines
    echo 5001 >&4
    eventually grep -q 5001 out.txt
    umbel apply -q list.umb 1.umd
    echo 5001 >&4
    eventually grep -q yes out.txt
    exec 4>&-
    wait $check
    [ "$(cat out.txt)" = $'no\t5001\nyes\t5001' ]
    [[ "$(cat err.txt)" == *"was replaced: using the new filter"* ]]
}

@test "an exact filter stays exact: its universe is needed again" {
    seq 1000 > old.txt
    (sed 1,10d old.txt; seq -f 'n%.0f' 200) > new.txt
    seq 5001 25000 > good.txt
    umbel build -q --universe good.txt -o list.umb old.txt
    run -2 umbel delta --from list.umb -o 1.umd old.txt new.txt
    [[ "$output" == *"never: the whole universe of an exact base is needed again"* ]]
    run -2 umbel delta --from list.umb --never <(head -5000 good.txt) -o 1.umd old.txt new.txt
    [ ! -e 1.umd ]
    umbel delta --json -q --from list.umb --never good.txt -o 1.umd old.txt new.txt > 1.json
    [ "$(jq '.delta.fpr' 1.json)" = 0.0001 ]
    umbel apply -q list.umb 1.umd
    [ "$(has good.txt)" = 0 ]
    [ "$(has new.txt)" = 1190 ]
    run -0 umbel info list.umb
    [[ "$output" == *"exact with them    for its universe and the keys in the list"* ]]
}

@test "a list before that is not whole would lose lines" {
    list
    run -2 umbel delta --from list.umb -o 1.umd <(head -1000 old.txt) <(sed -n 101,900p old.txt)
    [[ "$output" == *"has fewer keys than list.umb"* ]]
    run -2 umbel delta --from list.umb -o 1.umd --removed <(seq 100) --kept <(seq 101 1999)
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    run -2 umbel delta --from list.umb -o 2.umd <(head -1999 new.txt) old.txt
    umbel build -q -f --kind blocked -p 1% -o list.umb old.txt
    run -2 umbel delta -f --from list.umb -o 1.umd <(head -1000 old.txt) new.txt
    (cat old.txt; seq 20) > again.txt
    next 3.umd again.txt new.txt
}

@test "ten times the base's rate is a reason for a new base" {
    list
    umbel delta -q -p 0.0001% --from list.umb -o 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    umbel delta -q -p 0.001% --from list.umb -o 2.umd new.txt old.txt
    umbel apply -q --json list.umb 2.umd > 2.json
    [ "$(jq -r .deltas.rebase 2.json)" = "ten times the base's rate" ]
}

@test "a list that is saved again has no deltas; one that deltas follow is not changed" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    run -2 umbel add list.umb new.txt
    [[ "$output" == *"list.umb: list.umb.deltas follows it"* ]]
    run -0 umbel build -q -f --kind tight -p 1e-6 -o list.umb old.txt # the same bytes
    [[ "$output" == *"list.umb: warning: the deltas of the file before it are removed"* ]]
    [ ! -e list.umb.deltas ]
    [ "$(has old.txt)" = 2000 ]
}

@test "what is written is none of the files that are read" {
    list
    seq 5001 6000 > good.txt
    md5sum good.txt list.umb old.txt > sums
    for args in "build --universe good.txt -o good.txt old.txt" "build --never good.txt -o good.txt old.txt" \
        "delta --from list.umb -o list.umb old.txt new.txt" "build --universe good.txt --json=good.txt -o a.umb old.txt" \
        "delta --from list.umb --removed good.txt --kept old.txt -o old.txt"; do
        # shellcheck disable=SC2086 # words
        run -2 umbel $args -f
        [[ "$output" == *"is also the output"* ]]
    done
    md5sum -c --quiet sums
}

@test "where the second of two deltas is cut off" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    next 2.umd new.txt old.txt
    first=$(stat -c %s 1.umd) second=$(stat -c %s 2.umd)
    for left in 100 200; do
        (cat 1.umd; head -c $left 2.umd) > both
        rm list.umb.deltas
        [ $left = 100 ] && needed=168 || needed=$second
        run -2 umbel apply list.umb both
        [[ "$(tr -d , <<< "$output")" == *"cut off: $((first + left)) of $((first + needed)) bytes"* ]]
        cp both list.umb.deltas
        run -2 umbel info list.umb
        [[ "$(tr -d , <<< "$output")" == *"cut off: $((first + left)) of $((first + needed)) bytes"* ]]
    done
}

@test "verify reads the deltas: damage, and keys that came and left" {
    list
    next 1.umd old.txt new.txt
    umbel apply -q list.umb 1.umd
    seq 10001 20000 > absent.txt
    run -0 umbel verify list.umb --present new.txt --absent absent.txt
    [[ "$output" == *"2,000 keys, none missing"* ]]
    [[ "$output" == *"1 in 500,000"* ]]
    run -1 umbel verify list.umb --present old.txt
    printf X | dd of=list.umb.deltas bs=1 seek=200 conv=notrunc status=none
    run -2 umbel verify list.umb
    [[ "$output" == *"checksum"* ]]
}

@test "of several deltas, those before one that is refused are applied" {
    list
    next 1.umd old.txt new.txt
    cp list.umb again.umb
    umbel apply -q list.umb 1.umd
    run -2 umbel apply again.umb 1.umd old.txt
    cmp again.umb.deltas list.umb.deltas
    umbel apply -q again.umb 1.umd
    ln -s list.umb link.umb
    umbel apply -q link.umb 1.umd
    cmp link.umb.deltas list.umb.deltas
}

@test "an intersection knows its number of keys only roughly" {
    seq -f '6/%.0f' 200000 > a
    seq -f '6/%.0f' 199991 400000 > b
    seq -f '6/%.0f' 199991 200000 > both
    umbel build -q --kind classic -n 200010 -p 1% -o a.umb a
    umbel build -q --kind classic -n 200010 -p 1% -o b.umb b
    umbel intersect -q -o list.umb a.umb b.umb
    [ "$(umbel info --json list.umb | jq .keys_added)" -gt 100 ]
    next 1.umd both both
}
