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
    [[ $stderr == *"good keys: 40,010 asked, "*" exceptions; 10 are listed as well, and will be found"* ]]
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
