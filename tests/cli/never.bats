# SPDX-License-Identifier: MIT
# umbel build --never and block lists: good keys are never found, members always.
load helper

@test "never: no good key is found, every member is, in every way to build" {
    seq 20000 > members
    seq 19991 60000 > good
    for how in "--kind tight" "--kind classic" "--kind blocked" "--kind scalable -n 20000"; do
        umbel build -q -f $how -p 1% --never good -o f.umb members
        [ "$(umbel check -c f.umb members)" -eq 20000 ]
        [ "$(umbel check -c f.umb good)" -eq 10 ]
        umbel verify -q f.umb
    done
    umbel build -q -f -p 1% --never good -o f.umb < members
    [ "$(umbel check -c f.umb good)" -eq 10 ]
    run --separate-stderr umbel build -f --kind tight -p 1% --never good -o f.umb members
    [[ $stderr == *"good keys: 40,010 asked, "*" exception"* ]]
    [[ $stderr == *"good keys: warning: listed as well: 10; they are found"* ]]
    umbel info f.umb | grep -q '^exceptions '
}

@test "never: a block list in all its forms" {
    printf '# c\n\xef\xbb\xbfa.example\r\n0.0.0.0 b.example\n||c.example^\nd.example CNAME .\naddress=/e.example/\n@@||g.example^\n' > list
    run --separate-stderr umbel build --domains --kind tight -p 1e-9 -o list.umb list
    [ "$status" -eq 0 ]
    [[ $stderr == *"lines: 1 plain, 1 hosts, 1 adblock, 1 RPZ, 1 dnsmasq, 1 exceptions"* ]]
    for name in a b c d e; do umbel check -q list.umb -e "https://x.$name.example/y"; done
    run umbel check -q list.umb -e f.example
    [ "$status" -eq 1 ]
    echo '||x*.example^' >> list
    run --separate-stderr umbel build -f --domains --kind tight -p 1e-9 -o list.umb list
    [ "$status" -eq 3 ]
    [[ $stderr == *"not understood: ||x*.example^"* ]]
}

@test "never: a listed name wins over an exception below it, and the build says so" {
    printf '||parent.example^\n@@||child.parent.example^\n@@||free.example^\n||own.example^\n@@||own.example^\n' > list
    run --separate-stderr umbel build -q --domains --kind tight -p 1e-9 -o list.umb list
    [ "$status" -eq 0 ]
    [ "$stderr" = "umbel: good names: warning: listed as well, or below a listed name: 2; listed names win" ]
    [ "$(umbel check list.umb -e child.parent.example -e free.example -e own.example -e a.free.example)" = "$(printf 'child.parent.example\nown.example')" ]
    printf 'www.shop.parent.example\n' > good
    run --separate-stderr umbel build -q -f --domains --kind tight -p 1e-9 --never good -o list.umb <(echo parent.example)
    [[ $stderr == *"below a listed name: 1; listed names win"* ]]
}

@test "never: names below good ones may be caught, and a build of domains says so" {
    printf 'good.example\n' > good
    run --separate-stderr umbel build --domains --kind tight -p 1e-6 --never good -o list.umb <(echo bad.example)
    [[ $stderr == *"good names: other names below them may be caught at the list's rate"* ]]
    run --separate-stderr umbel build --kind tight -p 1e-6 --never good -o plain.umb <(echo bad.example)
    [[ $stderr != *"below them"* ]]
}

@test "never: merge, intersect and fold say how many exceptions they drop" {
    umbel build -q --kind classic -n 20000 -p 1% --never <(seq 30000 90000) -o b.umb <(seq 15000)
    umbel build -q --kind classic -n 20000 -p 1% -o c.umb <(seq 100)
    count=$(umbel info --json b.umb | sed -n 's/.*"exceptions": \([0-9]*\).*/\1/p')
    [ "$count" -gt 9 ]
    for operation in "merge b.umb c.umb" "merge c.umb b.umb" "intersect c.umb b.umb"; do
        set -- $operation
        run --separate-stderr umbel "$1" -q -f -o out.umb "$2" "$3"
        [ "$status" -eq 3 ]
        [ "$stderr" = "umbel: out.umb: warning: exceptions dropped: $count; keys of --never may be found again: rebuild it with them" ]
    done
    umbel intersect -q -f -o out.umb b.umb c.umb # keeps those of the first
    umbel build -q --kind classic -m 64KiB -n 50000 --never <(seq 60000 200000) -o wide.umb <(seq 30000)
    count=$(umbel info --json wide.umb | sed -n 's/.*"exceptions": \([0-9]*\).*/\1/p')
    [ "$count" -gt 0 ]
    run --separate-stderr umbel fold -q -p 20% -o small.umb wide.umb
    [ "$status" -eq 3 ]
    [[ $stderr == *"small.umb: warning: exceptions dropped: $count; "* ]]
}
