# SPDX-License-Identifier: MIT
# A front end to the real build, which is in CMakePresets.json.  Everything is built below build/.
#
#   make            the library and the command
#   make demo       installs what is missing, builds, demonstrates the main use end to end
#   make check      installs what is missing, builds, runs all tests (JOBS=n: that many in parallel)
#   make quick      what changed SINCE the upstream branch: builds, checks, its tests; about a minute
#   make check-builds   compiles the library as other systems and projects do
#   make check-long the tests that take minutes
#   make check-cross    32-bit, big-endian, arm64, without SIMD, under valgrind (scripts/check-cross)
#   make check-musl the library with another C library
#   make analyse    clang-tidy, cppcheck and gcc's analyser over the sources
#   make coverage   which lines the tests reach: build/coverage/report
#   make check-interop  compares with ClickHouse and DuckDB, from npm (600 MB below build/interop)
#   make check-edge  lists in real resolvers, proxies and mail servers (tests/edge)
#   make check-servers  the module's tests in newer servers, built from Debian's sources
#   make fuzz       fuzzes TARGET (all of them) for SECONDS (60) each: docs/hardening.md
#   make mutate     plants COUNT (100) slips in the C files, one at a time: do the tests notice?
#   make soak       kills, failing calls and threads at random for SECONDS (600): docs/hardening.md
#   make bench      benchmarks the library against libbloom and LevelDB
#   make bench-edge  a block list in real servers, with a filter and in their own ways
#   make bench-cli  benchmarks the command against DCSO's bloom, gawk, sort, cut, mlr and jq
#   make bench-redis  benchmarks the module in a real server against commands that do nothing
#   make bench-follow  what updates of a list and exact filters take, next to zstd, xdelta3 and diff
#   make python     builds the Python module's wheel and tests it: docs/python.md
#   make postgres   the extension for PostgreSQL: build/postgres/umbel.so (docs/sql.md)
#   make sqlite     the extension for SQLite: build/sqlite/umbel.so, and as one file to compile in
#   make check-sql  tests of both in real servers, and of umbel.dask on a cluster
#   make bench-sql  measures them, next to IN, EXISTS and contrib/bloom
#   make js         the npm package: build/js/umbel-VERSION.tgz
#   make web        the page for browsers: build/web/umbel.html, and for a server build/web/site
#   make check-web  tests of both, in Node and a real browser
#   make vectors    files and keys for whoever writes a reader: build/umbel-vectors-1.tar.zst (docs/formats/vectors.md)
#   make check-readers  the readers in Go, Rust and Java, and that kit in all languages
#   make bench-readers  measures them, next to bits-and-blooms and Guava
#   make bench-js   measures the package, next to bloom-filters and bloomfilter from npm
#   make static     the command as one file without dependencies, for x86-64 and arm64: build/static
#   make check-static   tries both in an empty root
#   make release    everything that people download, into dist/: docs/packaging.md (MINISIGN_KEY signs it)
#   make check-release  a rehearsal: builds a release twice, installs each file in a bare Debian 12 (RELEASE=dist: only that)
#   make install    PREFIX and DESTDIR as usual
#   make uninstall  removes what `make install` installed, and nothing else
#   make format     formats the C files
#   make clean

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export JOBS

.PHONY: all demo check quick check-edge bench-edge check-long check-cross check-musl analyse coverage \
        check-builds check-interop \
        check-servers fuzz mutate soak js web check-web vectors check-readers bench-readers \
        bench bench-cli bench-redis bench-follow python \
        postgres postgres-extension postgres-install sqlite sqlite-extension check-sql bench-sql bench-js deb \
        check-deb static check-static dist amalgamation release check-release install uninstall format clean

all: build/CMakeCache.txt
	cmake --build build -j $(JOBS)

# The first time without tests: they need more packages than the library does.
build/CMakeCache.txt:
	cmake --preset plain

demo:
	scripts/setup run
	$(MAKE) --no-print-directory all
	UMBEL=$(CURDIR)/build/umbel contrib/demo.sh

check:
	scripts/setup test
	tests/run

quick:
	tests/quick $(SINCE)

check-builds:
	scripts/setup test
	tests/run --builds

check-long:
	scripts/setup test
	tests/run --long

check-cross:
	scripts/setup cross
	scripts/check-cross

check-musl:
	scripts/setup musl
	scripts/check-musl

analyse:
	scripts/setup analyse
	scripts/analyse

coverage:
	scripts/setup coverage
	scripts/coverage

# If a system cannot be installed, its tests are skipped; where CI=true they fail.
check-interop:
	-scripts/setup interop
	tests/run --interop

# A server that cannot be installed is skipped, and counts as a failure where CI=true.
check-edge bench-edge:
	-scripts/setup edge
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	$(if $(filter bench-edge,$@),bench/edge/run.py $(NAMES),tests/edge/run.py)

# A server that cannot be built is skipped, and counts as a failure where CI=true.
check-servers:
	scripts/setup servers
	tests/run --servers

# Each target of tests/fuzz, or the one called TARGET, for SECONDS seconds; EMPTY=1: without the inputs
# of earlier runs.
SECONDS ?= 60
fuzz:
	scripts/setup test
	tests/fuzz/run.sh $(if $(EMPTY),--empty) $(SECONDS) $(TARGET)

# Below PATHS (src cli module), in files that changed SINCE a revision; a SEED repeats a run.
COUNT ?= 100
mutate:
	scripts/setup test
	scripts/mutate --count $(COUNT) $(if $(SEED),--seed $(SEED)) $(if $(SINCE),--since $(SINCE)) $(PATHS)

# The long forms of tests/crash and of the thread tests, for SECONDS seconds.
soak: seconds = $(if $(filter file,$(origin SECONDS)),600,$(SECONDS))
soak:
	scripts/setup test
	for preset in release tsan; do \
	    cmake --preset $$preset && cmake --build --preset $$preset -j $(JOBS) || exit 1; \
	done
	tests/crash/soak.sh build build/tsan $(seconds)

js:
	scripts/setup js
	bindings/js/pack

web: js
	bindings/web/build

# Compares with the command's bytes; UMBEL names a command other than build/umbel.
check-web:
	scripts/setup web
	$(if $(UMBEL),,$(MAKE) --no-print-directory all)
	$(MAKE) --no-print-directory web
	tests/web/run

vectors:
	scripts/setup readers
	$(MAKE) --no-print-directory all
	scripts/make-vectors build/umbel build/umbel-vectors-1.tar.zst

check-readers: vectors js
	tests/readers/run

bench-readers:
	scripts/setup readers
	$(MAKE) --no-print-directory all
	bench/readers/run.py

bench:
	scripts/setup bench
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS)
	for program in build/benchmark/bench/umbel-bench*; do \
	    [ ! -f "$$program" ] || [ ! -x "$$program" ] || "$$program" $(BENCH_ARGS) || exit 1; \
	done

# The command against other commands, on LINES lines of URLs.
LINES ?= 3e6
bench-cli:
	scripts/setup bench
	$(MAKE) --no-print-directory all
	bench/cli/run.py $(LINES)
	bench/cli/alternatives.py $(LINES)
	bench/cli/coming.py $(LINES)
	bench/cli/recipes.py $(LINES)
	bench/cli/start.py

# A list of FOLLOWED names that changes; of 2e6, the tables of docs/guides/follow-a-list.md.
FOLLOWED ?= 2e6
bench-follow:
	scripts/setup bench
	$(MAKE) --no-print-directory all
	bench/follow/run.py $(FOLLOWED)

# The module, with KEYS keys.
KEYS ?= 1e7
bench-redis:
	scripts/setup test
	$(MAKE) --no-print-directory all
	bench/redis/run.py $(KEYS)

# With Debian's Python, whose packages setup installs, whatever else comes first in PATH.
python:
	scripts/setup python
	/usr/bin/python3 bindings/python/check.py

# Against the server whose pg_config comes first, or PG_CONFIG's.
POSTGRES_OUT ?= $(CURDIR)/build/postgres
SQLITE_OUT ?= $(CURDIR)/build/sqlite
postgres:
	scripts/setup sql
	$(MAKE) --no-print-directory all
	$(MAKE) --no-print-directory postgres-extension

postgres-extension:
	mkdir -p $(POSTGRES_OUT)
	$(MAKE) --no-print-directory -C $(POSTGRES_OUT) -f $(CURDIR)/bindings/postgres/Makefile VPATH=$(CURDIR)/bindings/postgres

postgres-install: postgres-extension
	$(MAKE) --no-print-directory -C $(POSTGRES_OUT) -f $(CURDIR)/bindings/postgres/Makefile VPATH=$(CURDIR)/bindings/postgres install

sqlite:
	scripts/setup sql
	$(MAKE) --no-print-directory all
	$(MAKE) --no-print-directory sqlite-extension

sqlite-extension:
	$(MAKE) --no-print-directory -C bindings/sqlite OUT=$(SQLITE_OUT)

check-sql: postgres sqlite
	tests/sql/run

# With ROWS rows.
ROWS ?= 1e6
bench-sql: postgres sqlite
	bench/sql/run.py $(ROWS)

bench-js: js
	node bench/js/run.mjs

deb:
	scripts/setup deb
	scripts/make-deb build/deb

# lintian, every part from the unpacked packages, and a second build that must give the same bytes.
check-deb: deb
	tests/deps/deb.sh build/deb
	tests/deps/reproducible.sh build/deb

static:
	scripts/setup static
	scripts/make-static

# In an empty root, arm64 under qemu.
check-static: static
	tests/deps/static.sh build/static

dist:
	scripts/make-dist build

amalgamation:
	scripts/amalgamate build/amalgamation

release:
	scripts/setup release
	scripts/make-release dist

check-release:
	scripts/setup release
	tests/release/run $(RELEASE)

install: build/CMakeCache.txt
	cmake -S . -B build -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX))
	cmake --build build -j $(JOBS)
	scripts/install-files install build $(abspath $(PREFIX)) build/installed
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

uninstall:
	scripts/install-files uninstall build/installed
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

format:
	scripts/check-format --fix

clean:
	rm -rf build
