#!/bin/sh
# SPDX-License-Identifier: MIT
# reproducible.sh FOLDER - builds the Debian packages in FOLDER again, from the source archive beside them,
# elsewhere, in another time zone, locale and with another umask, and compares packages, source package and
# archive byte for byte.  The tree may have changed since.  What differs is kept.
set -eu
first=$(cd "$1" && pwd)
again=$(mktemp -d "${TMPDIR:-/tmp}/umbel-again.XXXXXX")
second=$again/a/longer/path
fail() { echo "FAILED: $*; both are kept: $first $second"; exit 1; }

mkdir "$again/source"
tar -xzf "$first"/umbel-*.tar.gz -C "$again/source" --strip-components=1
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS=nocheck \
    "$again/source/scripts/make-deb" "$second") >"$again/log" 2>&1 || { cat "$again/log"; fail "the second build"; }

sums() { (cd "$1" && sha256sum -- *.deb *.dsc *.tar.*); }
sums "$first" >"$again/first.sums"
sums "$second" >"$again/second.sums"
diff "$again/first.sums" "$again/second.sums" || fail "not the same when built again (dpkg-deb -R and diff -r show where)"
count=$(grep -c '\.deb$' "$again/first.sums")
[ "$count" -gt 10 ] || fail "only $count packages"
rm -rf "$again"
echo "$count packages and their sources are the same when they are built again"
