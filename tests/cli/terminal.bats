# SPDX-License-Identifier: MIT
# labels: clock
# What is shown on a terminal, and only there
load helper

# on_terminal COMMAND: its output, including standard error, on a pseudo-terminal
on_terminal() {
    command -v script > /dev/null || skip "no script(1)"
    script -qec "$1" /dev/null < /dev/null
}

# A program, not a function: the shell that script(1) starts may not inherit functions.
setup_file() {
    cat > "$BATS_FILE_TMPDIR/slowly" << 'EOF'
#!/bin/sh
# Lines for longer than the half second after which the bar appears.
for i in 1 2 3 4 5; do seq "$i" 100 400; sleep 0.25; done
EOF
    chmod +x "$BATS_FILE_TMPDIR/slowly"
}

@test "terminal: progress is drawn and removed, -q silences it" {
    local slowly=$BATS_FILE_TMPDIR/slowly
    run on_terminal "'$slowly' | '$UMBEL' build -n 100 -o k.umb"
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
