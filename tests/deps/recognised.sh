#!/bin/sh
# SPDX-License-Identifier: MIT
# recognised.sh COMMAND - file(1) and shared-mime-info know umbel's files by docs/formats/umbel.magic and umbel.xml:
# every kind by its name, and nothing that is not one.
set -eu
umbel=$(realpath "$1")
formats=$(cd "$(dirname "$0")/../../docs/formats" && pwd)
for tool in file update-mime-database gio; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed (scripts/setup test)"; exit 77; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "FAILED: $*"; exit 1; }

file -C -m "$formats/umbel.magic" 2>log && [ ! -s log ] || { cat log; fail "umbel.magic has faults"; }
said() { file -b -m "$formats/umbel.magic" "$@"; }
mime_of() { XDG_DATA_HOME=$tmp/data XDG_DATA_DIRS=$tmp/none gio info -a standard::content-type "$1" | sed -n 's/.*content-type: //p'; }
mkdir -p data/mime/packages
cp "$formats/umbel.xml" data/mime/packages
update-mime-database -V data/mime >log 2>&1 || { cat log; fail "umbel.xml"; }

kinds=$(sed -n 's/^ *UMBEL_KIND_\([A-Z]*\) = [1-9].*/\1/p' "$formats/../../include/umbel.h" | tr '[:upper:]' '[:lower:]')
[ "$(echo "$kinds" | wc -l)" -ge 8 ] || fail "kinds of umbel.h: $kinds"
seq 300 >keys
seq 301 600 >good
for kind in $kinds; do
    case $kind in
    exact) "$umbel" build -q --universe good -o exact.umb keys ;;
    *) "$umbel" build -q --kind "$kind" -n 300 -p 1% -o "$kind.umb" keys ;;
    esac
    says=$(said "$kind.umb")
    case $says in "umbel filter version 1, $kind, "*"false-positive rate 0."*) ;; *) fail "$kind: $says" ;; esac
    [ "$(said --mime-type "$kind.umb")" = application/x-umbel ] || fail "$kind: type"
done
[ "$(said --extension line.umb)" = umb ] || fail "extension"
case $(said line.umb) in *", capacity 300, "*) ;; *) fail "capacity: $(said line.umb)" ;; esac
(umask 077 && head -c 16 /dev/urandom >secret)
"$umbel" build -q --secret-file secret -p 1% -o keyed.umb keys
case $(said keyed.umb) in *", keyed") ;; *) fail "keyed: $(said keyed.umb)" ;; esac
# By the bytes, without the name; and text that talks about it is text.
cp line.umb line
[ "$(mime_of line)" = application/x-umbel ] || fail "by its bytes it is $(mime_of line)"
: >empty.umb
[ "$(mime_of line.umb)" = application/x-umbel ] || fail "by name and bytes it is $(mime_of line.umb)"
echo 'UMBEL is not a filter' >text
case $(said text) in *umbel*) fail "text: $(said text)" ;; esac
[ "$(mime_of text)" != application/x-umbel ] || fail "text is taken for a filter"
echo "$(echo "$kinds" | wc -l) kinds are recognised"
