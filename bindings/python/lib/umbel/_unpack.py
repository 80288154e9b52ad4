# SPDX-License-Identifier: MIT
"""Files of lines that turn out to be compressed, unpacked while they are read."""
import importlib
import io

MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma", "zstd": "compression.zstd"}


class Resumed(io.RawIOBase):
    """A file whose start was read already."""

    def __init__(self, start, file):
        self._start, self._file = memoryview(start), file

    def readable(self):
        return True

    def readinto(self, into):
        if not self._start:
            self._start = memoryview(self._file.read(len(into)) if self._file is not None else b"")
        n = min(len(into), len(self._start))
        into[:n], self._start = self._start[:n], self._start[n:]
        return n


def unpacked(name, start, file):
    """The file without its compression, or None if this Python does not know that one."""
    try:
        return importlib.import_module(MODULES[name]).open(Resumed(start, file))
    except (KeyError, ImportError):
        return None
