#!/bin/sh
# SPDX-License-Identifier: MIT
# needed.sh UMBEL [FOLDER] - what the system loads before umbel answers: the C library and what lines are read
# with, packed or not.  Those that push, serve and table need, programs in FOLDER (beside UMBEL), take longer to load than a lookup
# and the process around it.
set -eu
folder=${2:-$(dirname "$1")}
loads() { # PROGRAM: the names of its libraries, and of those that they need
    ldd "$1" | awk '{ print $1 }' | sed 's|.*/||; s|\.so.*||' | grep -v '^linux-vdso\|^ld-linux' | sort | tr '\n' ' '
}
may=' libbz2 libc libisal libjansson liblz4 liblzma libm libz libzstd '
got=$(loads "$1")
echo "# umbel: $got"
for library in $got; do
    case $may in *" $library "*) ;; *) echo "not ok 1 - umbel loads $library"; exit 1 ;; esac
done
case $got in *libjansson*) ;; *) echo "not ok 1 - umbel loads $got: is it linked statically?"; exit 1 ;; esac
echo "ok 1 - umbel loads what it reads lines with"
for pair in serve:libssl serve:libstdc++ push:libmicrohttpd push:libstdc++ table:libssl table:libmicrohttpd; do
    program=$folder/umbel-${pair%:*} library=${pair#*:}
    case " $(loads "$program")" in *" $library "*) echo "not ok 2 - $program loads $library"; exit 1 ;; esac
done
echo "ok 2 - push, serve and table do not load each other's"
