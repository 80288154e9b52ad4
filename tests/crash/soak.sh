#!/bin/sh
# SPDX-License-Identifier: MIT
# soak.sh BUILD TSAN SECONDS - the long forms of the crash and thread tests: every fault once, then
# commands that change one file at the same time for SECONDS, then kills and faults at random and
# threads under changing seeds, each for a third of that.  BUILD and TSAN are build trees, the second
# with ThreadSanitizer.
set -eu

build=$1
tsan=$2
part=$(($3 / 3))
here=$(dirname "$0")
failed=0

echo "== every fault"
python3 "$here/faults.py" --umbel "$build/umbel" --shim "$build/tests/crash/libumbel_shim.so" \
    --every || failed=1

echo "== turns, $3 s"
python3 "$here/turns.py" --umbel "$build/umbel" --shim "$build/tests/crash/libumbel_shim.so" \
    --seconds "$3" || failed=1

for test in kills faults; do
    echo "== $test, $part s"
    python3 "$here/$test.py" --umbel "$build/umbel" --shim "$build/tests/crash/libumbel_shim.so" \
        --seconds "$part" || failed=1
done

echo "== threads, $part s"
end=$(($(date +%s) + part))
runs=0
while [ "$(date +%s)" -lt "$end" ]; do
    seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
    for program in "$build"/tests/test_concurrent* "$tsan"/tests/test_concurrent* \
        "$tsan"/tests/test_static_threads; do
        [ -f "$program" ] && [ -x "$program" ] || continue
        if ! UMBEL_TEST_SEED=$seed "$program" > "$build/soak.log" 2>&1; then
            cat "$build/soak.log"
            echo "failed: UMBEL_TEST_SEED=$seed $program"
            failed=1
        fi
        runs=$((runs + 1))
    done
done
echo "$runs runs"

[ $failed -eq 0 ] && echo "soak: nothing found"
exit $failed
