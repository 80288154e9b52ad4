# SPDX-License-Identifier: MIT
# A short way to the real build, that of CMakePresets.json.  Everything is made below build/.
#
#   make            the library and the command
#   make demo       installs what is missing, builds, shows the main job end to end
#   make check      installs what is missing, builds, runs all tests (JOBS=n: that many at once)
#   make check-long the tests that take minutes
#   make check-cross    32-bit, big-endian, arm64, without SIMD, under valgrind (scripts/check-cross)
#   make analyse    clang-tidy, cppcheck and gcc's analyser over the sources
#   make coverage   which lines the tests run: build/coverage/report
#   make check-interop  compares with ClickHouse and DuckDB, from npm (600 MB below build/interop)
#   make fuzz       fuzzes TARGET (all of them) for SECONDS (60) each: docs/hardening.md
#   make mutate     plants COUNT (100) slips into the C files, one at a time: do the tests notice?
#   make soak       kills, failing calls and threads at random for SECONDS (600): docs/hardening.md
#   make bench      measures the library, beside libbloom and LevelDB
#   make bench-cli  measures the command, beside DCSO's bloom, gawk and sort
#   make bench-redis  measures the module in a real server, beside commands that do nothing
#   make install    PREFIX and DESTDIR as usual
#   make format     lays out the C files
#   make clean

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export JOBS

.PHONY: all demo check check-long check-cross check-interop analyse coverage fuzz mutate soak \
        bench bench-cli bench-redis install format clean

all: build/CMakeCache.txt
	cmake --build build -j $(JOBS)

# The first time without tests: they need more than the library does.
build/CMakeCache.txt:
	cmake --preset plain

demo:
	scripts/setup run
	$(MAKE) --no-print-directory all
	UMBEL=$(CURDIR)/build/umbel examples/demo.sh

check:
	scripts/setup test
	tests/run

check-long:
	scripts/setup test
	tests/run --long

check-cross:
	scripts/setup cross
	scripts/check-cross

analyse:
	scripts/setup analyse
	scripts/analyse

coverage:
	scripts/setup coverage
	scripts/coverage

# A system that cannot be installed makes its tests skip, and fail where CI=true.
check-interop:
	-scripts/setup interop
	tests/run --interop

# Each target of tests/fuzz, or the one called TARGET, for so many seconds.
SECONDS ?= 60
fuzz:
	scripts/setup test
	tests/fuzz/run.sh $(SECONDS) $(TARGET)

# Below PATHS (src cli module); a SEED repeats a run.
COUNT ?= 100
mutate:
	scripts/setup test
	scripts/mutate --count $(COUNT) $(if $(SEED),--seed $(SEED)) $(PATHS)

# The long forms of tests/crash and of the tests of threads, for so many seconds.
soak: seconds = $(if $(filter file,$(origin SECONDS)),600,$(SECONDS))
soak:
	scripts/setup test
	for preset in release tsan; do \
	    cmake --preset $$preset && cmake --build --preset $$preset -j $(JOBS) || exit 1; \
	done
	tests/crash/soak.sh build build/tsan $(seconds)

bench:
	scripts/setup bench
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS)
	for program in build/bench/umbel-bench* build/bench/bench/umbel-bench*; do \
	    [ ! -f "$$program" ] || [ ! -x "$$program" ] || "$$program" $(BENCH_ARGS) || exit 1; \
	done

# The command beside other commands, on LINES lines of URLs.
LINES ?= 3e6
bench-cli: all
	scripts/setup bench
	bench/cli/run.py $(LINES)

# The module, with KEYS keys.
KEYS ?= 1e7
bench-redis: all
	scripts/setup test
	bench/redis/run.py $(KEYS)

install: build/CMakeCache.txt
	cmake -S . -B build -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX))
	cmake --build build -j $(JOBS)
	cmake --install build
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

format:
	scripts/check-format --fix

clean:
	rm -rf build
