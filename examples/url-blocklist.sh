#!/bin/sh
# SPDX-License-Identifier: MIT
# A URL blocklist: which requests hit it?
. "$(dirname "$0")/start.sh"
seq 100000 | sed 's|.*|http://bad&.example/|' > "$dir/listed.txt"
printf '10.0.0.%d GET http://%s.example/\n' 1 good1 2 bad77 3 fine 4 bad99999 > "$dir/access.log"

"$umbel" build -q -p 1e-6 -o "$dir/blocklist.umb" "$dir/listed.txt"
"$umbel" check -k 3 "$dir/blocklist.umb" "$dir/access.log"
