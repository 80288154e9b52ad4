#!/bin/sh
# SPDX-License-Identifier: MIT
# Two billion URLs in 500 MiB?  No; this is what it takes.
. "$(dirname "$0")/start.sh"
"$umbel" plan -n 2e9 -m 500MiB
echo
"$umbel" plan -n 2e9 -p 1%
