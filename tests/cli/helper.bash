# SPDX-License-Identifier: MIT
# helper.bash - loaded by every file of these tests

bats_require_minimum_version 1.5.0

setup() {
    root=$PWD
    : "${UMBEL:=$root/build/umbel}"
    export UMBEL # for programs that tests start
    [ -x "$UMBEL" ] || { echo "no umbel command at $UMBEL" >&2; return 1; }
    cd "$BATS_TEST_TMPDIR" || return 1
}

umbel() {
    "$UMBEL" "$@"
}

# refused TEXT COMMAND...: exit status 2, nothing on standard output, one line on standard error that
# begins with `umbel: ` and contains the text.
refused() {
    local text=$1
    shift
    run --separate-stderr "$@"
    [ "$status" -eq 2 ] || { echo "exit status $status: $*: $stderr" >&2; return 1; }
    [ -z "$output" ] || { echo "standard output: $output" >&2; return 1; }
    # A sanitizer's warning about memory that it could not get is not the command's.
    stderr=$(grep -v '^==[0-9]*==WARNING: ' <<< "$stderr") || true
    [ "$(wc -l <<< "$stderr")" -eq 1 ] || { echo "not one line: $stderr" >&2; return 1; }
    [[ $stderr == "umbel: "* && $stderr == *"$text"* ]] || { echo "said: $stderr" >&2; return 1; }
}

# eventually COMMAND...: waits until the command succeeds.  The limit is only for hangs.
eventually() {
    local end=$((SECONDS + 120))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || { echo "after two minutes still not: $*" >&2; return 1; }
        sleep 0.05
    done
}

# urls FIRST LAST [SITE]
urls() {
    seq "$1" "$2" | awk -v site="${3:-example}" \
        '{ printf "https://%s%d.org/a/%d.html\n", site, $1 % 97, $1 }'
}
