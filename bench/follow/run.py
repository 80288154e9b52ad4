#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [NAMES] - what it takes to follow a list: a change of a hundredth, shipped in five ways; exact filters

The tables of docs/guides/follow-a-list.md, of 2 million names if no number is given.  Times are CPU time, user and system, of all
processes; each way is undone and checked before it is printed.  UMBEL, or build/umbel.
"""
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
UMBEL = os.environ.get("UMBEL") or str(ROOT / "build" / "umbel")
NAMES = int(float(sys.argv[1])) if len(sys.argv) > 1 else 2_000_000
SCALE = NAMES / 2_000_000
MEMBERS, KNOWN = round(117_000 * SCALE), round(8_160_000 * SCALE)
RATE = "1e-6"


def run(command, may=(0,)):
    """Runs a line of shell, in which `umbel` is UMBEL; its output and its CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["bash", "-c", f'set -o pipefail; umbel() {{ "{UMBEL}" "$@"; }}; {command}'], capture_output=True,
                          text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in may:
        sys.exit(f"{command}: status {done.returncode}: {done.stderr}")
    return done.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def expect(count, command):
    found = int(run(command, may=(0, 1))[0])
    if found != count:
        sys.exit(f"{command}: {found:,}, not {count:,}")


def size(name):
    return Path(name).stat().st_size


def write(name, lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines))


# ---- a change of a hundredth --------------------------------------------------------------------

def make_lists():
    """old and new, sorted; left and came are what differs."""
    chance = random.Random(39)
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = set()
    while len(names) < NAMES + NAMES // 100:
        names.add("".join(chance.choices(letters, k=chance.randint(6, 14))) + chance.choice((".com", ".net", ".org", ".example")))
    names = sorted(names)
    chance.shuffle(names)
    change = NAMES // 100
    write("left", names[:change])
    write("came", names[-change:])
    write("old", sorted(names[:-change]))
    write("new", sorted(names[change:]))


# What is shipped, how it is made from old, old.umb, new and new.umb, and how a receiver comes from old to new.
WAYS = [
    ("the new filter", f"umbel build -q -f -p {RATE} --kind smallest -o new.umb new", "new.umb", "umbel verify -q new.umb"),
    ("`zstd -19 --patch-from` of the two filters", "zstd -qf -19 --patch-from=old.umb new.umb -o z", "z",
     "zstd -qdf --patch-from=old.umb z -o got && cmp got new.umb"),
    ("`xdelta3 -9` of the two filters", "xdelta3 -f -e -9 -s old.umb new.umb x", "x",
     "xdelta3 -f -d -s old.umb x got && cmp got new.umb"),
    ("a diff of the two lists, `zstd -19`", "(diff old new || [ $? = 1 ]) | zstd -qf -19 -o d", "d",
     f"zstd -qdc d | patch -s -o got old && cmp got new && umbel build -q -f -p {RATE} --kind smallest -o got.umb got"),
    ("`umbel delta`", "umbel delta -q -f --from old.umb -o u old new", "u", "umbel apply -q old.umb u"),
]


def compare_ways():
    make_lists()
    run(f"umbel build -q -p {RATE} --kind smallest -o old.umb old")
    print(f"{NAMES:,} names at {RATE}; {NAMES // 100:,} leave and as many come:\n")
    print("| what is shipped | bytes | made in | used in |\n|---|--:|--:|--:|")
    for name, make, shipped, use in WAYS:
        made, used = run(make)[1], run(use)[1]
        print(f"| {name} | {size(shipped):,} | {made:.2f} s | {used:.2f} s |", flush=True)
    expect(NAMES, "umbel check -c old.umb new")
    expect(0, "umbel check -c old.umb left")
    print(f"\nThrough the delta all {NAMES:,} names are found, and none of the {NAMES // 100:,} that left.\n")


# ---- exact over what is known -------------------------------------------------------------------

def bound(members, known):
    """Bits per member that any structure needs that is right about all that is known."""
    ways = math.lgamma(known + 1) - math.lgamma(members + 1) - math.lgamma(known - members + 1)
    return ways / math.log(2) / members


def best_exceptions():
    """The fewest bytes of a filter with exceptions, and the rate that takes them."""
    sizes = {}
    for rate in [f"1/{1 << bits}" for bits in range(10, 14)]:
        run(f"umbel build -q -f --kind tight -p {rate} --never good -o never.umb bad")
        sizes[rate] = size("never.umb")
    return min((bytes_, rate) for rate, bytes_ in sizes.items())


def compare_exact():
    write("bad", (f"{i:x}.bad.example" for i in range(MEMBERS)))
    write("good", (f"{i:x}.good.example" for i in range(KNOWN - MEMBERS)))
    seconds = run("umbel build -q --universe good -o exact.umb bad")[1]
    expect(MEMBERS, "umbel check -c exact.umb bad")
    expect(0, "umbel check -c exact.umb good")
    never, rate = best_exceptions()
    print(f"{MEMBERS:,} of {KNOWN:,} known keys, none of them wrong:\n")
    print("| | bits per member |\n|---|--:|")
    print(f"| the bound | {bound(MEMBERS, KNOWN):.2f} |")
    print(f"| `umbel build --universe`, in {seconds:.1f} s | {8 * size('exact.umb') / MEMBERS:.2f} |")
    print(f"| `umbel build --kind tight --never`, at its best rate, {rate} | {8 * never / MEMBERS:.2f} |")


def main():
    with tempfile.TemporaryDirectory(prefix="umbel-follow-") as folder:
        os.chdir(folder)
        compare_ways()
        compare_exact()


if __name__ == "__main__":
    main()
