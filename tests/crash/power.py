#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""power.py - what a power cut may leave of the files that commands change.

The shim records every write, sync, rename, creation and removal.  A model of a disk then replays
each prefix of the record and lists what a file system may have kept of it: of the bytes since a
file's last fsync any part, or zeros instead; of the names since a directory's last fsync any, in any
order.  In all of these states the file is the old one or a new one that was complete when it got
its name, and the output has every line that the state knows.  With --long: in many sizes, with
threads.
"""
import os
import subprocess
import tempfile
from itertools import combinations
from pathlib import Path

from scenes import SCENES, Scene, Stage, need, options, report, whole_lines

NAMES = 6  # so many changes of names are tried in every combination
HOURS = Scene("uniq, saving each hour", ["uniq", "-q", "--window", "24h/1h", "-n", "1e5", "-p", "1e-9",
                                         "--state", "clock.umb", "keys", "more", "more.gz", "last"],
              "clock.umb", fresh=True)


class Disk:
    """Files and directories, each as it is for sure and with what was done to it since."""

    def __init__(self):
        self.bytes, self.deeds = {}, {}    # of a file, by inode
        self.names, self.changes = {}, []  # path: inode; [{path: inode or None}, ...]
        self.folders = {}                  # inode: path
        self.states = {}                   # of an inode, until something happens to it

    def add_file(self, path, inode, text):
        self.names[path], self.bytes[inode] = inode, text

    def happen(self, what, inode, number, text):
        self.states.pop(inode, None)
        if what in ("write", "size"):
            self.deeds.setdefault(inode, []).append((number, text if what == "write" else None))
        elif what == "sync" and inode in self.folders:
            self.sync_names(self.folders[inode])
        elif what == "sync":
            self.bytes[inode] = self.now(inode)
            self.deeds.pop(inode, None)
        elif what == "create":
            self.changes.append({text: inode})
        elif what == "unlink":
            self.changes.append({text: None})
        elif what == "rename":
            self.changes.append({number: None, text: self.names_now()[number]})

    def sync_names(self, folder):
        inside = lambda change: all(os.path.dirname(path) == folder for path in change)
        for change in filter(inside, self.changes):
            self.names.update(change)
        self.changes = [change for change in self.changes if not inside(change)]

    def names_now(self):
        names = dict(self.names)
        for change in self.changes:
            names.update(change)
        return {path: inode for path, inode in names.items() if inode}

    def now(self, inode):
        return apply(self.bytes.get(inode, b""), self.deeds.get(inode, []))

    def states_of_names(self):
        """Every subset of the changes, each of which happens whole or not at all."""
        n = len(self.changes)
        sizes = range(n + 1) if n <= NAMES else (0, 1, n - 1, n)
        for chosen in (c for size in sizes for c in combinations(range(n), size)):
            names = dict(self.names)
            for i in chosen:
                names.update(self.changes[i])
            yield names

    def states_of(self, inode):
        """Contents that an inode may have: a set, since many states are alike."""
        if inode is None:
            return {None}
        if inode not in self.states:
            self.states[inode] = self.every_state_of(inode)
        return self.states[inode]

    def every_state_of(self, inode):
        kept, deeds = self.bytes.get(inode, b""), self.deeds.get(inode, [])
        states = {kept, apply(kept, deeds)}
        if deeds:
            blank = [(at, text and bytes(len(text))) for at, text in deeds]
            states |= {apply(kept, blank), apply(kept, deeds[:-1] + blank[-1:]),
                       apply(kept, blank[:1] + deeds[1:]), apply(kept, deeds[1:])}
            for i in {0, len(deeds) // 2, len(deeds) - 1}:
                at, text = deeds[i]
                half = [(at, text[:len(text) // 2])] if text else []
                states |= {apply(kept, deeds[:i]), apply(kept, deeds[:i] + half)}
        return states


def apply(text, deeds):
    text = bytearray(text)
    for at, written in deeds:
        if len(text) < at:
            text += bytes(at - len(text))
        if written is None:
            del text[at:]
        else:
            text[at:at + len(written)] = written
    return bytes(text)


def records(log, work):
    """(what, inode, number, text), with absolute paths; a rename is one of them."""
    at, source = 0, None
    raw = log.read_bytes()
    while at < len(raw):
        end = raw.index(b"\n", at)
        what, inode, number, length = raw[at:end].decode().split()
        at = end + 1 + int(length)
        text = raw[end + 1:at]
        if what in ("create", "unlink", "from", "to"):
            text = os.path.normpath(os.path.join(work, text.decode()))
        if what == "from":
            source = text
        elif what == "to":
            yield "rename", 0, source, text
        else:
            yield what, int(inode), int(number), text


class Cut:
    """One run of a scene, recorded; its output goes to a pipe or to a file, before which some other
    program has written `earlier`."""

    def __init__(self, stage, scene, to="file", threads=1):
        self.stage, self.scene, self.to = stage, scene, to
        stage.reset()
        self.log = stage.folder / "record"
        self.log.unlink(missing_ok=True)
        self.folder = Path(tempfile.mkdtemp(dir=stage.folder))
        self.output = self.folder / "lines"
        self.target = str(stage.work / scene.target)
        self.disk = Disk()
        for folder in (stage.work, self.folder):
            self.disk.folders[folder.stat().st_ino] = str(folder)
        for path in stage.work.iterdir():
            if not path.is_symlink():
                self.disk.add_file(str(path), path.stat().st_ino, path.read_bytes())
        self.run(threads)

    def run(self, threads):
        earlier = b"earlier\n" if self.to == "end of a file" else b""
        self.output.write_bytes(earlier)
        inode = self.output.stat().st_ino
        if earlier:
            self.disk.add_file(str(self.output), inode, earlier)
        else:  # the shell has just made it, and nobody has synced that
            self.disk.changes.append({str(self.output): inode})
        env = {**self.stage.environment(None), "LD_PRELOAD": self.stage.shim,
               "UMBEL_RECORD": str(self.log)}
        if self.scene is HOURS:
            env["UMBEL_HOURS"] = "1"
        arguments = [*self.scene.arguments, *(["-j", str(threads)] if threads > 1 else [])]
        stdin = open(self.stage.work / self.scene.stdin, "rb") if self.scene.stdin else None
        out = subprocess.PIPE if self.to == "pipe" else open(self.output, "ab")
        done = subprocess.run([self.stage.umbel, *arguments], cwd=self.stage.work,
                              stdin=stdin or subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.PIPE, env=env, check=False)
        need(done.returncode in (0, 1, 3), self.scene.name, "fails:", done.stderr)
        self.lines = done.stdout if self.to == "pipe" else self.output.read_bytes()
        self.record = list(records(self.log, self.stage.work))

    def versions(self):
        """The files that the target may be, with the lines that each knows: the old one, and those
        complete when they were given its name."""
        old = self.stage.texts.get(self.scene.target)
        found = {old: set()}
        before = self.known(old) if self.scene.uniq and old else set()
        replay = Disk()
        for what, inode, number, text in self.record:
            replay.happen(what, inode, number, text)
            if what == "rename" and text == self.target:
                new = replay.now(replay.names_now()[text])
                found[new] = self.known(new) - before if self.scene.uniq else set()
        need(len(found) > 1, self.scene.name, "was not seen to save anything")
        return found

    def known(self, text):
        (self.folder / "version").write_bytes(text)
        name = str(self.folder / "version")
        verified = self.stage.command("verify", "-q", name)
        need(verified.returncode == 0, self.scene.name, verified.stderr)
        asked = self.stage.command("check", name, text=self.lines)
        need(asked.returncode in (0, 1), self.scene.name, asked.stderr)
        return set(asked.stdout.splitlines())

    def check_record(self):
        """The model agrees with the real files, so the shim saw all that was done to them."""
        names = self.disk.names_now()
        for path in self.stage.work.iterdir():
            if not path.is_symlink():
                inode = names.get(str(path))
                need(inode == path.stat().st_ino and self.disk.now(inode) == path.read_bytes(),
                     self.scene.name, "changed", path.name, "in a way that the shim does not see")
        if self.to != "pipe":
            need(self.disk.now(names[str(self.output)]) == self.lines, self.scene.name,
                 "wrote what the shim does not see")

    def check_all(self):
        versions, sent, states = self.versions(), b"", 0
        for number, deed in enumerate([("nothing", 0, 0, b""), *self.record]):
            self.disk.happen(*deed)
            sent += deed[3] if deed[0] == "send" else b""
            states += self.check_prefix(versions, sent, f"after {number} of {len(self.record)} calls")
        self.check_record()
        for names in self.disk.states_of_names():
            need(self.disk.states_of(names.get(self.target)) == {list(versions)[-1]},
                 self.scene.name, "succeeded, and what it saved may still be lost")
        return states

    def check_prefix(self, versions, sent, where):
        pairs = {(names.get(self.target), names.get(str(self.output)))
                 for names in self.disk.states_of_names()}
        states = 0
        for target, output in pairs:
            outputs = [sent] if self.to == "pipe" else self.disk.states_of(output)
            printed = [whole_lines(text or b"") for text in outputs] if self.scene.uniq else []
            for text in self.disk.states_of(target):
                need(text in versions, self.scene.name, where, "a power cut leaves",
                     "no file" if text is None else f"a damaged file of {len(text)} bytes")
                for lines in printed:
                    lost = versions[text] - lines
                    need(not lost, self.scene.name, where,
                         f"a power cut loses {len(lost)} lines that the state knows")
                states += max(1, len(printed))
        return states


def cut(stage, scene, threads=1):
    outputs = ("file", "end of a file", "pipe") if scene.uniq else ("file",)
    states = sum(Cut(stage, scene, to, threads).check_all() for to in outputs)
    return f"{states} states"


def main():
    found = options(__doc__)
    scenes = [scene for scene in SCENES if scene.target] + [HOURS]
    sizes = (20, 400, 30000) if found.long else (1000,)
    tests = []
    for keys in sizes:
        for threads in (1, 3) if found.long else (1,):
            stage = Stage(found.umbel, found.shim, keys)
            tests += [(f"{scene.name}, {keys} keys, {threads} threads",
                       lambda stage=stage, scene=scene, threads=threads:
                       cut(stage, scene, threads if scene.takes_threads() else 1))
                      for scene in scenes]
    report(tests)


main()
