#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh FOLDER - checks the Debian packages in FOLDER, as scripts/make-deb leaves them there: lintian
# has no complaint, what they need is there, and command, libraries, module and Python module work from
# a folder into which they are unpacked.
set -eu
folder=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
step() { echo "-- $*"; }
fail() { echo "FAILED: $*"; exit 1; }

packages="umbel umbel-doc libumbel0.4 libumbel-table0.4 libumbel-leveldb0.4 libumbel-sign0.4 libumbel-dev libumbel-table-dev
          libumbel-leveldb-dev libumbel-sign-dev redis-umbel python3-umbel postgresql-15-umbel lua-umbel"
version=$(sed -n 's/^#define UMBEL_VERSION "\(.*\)"/\1/p' "$root/include/umbel.h")
soversion=${version%.*}
package_file() { echo "$folder/$1_$version-"*.deb; }

step lintian
LC_ALL=C lintian --fail-on error "$folder"/*.changes >"$tmp/lintian" 2>"$tmp/errors" || :
[ "$(grep -v 'root privileges' "$tmp/errors" || :)" = "" ] || { cat "$tmp/errors"; fail "lintian"; }
if grep -v 'initial-upload-closes-no-bugs' "$tmp/lintian"; then fail "lintian complains"; fi

step unpack
for package in $packages; do
    dpkg -x "$(package_file "$package")" "$tmp/root" || fail "no package $package"
    # Each dependency is one of these packages or installed here, as scripts/setup deb has it.
    dpkg-deb -f "$(package_file "$package")" Depends | tr ',' '\n' |
        sed 's/|.*//; s/(.*//; s/:any//; s/ //g' | grep -v '^$' >"$tmp/needs" || :
    while read -r need; do
        case " $packages " in *" $need "*) continue ;; esac
        dpkg-query -W -f '${db:Status-Status}' "$need" 2>/dev/null | grep -q '^installed' ||
            fail "$package depends on $need, which is not installed"
    done <"$tmp/needs"
done
usr=$tmp/root/usr
libdir=$(dirname "$(find "$usr/lib" -name "libumbel.so.$soversion")")
# These two must not draw in LevelDB and the compression libraries.
[ "$(dpkg-deb -f "$(package_file libumbel0.4)" Depends | tr ',' '\n' | grep -cv libc6)" = 0 ] ||
    fail "libumbel0.4 depends on more than libc6"
[ "$(dpkg-deb -f "$(package_file libumbel-dev)" Depends | tr ',' '\n' | grep -cv ' *libumbel0.4 ')" = 0 ] ||
    fail "libumbel-dev depends on more than libumbel0.4"
grep -q 'tests of the build tree passed' "$folder/build.log" || fail "the package was built without its tests"

step symbols
cd "$root"
for library in libumbel libumbel-table libumbel-leveldb libumbel-sign; do
    symbols=debian/$library$soversion.symbols
    check() { # as debian/rules has it
        rm -f "$tmp/generated"
        dpkg-gensymbols -c4 "-v$version+1" "-p$library$soversion" "-e$libdir/$library.so.$version" "-I$1" \
            "-O$tmp/generated"
    }
    check "$symbols" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "$symbols"; }
    # A function that went, or came, is noticed.
    { cat "$symbols"; echo " umbel_that_went@Base $version"; } >"$tmp/went"
    if check "$tmp/went" >/dev/null 2>&1; then fail "$library lost a function, and nothing failed"; fi
    sed '$d' "$symbols" >"$tmp/came"
    if check "$tmp/came" >/dev/null 2>&1; then fail "$library has a new function, and nothing failed"; fi
done
# Programs depend on the version of the package that they were built with, if they say so in their control.
for library in libumbel libumbel-table libumbel-leveldb libumbel-sign; do
    dpkg-deb -I "$(package_file $library$soversion)" symbols | grep -qx "\* Build-Depends-Package: $library-dev" ||
        fail "$library's symbols do not name $library-dev"
done
cd "$tmp"

step documents
[ -x "$usr/share/doc/umbel/examples/demo.sh" ] || fail "no examples"
find "$usr/share/doc/umbel/docs" -name '*.md' | while read -r document; do
    grep -o '](\(\.\./\)\?[a-z0-9/-]*\.\(md\|svg\|png\)' "$document" | sed 's/](//' | while read -r target; do
        case $target in *bindings/* | *contrib/*) continue ;; esac
        [ -e "$(dirname "$document")/$target" ] || echo "${document##*/}: $target"
    done
done >dead
[ ! -s dead ] || { cat dead; fail "umbel-doc has dead links"; }

step PostgreSQL
# The server's headers are those of the newest minor version; an older server may lack what they have.
minor=$(/usr/lib/postgresql/15/bin/pg_config --version | cut -d' ' -f2)
dpkg-deb -f "$(package_file postgresql-15-umbel)" Depends | tr ',' '\n' | grep -qx " *postgresql-15 (>= $minor)" ||
    fail "postgresql-15-umbel does not need PostgreSQL $minor"
# The extension as the package has it, in a server that the test starts.
UMBEL_POSTGRES=$usr/lib/postgresql/15/lib/umbel.so UMBEL=$usr/bin/umbel PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m pytest -q -p no:cacheprovider "$root/tests/sql/test_pg_regress.py" >log ||
    { cat log; fail "the extension for PostgreSQL"; }
[ -e "$usr/share/postgresql/15/extension/umbel.control" ] || fail "no umbel.control"

step command
printf 'ada\nbob\n' | "$usr/bin/umbel" build -o names.umb 2>/dev/null
[ "$(printf 'bob\neve\n' | "$usr/bin/umbel" check names.umb)" = bob ] || fail "umbel check"
"$usr/bin/umbel" table "$root/tests/golden/table/keys300.ldb" >/dev/null || fail "umbel table"
[ "$(echo bob | "$usr/bin/umbel" serve --squid names.umb)" = "OK tag=names" ] || fail "umbel serve"
"$root/tests/deps/needed.sh" "$usr/bin/umbel" "$usr/libexec/umbel" || fail "libraries of umbel"
for file in man/man1/umbel.1.gz man/man3/umbel_add.3.gz man/man7/umbel-kinds.7.gz \
    bash-completion/completions/umbel zsh/vendor-completions/_umbel; do
    [ -e "$usr/share/$file" ] || fail "no $file"
done

step libraries
# The prefix in the files is /usr; here it is elsewhere.
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
flags() { pkg-config "--define-variable=prefix=$usr" --cflags --libs "$1"; }
cc -std=c11 "$root/tests/consumer/consumer.c" -o consumer $(flags umbel)
./consumer
cc -std=c11 "$root/tests/consumer/table_consumer.c" -o table_consumer $(flags umbel-table)
./table_consumer "$root/tests/golden/table/keys300.ldb"
cc -std=c11 "$root/tests/consumer/sign_consumer.c" -o sign_consumer $(flags umbel-sign)
./sign_consumer "$root/tests/golden/minisign/list" RWREYQazd5Bd4fnocBacS23YlqbCFrlH+CPGbwemgFgScPH+Z5Of7wHU
c++ -std=c++17 "$root/tests/consumer/leveldb_consumer.cc" -o leveldb_consumer $(flags umbel-leveldb)
mkdir database
./leveldb_consumer database
cmake -S "$root/tests/consumer" -B cmake -DCMAKE_PREFIX_PATH="$usr" -DWANTED="$version" >log &&
    cmake --build cmake >>log || { cat log; fail "find_package(umbel)"; }
cmake/with_shared
unset LD_LIBRARY_PATH PKG_CONFIG_PATH

step module
"$root/tests/consumer/try_module.sh" "$usr/lib/redis/modules/umbel.so"

step Python
PYTHONPATH=$usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$usr" <<'P'
import sys
import umbel
assert umbel.__file__.startswith(sys.argv[1]), umbel.__file__
names = umbel.Filter.open("names.umb")
assert "ada" in names and "eve" not in names
P
step Lua
cat >ask.lua <<'P'
local umbel = require("umbel")
local names = assert(umbel.open("names.umb"))
assert(names:contains("ada") and not names:contains("eve"))
P
UMBEL_LIBRARY=$libdir/libumbel.so.$soversion LUA_PATH="$usr/share/lua/5.1/?.lua" luajit ask.lua || fail "LuaJIT"
LD_LIBRARY_PATH=$libdir LUA_CPATH="$libdir/lua/5.4/?.so" lua5.4 ask.lua || fail "Lua 5.4"

echo "$(echo "$packages" | wc -w) packages work"
