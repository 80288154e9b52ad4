#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [--empty] SECONDS [TARGET]... - builds the fuzz targets with clang below build/fuzz and runs each
# for SECONDS on its stored corpus, unpacked to build/fuzz/corpus/TARGET, and the golden files; with
# --empty on nothing, as for somebody who starts anew (in build/fuzz/found/TARGET.empty).  New
# inputs go to build/fuzz/found/TARGET, failing ones to build/fuzz/failed/TARGET-...; the exit
# status is 1 if any failed.
set -eu

cd "$(dirname "$0")/../.."
empty=
if [ "$1" = --empty ]; then
    empty=.empty
    shift
fi
seconds=$1
shift
build=build/fuzz
mkdir -p build
cmake --preset fuzz >$build.log 2>&1 &&
    cmake --build --preset fuzz -j "${JOBS:-2}" >>$build.log 2>&1 || {
    cat $build.log
    exit 1
}
tests/fuzz/seeds.py $build/seeds
mkdir -p $build/failed

stored=tests/fuzz/corpus
[ $# -gt 0 ] || set -- $(cd $stored && ls *.pack | sed 's/\.pack$//')
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
status=0
for target in "$@"; do
    found=$build/found/$target$empty
    corpus=$build/corpus/$target
    log=$found.log
    if [ -n "$empty" ]; then
        rm -rf "$found"
        mkdir -p "$found"
        inputs=$found
    else
        mkdir -p "$found" $build/seeds/"$target"
        rm -rf "$corpus"
        tests/fuzz/pack.py unpack "$stored/$target.pack" "$corpus"
        inputs="$found $corpus $build/seeds/$target"
    fi
    if $build/tests/fuzz/fuzz_"$target" -max_total_time="$seconds" -max_len=16384 -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix=$build/failed/"$target"- \
        $inputs >"$log" 2>&1; then
        edges=$(sed -n 's/^#.*DONE *cov: \([0-9]*\).*/\1/p' "$log")
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        echo "ok $target: $runs executions, $edges edges covered"
    else
        grep -v '^#' "$log" | tail -n 40
        echo "not ok $target: see $log and $build/failed"
        status=1
    fi
done
exit $status
