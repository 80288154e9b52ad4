# SPDX-License-Identifier: MIT
# labels: slow
load helper

example() {
    export UMBEL
    run "$root/examples/$1.sh"
    [ "$status" -ne 77 ] || skip "$output"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "example: URL blocklist" {
    example url-blocklist
    [ "$output" = "$(printf '10.0.0.%d GET http://bad%d.example/\n' 2 77 4 99999)" ]
}

@test "example: crawler" {
    example crawler
    [ "$output" = "$(printf 'First run:\nhttp://a.example/\nhttp://b.example/\nSecond run:\nhttp://c.example/')" ]
}

@test "example: spell check" {
    example spell-check
    [ "$output" = "$(printf 'jumsp\nlazzy')" ]
}

@test "example: key check before a store" {
    example key-value
    [ "$output" = "$(printf 'value of pear\nquince: not there, and the store was not queried')" ]
}

@test "example: order IDs" {
    example order-ids
    [ "$output" = "$(printf 'Known:\nORD-00000070,paid\nORD-06999993,refund\nCertainly not ours:\nORD-00000071,paid')" ]
}

@test "example: two billion URLs" {
    example two-billion
    [[ $output == *"2.23 GiB"* ]]
}

@test "example: the demo" {
    example demo
    [[ $output == *"1,000,000 keys, none missing"*"promise            kept"* ]]
}
