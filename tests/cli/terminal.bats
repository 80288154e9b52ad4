# SPDX-License-Identifier: MIT
# labels: clock
# What is shown on a terminal, and only there
load helper

# on_terminal COMMAND: its output, including standard error, on a pseudo-terminal; also in the file
# `screen`, as it comes
on_terminal() {
    command -v script > /dev/null || skip "no script(1)"
    script -qefc "$1" screen < /dev/null
}

# A program, not a function: the shell that script(1) starts may not inherit functions.
setup_file() {
    cat > "$BATS_FILE_TMPDIR/slowly" << 'EOF'
#!/bin/sh
# slowly [WORDS]: lines for longer than the half second after which the bar appears; who reads them
# may start late, so until the words are on the screen, or two minutes have passed
for i in $(seq 480); do
    seq "$i" 100 400
    sleep 0.25
    [ "$i" -lt 5 ] || [ $# -gt 0 ] && ! grep -q "$1" screen || break
done
EOF
    chmod +x "$BATS_FILE_TMPDIR/slowly"
}

@test "terminal: progress is drawn and removed, -q silences it" {
    local slowly=$BATS_FILE_TMPDIR/slowly
    run on_terminal "'$slowly' '% of the plan' | '$UMBEL' build -n 100 -o k.umb"
    [[ $output == *"building: "*" lines, "*"/s"*"% of the plan"* ]]
    [[ $output == *$'\r\033[K'* ]]
    run on_terminal "'$slowly' | '$UMBEL' build -q -f -n 100 -o k.umb"
    [ -z "$output" ]
    # Not on a terminal: only the summary.
    run bash -c "'$slowly' | '$UMBEL' build -f -n 100 -o k.umb"
    [ "${#lines[@]}" -eq 1 ]
}

@test "terminal: colours on terminals only, and never with NO_COLOR" {
    seq 9 | umbel build -q -n 9 -o k.umb
    run on_terminal "TERM=xterm '$UMBEL' info k.umb"
    [[ $output == *$'\033[1m'* ]]
    run on_terminal "NO_COLOR=1 TERM=xterm '$UMBEL' info k.umb"
    [[ $output != *$'\033['* ]]
    run on_terminal "TERM=dumb '$UMBEL' info k.umb"
    [[ $output != *$'\033['* ]]
    run umbel info k.umb
    [[ $output != *$'\033['* ]]
}

@test "terminal: plan draws its plot" {
    run on_terminal "LC_ALL=C.UTF-8 '$UMBEL' plan -n 1e6 -p 1%"
    [[ $output == *" the plan"* ]]
    [[ $output == *$'\033[32m'*"█"*$'\033[31m'* ]] # green within the promise, red far beyond
    run on_terminal "NO_COLOR=1 LC_ALL=C '$UMBEL' plan -n 1e6 -p 1%"
    [[ $output == *"####"*" the plan"* ]]
    [[ $output != *$'\033['* ]]
}

# shown WIDTH COMMAND: what it prints on a terminal of that width
shown() {
    command -v script > /dev/null || skip "no script(1)"
    script -qec "stty cols $1; cd '$PWD'; LC_ALL=C.UTF-8 NO_COLOR=1 $2" /dev/null < /dev/null | tr -d '\r'
}

@test "terminal: everything fits 40, 80, 132 and 200 columns" {
    yes "$(seq 2000)" | head -n 6000 > lines
    umbel build -q -o k.umb lines
    umbel build -q -n 5 -qq -o full.umb lines || true
    for width in 40 80 132 200; do
        for c in help "help uniq" "help plan" "help check" "help build" "help diff" "plan -n 1e6 -p 1%" "plan -n 2e9 -m 500MiB" \
            "plan --format guava -n 1000 -p 1%" "info k.umb" "build -f -o x.umb lines" "uniq lines -d" "uniq -m 1KiB lines -d" \
            "count lines" "diff lines lines" "add full.umb lines" "check nothing-of-the-kind.umb lines" "build --lower --upper -o x lines"; do
            shown $width "'$UMBEL' $c" > out
            [ -s out ]
            wide=$(python3 -c 'import sys; print(max(len(l.rstrip("\n").split("\r")[-1]) for l in open("out", encoding="utf-8")))')
            [ "$wide" -le $width ] || { echo "$c: $wide at $width:" >&2; cat out >&2; return 1; }
        done
    done
    shown 132 "'$UMBEL' plan -n 1e6 -p 1%" | grep -qE '█{70}' # a wide terminal is used
}

@test "terminal: the help of every command and topic fits 40 and 80 columns, but for words that are longer" {
    for what in $(umbel help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p') keys formats files; do
        umbel help $what > /dev/null || continue # a command that was not built
        for width in 40 80; do
            shown $width "'$UMBEL' help $what" > out
            [ -s out ]
            awk -v w=$width 'length($0) > w && NF > 1 + ($1 == "#") { print; wide = 1 } END { exit wide }' out ||
                { echo "help $what at $width" >&2; return 1; }
        done
    done
}

@test "terminal: an example that is continued is still what the shell needs" {
    shown 40 "'$UMBEL' help uniq" | sed -n '/^Examples/,/^Usage/p' > narrow
    umbel help uniq | sed -n '/^Examples/,/^Usage/p' > wide
    [ "$(grep -c . narrow)" -gt "$(grep -c . wide)" ]
    join() { grep -v '^ *#' | sed -e ':a;/\\$/{N;s/ *\\\n */ /;ba}'; }
    diff <(join < narrow) <(join < wide)
}

@test "terminal: a narrow plan shows what was asked for" {
    shown 40 "'$UMBEL' plan -m 1M -p 0.1%" > keys
    grep -q '^kind  *keys bits/key  *rate$' keys
    grep -q '^tight  *837,943 ' keys
    shown 40 "'$UMBEL' plan -n 1M -p 0.1%" > size
    grep -q '^kind  *size bits/key  *rate$' size
    [ "$(cat keys size | wc -L)" -le 40 ]
}

@test "terminal: the filters of a table fit 40 columns" {
    cp "$root/tests/golden/table/keys300.ldb" "$root/tests/golden/parquet/duckdb_t.parquet" .
    for file in keys300.ldb duckdb_t.parquet; do
        shown 40 "'$UMBEL' table $file" > out
        grep -q '^where  *live rate$' out
        python3 -c 'assert max(len(l.rstrip("\n")) for l in open("out", encoding="utf-8")) <= 40'
    done
    grep -q '^row group 0, s  *1.32%$' out
    cp keys300.ldb other.ldb
    shown 40 "'$UMBEL' table keys300.ldb other.ldb" > out
    grep -q '^   0.962%  other.ldb$' out
    [ "$(wc -L < out)" -le 40 ]
    shown 80 "'$UMBEL' table keys300.ldb" | grep -q '^where  *bits  *k  *fill  *live rate  *keys$'
}
