# SPDX-License-Identifier: MIT
# contract.bats - docs/contract.md: what is said, and what the exit status says

load helper

# warned STATUS TEXT COMMAND OPTION...: umbel COMMAND warns with the text, with and without -q, and ends with
# the status; -qq silences the warning, not the status.  Files that it would write are removed in between.
warned() {
    local want=$1 text=$2 q
    shift 2
    for q in "" -q -qq; do
        rm -f out.umb
        [ ! -e before.umb ] || cp before.umb out.umb
        run --separate-stderr umbel "$@" $q
        [ "$status" -eq "$want" ] || { echo "exit status $status: $* $q: $stderr" >&2; return 1; }
        if [ "$q" = -qq ]; then
            [ -z "$stderr" ] || { echo "-qq: $*: $stderr" >&2; return 1; }
        else
            [[ $stderr == *": warning: "*"$text"* ]] || { echo "$* $q: $stderr" >&2; return 1; }
        fi
    done
}

@test "contract: -q silences no warning, -qq does, and the exit status stays" {
    seq 5000 > keys
    warned 3 "more keys than the 1,000 planned" build -n 1000 -o out.umb keys
    warned 3 "more keys than the 1,000 planned" build -n 1000 -j 3 -o out.umb keys
    warned 3 "more keys than planned: the false-positive rate is " uniq --kind auto -n 1000 keys
    warned 3 "more keys than planned: the false-positive rate is " uniq --kind auto -n 1000 -j 3 keys
    warned 3 "more keys in a step than planned" uniq --window 60m/10m -n 1000 keys
    umbel build -q -n 1000 -o before.umb <(seq 700)
    seq 701 900 > few
    warned 0 "of the plan is used up" add out.umb few
    warned 3 "more keys than the 1,000 planned" add out.umb keys
    warned 0 "its own plan applies" uniq -n 7000 --kind auto --state out.umb few
}

@test "contract: a merged filter that holds more than its plan" {
    umbel build -q -n 1000 -o a.umb <(seq 1000)
    umbel build -q -n 1000 -o b.umb <(seq 1001 2000)
    warned 3 "holds more keys than planned" merge -o out.umb a.umb b.umb
    umbel build -q -n 1000 -o c.umb <(seq 900)
    run --separate-stderr umbel merge -q -o d.umb a.umb c.umb
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "contract: input that looks odd" {
    printf '\xef\xbb\xbfa\nb\n' > mark
    printf 'a\r\nb\r\n' > dos
    for input in "byte-order mark" "carriage return"; do
        file=$([[ $input == byte* ]] && echo mark || echo dos)
        warned 0 "$input" build -o out.umb $file
        warned 0 "$input" uniq $file
        umbel build -qq -f -o f.umb $file
        warned 0 "$input" check f.umb $file
        warned 0 "$input" add f.umb $file
    done
    printf 'a b\nc\n' > short
    warned 3 "1 line does not have the field: printed" uniq -k 2 short
}
