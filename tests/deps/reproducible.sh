#!/bin/sh
# SPDX-License-Identifier: MIT
# reproducible.sh FOLDER - builds the Debian packages again, elsewhere, in another time zone, locale and
# with another umask, and compares them with those in FOLDER byte for byte.
set -eu
first=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
again=$(mktemp -d "${TMPDIR:-/tmp}/umbel-again.XXXXXX")
trap 'rm -rf "$again"' EXIT
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS=nocheck "$root/scripts/make-deb" "$again/a/longer/path") >/dev/null
count=0
differ=
for package in "$first"/*.deb; do
    cmp "$package" "$again/a/longer/path/$(basename "$package")" || differ="$differ $(basename "$package")"
    count=$((count + 1))
done
[ -z "$differ" ] || { echo "FAILED: not the same when built again (diffoscope shows where):$differ"; exit 1; }
[ $count -gt 10 ] || { echo "FAILED: only $count packages"; exit 1; }
echo "$count packages are the same when they are built again"
