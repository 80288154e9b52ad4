#!/bin/sh
# SPDX-License-Identifier: MIT
# In front of a key-value store: keys that are certainly absent never reach it.
. "$(dirname "$0")/start.sh"
mkdir "$dir/store"
for key in apple pear plum; do echo "value of $key" > "$dir/store/$key"; done
ls "$dir/store" | "$umbel" build -q -n 1000 -p 1/1000 -o "$dir/keys.umb"

get() {
    if echo "$1" | "$umbel" check -q "$dir/keys.umb"; then
        cat "$dir/store/$1"
    else
        echo "$1: not there, and the store was not queried"
    fi
}
get pear
get quince
