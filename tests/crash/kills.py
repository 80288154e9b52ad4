#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kills.py - SIGKILL in the middle of the commands that change files.

Before and after every system call with which a command changes something, and at random moments:
the file is the old or the new one, there is at most one temporary file and one lock file, and the
next run removes them.  With --seconds: only at random moments, for that long, with larger filters, on disk.
"""
import random
import signal
import time

from scenes import LOCK, SCENES, TEMPORARY, Outcome, Stage, check_state, need, options, report

NAMES = ("build", "build -f", "build static", "add", "add to a filter that grows", "uniq",
         "uniq from a pipe", "merge", "fold", "remove", "delta", "apply", "apply the first")
CALLS = ("open", "write", "fsync", "rename", "flock", "close")
ROUNDS = 60


def check_after(stage, scene, outcome, where, known=frozenset()):
    """Whatever was killed: nothing is damaged, and at most a temporary file is left."""
    name = f"{scene.target}{TEMPORARY}"
    need(set(stage.temporaries()) <= known | {name, f"{scene.target}{LOCK}"}, scene.name, where, "left",
         stage.temporaries())
    now = stage.bytes_of(scene.target)
    need(now in (outcome.old, outcome.new), scene.name, where, "damaged", scene.target)
    if now is not None:
        verified = stage.command(*scene.proof)
        need(verified.returncode == 0, scene.name, where, verified.stderr)
    if scene.uniq:
        # Lines may be printed twice, but none is lost.
        check_state(stage, scene, outcome, everything=False)
    return (stage.work / name).exists()


def check_next(stage, scene, outcome):
    """The next run is not obstructed and cleans up."""
    if scene.fresh:
        (stage.work / scene.target).unlink(missing_ok=True)
    need(stage.run(scene) in (0, 1), scene.name, "the next run fails:", stage.errors())
    need(not stage.temporaries(), scene.name, "the next run leaves", stage.temporaries())


def at_every_call(stage, scene):
    outcome = Outcome(stage, scene)
    runs = left = 0
    for group in CALLS:
        for what in ("kill", "after"):
            number = 0
            while True:
                number += 1
                stage.reset()
                status = stage.run(scene, f"{group}:{number}:{what}")
                if not stage.happened():
                    break
                need(status == -signal.SIGKILL, scene.name, "survived with", status)
                left += check_after(stage, scene, outcome, f"{group}:{number}:{what}")
                runs += 1
                if runs % 5 == 0:
                    check_next(stage, scene, outcome)
    need(runs > 10 and left > 0, scene.name, "was hardly killed:", runs, left)
    return f"{runs} kills, {left} temporary files left and tidied up"


def private_until_complete(stage):
    """What is being written is for its owner alone, even if others may read the old file."""
    scene = next(s for s in SCENES if s.name == "add")
    stage.reset()
    (stage.work / scene.target).chmod(0o644)
    need(stage.run(scene, "write:1:kill") == -signal.SIGKILL, "was not killed")
    mode = (stage.work / f"{scene.target}{TEMPORARY}").stat().st_mode & 0o7777
    need(mode == 0o600, f"the temporary file has mode {mode:o}")
    check_next(stage, scene, None)
    mode = (stage.work / scene.target).stat().st_mode & 0o7777
    need(mode == 0o644, f"the new file has mode {mode:o}")


def kill_somewhere(stage, scene, outcome, threads):
    """Nothing is reset, so leftovers of kills would accumulate."""
    before = set(stage.temporaries())
    process = stage.start(scene, threads=threads)
    moment = random.random() * outcome.seconds
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    killed = process.wait() == -signal.SIGKILL
    left = check_after(stage, scene, outcome, f"after {moment:.4f} s", before)
    return killed, left


def at_random(stage, scenes, rounds, seconds):
    outcomes = [(scene, Outcome(stage, scene)) for scene in scenes]
    begin = time.monotonic()
    kills = left = runs = 0
    while runs < rounds or time.monotonic() < begin + seconds:
        scene, outcome = random.choice(outcomes)
        stage.reset(temporaries=False)
        killed, remains = kill_somewhere(stage, scene, outcome, random.choice((1, 2)))
        runs += 1
        kills += killed
        left += remains
    for scene, outcome in outcomes:
        stage.reset(temporaries=False)
        need(stage.run(scene) in (0, 1), scene.name, stage.errors())
    need(not stage.temporaries(), "in the end there are", stage.temporaries())
    return f"{kills} kills in {runs} runs, {left} temporary files seen"


def main():
    found = options(__doc__)
    scenes = [scene for scene in SCENES if scene.name in NAMES]
    long = found.seconds is not None
    small = Stage(found.umbel, found.shim, 1000)
    large = Stage(found.umbel, found.shim, 200000 if long else 30000, disk=long)
    tests = [(f"{scene.name}, at every call", lambda scene=scene: at_every_call(small, scene))
             for scene in scenes if not long]
    tests.append(("private until complete", lambda: private_until_complete(small)))
    tests.append(("at random moments", lambda: at_random(large, scenes, 0 if long else ROUNDS,
                                                         found.seconds or 0)))
    report(tests)


main()
