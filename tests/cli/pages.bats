# SPDX-License-Identifier: MIT
# Help, man pages and completions come from one table; here they are compared.
load helper

commands() {
    umbel --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The long options that a command's help lists.
options_of() {
    umbel help "$1" | sed -n '/^Options/,/^Exit/s/^  \(-., \|    \)--\([a-z-]*\).*/\2/p'
}

@test "pages: the stored pages are up to date" {
    run "$root/scripts/make-pages" --check "$UMBEL"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "pages: every command has help that starts with examples, and a man page" {
    [ "$(commands | wc -l)" -ge 13 ]
    for c in $(commands); do
        run umbel $c --help
        [ "$status" -eq 0 ]
        [[ ${lines[0]} == "umbel $c - "* && ${lines[1]} == Examples ]]
        run umbel help $c
        [ "$status" -eq 0 ] && [ "${lines[1]}" = Examples ]
        [ -s "$root/docs/man/umbel-$c.1" ]
        grep -q "umbel\\\\-$c (1)" "$root/docs/man/umbel.1"
    done
}

@test "pages: every option of the help is in the man page and in the completions, and works" {
    for c in $(commands); do
        [ -n "$(options_of $c)" ]
        for o in $(options_of $c); do
            roff=$(printf '%s' "$o" | sed 's/-/\\\\-/g')
            grep -q -- "\\\\-\\\\-$roff\\\\fR" "$root/docs/man/umbel-$c.1" || { echo "$c $o: man"; return 1; }
            sed -n "/^    $c)/,/^    [a-z]*)/p" "$root/completions/umbel.bash" |
                grep -q -- "[ '|]--$o[ ')]" || { echo "$c $o: bash"; return 1; }
            grep -q -- "from $c' -l $o" "$root/completions/umbel.fish" || { echo "$c $o: fish"; return 1; }
            sed -n "/^    $c)/,/;;\$/p" "$root/completions/_umbel" | grep -q -- "'\**--$o[=[]" ||
                { echo "$c $o: zsh"; return 1; }
            run umbel $c --$o
            [[ $output != *"unknown option"* ]]
        done
        # And no option in the page that the help does not have.
        n=$(sed -n '/^.SH OPTIONS/,/^.SH EXIT/p' "$root/docs/man/umbel-$c.1" | grep -c '^\.TP')
        [ "$n" -eq "$(options_of $c | wc -l)" ]
    done
}

@test "pages: man reads the pages without a complaint" {
    command -v groff > /dev/null || skip "no groff"
    for page in "$root"/docs/man/*.1; do
        run --separate-stderr groff -man -Tutf8 -ww -z "$page"
        [ -z "$stderr" ] || { echo "$page: $stderr"; return 1; }
    done
}

@test "pages: the shells read the completions" {
    bash -n "$root/completions/umbel.bash"
    run bash -c '. "$1"; COMP_WORDS=(umbel pl); COMP_CWORD=1; _umbel; echo "${COMPREPLY[@]}"' - \
        "$root/completions/umbel.bash"
    [ "$output" = plan ]
    run bash -c '. "$1"; COMP_WORDS=(umbel build --kind cl); COMP_CWORD=3; _umbel; echo "${COMPREPLY[@]}"' - \
        "$root/completions/umbel.bash"
    [ "$output" = classic ]
    run bash -c '. "$1"; COMP_WORDS=(umbel check --anno); COMP_CWORD=2; _umbel; echo "${COMPREPLY[@]}"' - \
        "$root/completions/umbel.bash"
    [ "$output" = --annotate ]
    if command -v zsh > /dev/null; then zsh -n "$root/completions/_umbel"; fi
    if command -v fish > /dev/null; then fish -n "$root/completions/umbel.fish"; fi
}

@test "pages: --version, -h, help" {
    run umbel --version
    [[ $output =~ ^umbel\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    run umbel -h
    [ "$status" -eq 0 ] && [[ $output == "umbel - "* ]]
    run umbel check -h
    [ "$status" -eq 0 ]
    refused "which shell?" umbel help --completion tcsh
}

@test "pages: bench runs and agrees with the model" {
    umbel bench -n 20000 --json > b.json
    python3 - <<'P'
import json
b = json.load(open("b.json"))
assert [f["kind"] for f in b["filters"]] == ["blocked", "classic"], b
for f in b["filters"]:
    assert abs(f["fpr_measured"] - f["fpr_predicted"]) < 0.1 * f["fpr_predicted"], f
    assert f["contains_ns"] > 0 and f["add_ns"] > 0
assert b["line_ns"] > 0
P
}
