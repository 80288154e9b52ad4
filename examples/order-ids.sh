#!/bin/sh
# SPDX-License-Identifier: MIT
# A million order IDs: is this one of ours?  The ID is the first column of a CSV file.
. "$(dirname "$0")/start.sh"
seq 1000000 | awk '{ printf "ORD-%08d,%d.00\n", $1 * 7, $1 % 90 }' > "$dir/orders.csv"
"$umbel" build -q -p 1e-6 -t , -k 1 -o "$dir/orders.umb" "$dir/orders.csv"

printf 'ORD-00000070,paid\nORD-00000071,paid\nORD-06999993,refund\n' > "$dir/claims.csv"
echo 'Known:'
"$umbel" check "$dir/orders.umb" "$dir/claims.csv"
echo 'Certainly not ours:'
"$umbel" check -v "$dir/orders.umb" "$dir/claims.csv"
