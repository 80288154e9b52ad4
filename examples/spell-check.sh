#!/bin/sh
# SPDX-License-Identifier: MIT
# Spell check: words that are not in the dictionary, which is Debian's package wamerican.
. "$(dirname "$0")/start.sh"
words=${WORDS:-/usr/share/dict/words}
[ -r "$words" ] || { echo "no $words: apt-get install wamerican" >&2; exit 77; }

"$umbel" build -q -p 1/100000 --lower -o "$dir/words.umb" "$words"
echo 'The quick brown fox jumsp over the lazzy dog' | tr ' ' '\n' | "$umbel" check -v "$dir/words.umb"
