#!/bin/sh
# SPDX-License-Identifier: MIT
# side_library.sh LIBRARY.SO KIB - the library does not carry libumbel: its code and constants have less
# than KIB KiB, and none of libumbel's public functions is hidden in it.
set -eu
text=$(size -A "$1" | awk '$1 ~ /^\.(text|rodata|eh_frame)/ { sum += $2 } END { print sum }')
echo "# $1: $text bytes of code and constants; fewer than $(($2 * 1024)) are allowed"
[ "$text" -gt 0 ]
[ "$text" -lt $(($2 * 1024)) ]
[ -z "$(nm --defined-only "$1" | awk '$2 == "t" && $3 ~ /^umbel_/')" ]
echo "ok 1 - it does not carry libumbel"
