#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""faults.py - every system call and allocation of every command fails once, or falls short.

For the N-th call of a group, for each N that the command reaches: it succeeds as if nothing had
happened, or exits with status 2 and a one-line message; the file is the old or the new one, and
nothing else is left behind.  With --seconds: the same over several threads, calls and errors at
random.
"""
import errno
import json
import random
import time
from collections import Counter

from scenes import SCENES, Outcome, Stage, check_state, need, options, report

# Groups of shim.c, and what may happen to such a call.
FAULTS = [
    ("open", errno.EMFILE), ("stat", errno.EIO), ("mmap", errno.ENOMEM), ("malloc", errno.ENOMEM),
    ("read", errno.EIO), ("read", errno.EINTR), ("read", "short"),
    ("write", errno.ENOSPC), ("write", errno.EINTR), ("write", "short"),
    ("fsync", errno.EIO), ("rename", errno.EACCES), ("close", errno.EIO), ("truncate", errno.EIO),
    ("chmod", errno.EPERM), ("flock", errno.ENOLCK), ("flock", errno.EINTR),
    ("thread", errno.EAGAIN),
]
MANY = 40  # of these, one in nine is enough for make check


def check_output_of_error(stage, scene, fault):
    errors = stage.errors()
    need(errors.count("\n") == 1 and errors.startswith("umbel: "), scene.name, fault,
         "said:", repr(errors))


def check_files(stage, scene, outcome, fault, status):
    need(not stage.temporaries(), scene.name, fault, "left", stage.temporaries())
    for name in stage.texts:
        need(name == scene.target or stage.untouched(name), scene.name, fault, "changed", name)
    need((stage.work / "link.umb").is_symlink(), scene.name, fault, "replaced the link")
    if not scene.target:
        return
    now = stage.bytes_of(scene.target)
    if scene.uniq:
        # Nothing can be promised if the write itself failed: the output, or the state.
        errors = stage.errors()
        failed = "standard output:" in errors or errors.startswith(f"umbel: {scene.target}:")
        check_state(stage, scene, outcome, everything=not failed)
    elif status == outcome.status:
        need(now == outcome.new, scene.name, fault, "succeeded with other bytes")
    else:
        need(now in (outcome.old, outcome.new), scene.name, fault, "damaged", scene.target)


def is_part(output, whole, scene):
    """Is it the beginning, or, as `check` continues after a file that cannot be read, lines of it?"""
    if whole.startswith(output):
        return True
    rest = iter(whole.splitlines(True))
    return scene.arguments[0] == "check" and all(line in rest for line in output.splitlines(True))


def is_report_of(errors, output, whole):
    """Is it the object of --json, with the error, and else only what a run without faults says?"""
    try:
        said, good = json.loads(output), json.loads(whole)
    except ValueError:
        return False
    messages = [": ".join(["umbel", *filter(None, (e.get("where"), e["text"]))])
                for e in said.pop("errors")]
    return said.pop("status") == 2 and len(messages) == 1 and errors.startswith(messages[0]) and \
        said.items() <= good.items()


def check_output_of_failed(stage, scene, outcome, fault):
    output, errors = stage.output(), stage.errors()
    wrote = is_part(output, outcome.output, scene)
    if "--json" in scene.arguments:
        # There is no report before the options are read, and none if writing it fails.
        without = errors.startswith(("umbel: standard output: ", "umbel: out of memory"))
        wrote = wrote and without or is_report_of(errors, output, outcome.output)
    need(wrote, scene.name, fault, "wrote other output:", output, errors)


def one_fault(stage, scene, outcome, fault, threads=1):
    """False if the command did not reach that call."""
    stage.reset()
    status = stage.run(scene, fault, threads)
    if not stage.happened():
        need(status == outcome.status, scene.name, "ended with", status, "for no reason")
        return False
    need(status in (2, outcome.status), scene.name, fault, "ended with", status, stage.errors())
    if status == outcome.status:
        need(stage.output() == outcome.output, scene.name, fault, "succeeded with other output",
             stage.output())
    else:
        check_output_of_error(stage, scene, fault)
        check_output_of_failed(stage, scene, outcome, fault)
    check_files(stage, scene, outcome, fault, status)
    return True


def calls_of(stage, scene):
    """How many calls of each group a scene makes."""
    stage.reset()
    stage.run(scene, "none:0:0")
    return Counter(stage.log.read_text().split())


def every_fault(stage, scene, many):
    outcome = Outcome(stage, scene)
    calls = calls_of(stage, scene)
    runs = 0
    for group, what in FAULTS:
        for number in [*range(1, min(many, calls[group] + 1)), *range(many, calls[group] + 1, 9)]:
            if number > calls[group]:
                break
            need(one_fault(stage, scene, outcome, f"{group}:{number}:{what}"),
                 scene.name, "did not come to", group, number)
            runs += 1
    expected = ["open", "stat", "close", "malloc"]
    expected += ["write", "fsync", "rename", "flock"] if scene.target else []
    need(all(calls[group] for group in expected), scene.name,
         "is not seen by the shim to call", [g for g in expected if not calls[g]])
    return f"{runs} faults"


def order_of_saving(stage):
    """What a power cut requires: bytes on disk before the rename, the rename before success is
    reported."""
    scene = next(s for s in SCENES if s.name == "add")
    stage.reset()
    need(stage.run(scene, "none:0:0") == 0, stage.errors())
    calls = [c for c in stage.log.read_text().split() if c in ("write", "fsync", "rename")]
    need(calls[-3:] == ["fsync", "rename", "fsync"] and "write" in calls[:-3]
         and calls.count("rename") == 1, "add ends with", calls)


def unsynced_directory(stage):
    """The new file is in place, and the message says what that is worth."""
    scene = next(s for s in SCENES if s.name == "add")
    outcome = Outcome(stage, scene)
    stage.reset()
    need(stage.run(scene, f"fsync:2:{errno.EIO}") == 2, "succeeded")
    need("the new file is in place but may not survive a power cut" in stage.errors(),
         "said", stage.errors())
    need(stage.bytes_of(scene.target) == outcome.new, "is the old file")


def unsynced_output(stage):
    """A state is saved only if the disk has the lines, or the file system never syncs."""
    scene = next(s for s in SCENES if s.name == "uniq")
    outcome = Outcome(stage, scene)
    for call in (1, 2):  # of the file, of its directory
        for error in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
            stage.reset()
            need(stage.run(scene, f"fsync:{call}:{error}") == 2, "succeeded")
            need("standard output: cannot be synced to disk: " in stage.errors()
                 and "the state was not saved" in stage.errors(), "said", stage.errors())
            need(stage.bytes_of(scene.target) == outcome.old, "changed the state")
        stage.reset()
        need(stage.run(scene, f"fsync:{call}:{errno.EINVAL}") == 0, stage.errors())
        need(("standard output: warning: cannot be synced here" in stage.errors()) == (call == 1),
             "said", stage.errors())
        need(stage.bytes_of(scene.target) == outcome.new, "did not save the state")


def full_disk(stage):
    """Lines that could not be written are not remembered either."""
    scene = next(s for s in SCENES if s.name == "uniq")
    outcome = Outcome(stage, scene)
    for error in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        stage.reset()
        need(stage.run(scene, f"write:1:{error}") == 2, "succeeded")
        need("standard output: " in stage.errors(), "said", stage.errors())
        need(stage.bytes_of(scene.target) == outcome.old, "changed the state")


def at_random(stage, seconds):
    end = time.monotonic() + seconds
    outcomes = [(scene, Outcome(stage, scene)) for scene in SCENES]
    runs = 0
    while time.monotonic() < end:
        scene, outcome = random.choice(outcomes)
        group, what = random.choice(FAULTS)
        number = int(random.choice((1.6, 3, 10, 60)) ** random.uniform(0, 2))
        runs += one_fault(stage, scene, outcome, f"{group}:{number}:{what}",
                          threads=random.choice((1, 2, 4)))
    return f"{runs} faults"


def main():
    found = options(__doc__)
    stage = Stage(found.umbel, found.shim, 20000 if found.seconds else 1000)
    if found.seconds:
        tests = [("faults at random", lambda: at_random(stage, found.seconds))]
    else:
        many = 10 ** 6 if found.every else MANY
        part, parts = map(int, found.part.split("/"))
        tests = [(scene.name, lambda scene=scene: every_fault(stage, scene, many))
                 for scene in SCENES[part - 1::parts]]
        tests.append(("a directory that cannot be synced", lambda: unsynced_directory(stage)))
        tests.append(("an output that cannot be synced", lambda: unsynced_output(stage)))
        tests.append(("an output that cannot be written", lambda: full_disk(stage)))
        tests.append(("the order of saving", lambda: order_of_saving(stage)))
    report(tests)


main()
