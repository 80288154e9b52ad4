# SPDX-License-Identifier: MIT
# Help, man pages and completions come from one table; these tests compare them.
load helper

setup_file() {
    export pages="$(dirname "$(realpath "${UMBEL:-build/umbel}")")/pages"
}

commands() {
    umbel --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

@test "pages: every command has help that starts with examples, and a man page" {
    [ "$(commands | wc -l)" -ge 13 ]
    for c in $(commands); do
        run umbel $c --help
        [ "$status" -eq 0 ]
        [[ ${lines[0]} == "umbel $c - "* ]]
        [[ ${lines[1]} == Examples || ${lines[2]} == Examples ]]
        [ "$(wc -L <<< "$output")" -le 80 ] # fits a terminal of 80 columns
        run umbel help $c
        [ "$status" -eq 0 ]
        grep -qx Examples <<< "$output"
        [ -s "$pages/man/man1/umbel-$c.1" ]
        grep -q "umbel\\\\-$c (1)" "$pages/man/man1/umbel.1"
    done
}

@test "pages: the help of a command fits a screen; topics have what many share" {
    for c in $(commands); do
        umbel help $c > page
        [ "$(wc -l < page)" -le 40 ] || { wc -l page; echo $c; return 1; }
        [ "$(sed -n '/^Options/,/^$/p' page | grep -cE '^  (-., |    )--')" -le 12 ]
        [ "$(sed -n 3p page)" = Examples ] || [ "$(sed -n 4p page)" = Examples ]
        grep -q "umbel help $c --all" page
        umbel $c --help | cmp - page
    done
    umbel help keys | grep -q -e '--json-key PATH'
    umbel help formats | grep -q -e '--bits-per-key N'
    umbel help files | grep -q 'bzip2, xz or lz4'
    ! umbel help nonsense
}

@test "pages: every option of the help is in the man page and in the completions, and works" {
    UMBEL=$UMBEL python3 - "$pages" $(commands) <<'P'
import os, re, subprocess, sys
pages, commands = sys.argv[1], sys.argv[2:]
umbel = os.environ["UMBEL"]
read = lambda name: open(f"{pages}/{name}", encoding="utf-8").read()
part = lambda text, start, end: re.search(start + "(.*?)" + end, text, re.S | re.M).group(1)
bash, zsh, fish = (read("completions/" + n) for n in ("umbel.bash", "_umbel", "umbel.fish"))
seen = 0
for c in commands:
    run = lambda *args: subprocess.run([umbel, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    text = part(run("help", c, "--all").stdout, "^Options\n", "^Exit")
    options = re.findall(r"^  (?:-., |    )--([a-z0-9-]+)", text, re.M)
    man = part(read(f"man/man1/umbel-{c}.1"), r"^\.SH OPTIONS", r"^\.SH EXIT").replace("\\-", "-")
    assert sorted(options) == sorted(re.findall(r"\\fB--([a-z0-9-]+)\\fR", man)), (c, "man")
    in_bash = part(bash, rf"^    {c}\)$", r"' ;;$")
    assert re.search(r"options='(.*)", in_bash).group(1).split() == ["--" + o for o in options], (c, "bash")
    in_zsh = part(zsh, rf"^    {c}\)$", r"_files' ;;$")
    assert sorted(options) == sorted(re.findall(r"'\*?--([a-z0-9-]+)[=\[]", in_zsh)), (c, "zsh")
    assert sorted(options) == sorted(re.findall(rf"from {c}' -l ([a-z0-9-]+)", fish)), (c, "fish")
    for o in options:
        assert "unknown option" not in run(c, "--" + o).stderr, (c, o)
    seen += len(options)
assert seen > 150, seen
P
}

@test "pages: man formats the pages without a warning" {
    command -v groff > /dev/null || skip "no groff"
    for page in "$pages"/man/man?/*; do
        run --separate-stderr groff -man -Tutf8 -ww -z "$page"
        [ -z "$stderr" ] || { echo "$page: $stderr"; return 1; }
    done
}

@test "pages: mandoc has no complaint, and every page has a date" {
    command -v mandoc > /dev/null || skip "no mandoc"
    (cd "$pages/man" && mandoc -Tlint man?/*)
    run grep -L '^\.TH [^ ]* [137] "20[0-9-]*" "umbel ' "$pages"/man/man?/*
    [ -z "$output" ]
}

@test "pages: every function of the headers has a page that shows how it is declared" {
    python3 - "$root" "$pages" <<'P'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
pages = pathlib.Path(sys.argv[2]) / "man" / "man3"
seen = 0
for header in (root / "include").glob("*.h"):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    for name in re.findall(r"^UMBEL_API[^;(]*?\b(\w+)\(", text, re.M):
        page = (pages / f"{name}.3").read_text()
        assert f"#include <{header.name}>" in page and re.search(rf"\b{name}\(", page), name
        named = re.search(r"^\.SH NAME\n(.*?)^\.SH", page, re.M | re.S)[1].replace("\n", " ")
        assert re.search(rf"\b{name}\b.* \\- \S.{{9,}}$", named), name
        seen += 1
assert seen == len(list(pages.iterdir())) - 1 > 80, seen  # and umbel.3
P
}

@test "pages: the shells read the completions" {
    bash -n "$pages/completions/umbel.bash"
    run bash -c '. "$1"; COMP_WORDS=(umbel pl); COMP_CWORD=1; _umbel; echo "${COMPREPLY[@]}"' - \
        "$pages/completions/umbel.bash"
    [ "$output" = plan ]
    run bash -c '. "$1"; COMP_WORDS=(umbel build --kind cl); COMP_CWORD=3; _umbel; echo "${COMPREPLY[@]}"' - \
        "$pages/completions/umbel.bash"
    [ "$output" = classic ]
    run bash -c '. "$1"; COMP_WORDS=(umbel check --anno); COMP_CWORD=2; _umbel; echo "${COMPREPLY[@]}"' - \
        "$pages/completions/umbel.bash"
    [ "$output" = --annotate ]
    if command -v zsh > /dev/null; then zsh -n "$pages/completions/_umbel"; fi
    if command -v fish > /dev/null; then fish -n "$pages/completions/umbel.fish"; fi
}

@test "pages: --version, -h, help" {
    run umbel --version
    [[ $output =~ ^umbel\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    run umbel -h
    [ "$status" -eq 0 ]
    [[ $output == "umbel - "* ]]
    run umbel check -h
    [ "$status" -eq 0 ]
    refused "unknown shell" umbel help --completion tcsh
}
