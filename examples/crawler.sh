#!/bin/sh
# SPDX-License-Identifier: MIT
# A crawler that fetches each URL once, across many runs: the filter is its memory.
. "$(dirname "$0")/start.sh"
crawl() { # links found by one run -> links to fetch
    "$umbel" uniq -q -n 10M -p 1/10000 --state "$dir/seen.umb"
}

echo 'First run:'
printf 'http://a.example/\nhttp://b.example/\nhttp://a.example/\n' | crawl
echo 'Second run:'
printf 'http://b.example/\nhttp://c.example/\n' | crawl
