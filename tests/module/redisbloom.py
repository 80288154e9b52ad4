# SPDX-License-Identifier: MIT
"""RedisBloom as its commands see it: which words it takes, and the filters that they make.  Written
from its documentation and the replies of a real one; nothing here uses the module."""
import math
import struct

import rdb
from resp import encode


class Refused(Exception):
    """A command that RedisBloom answers with an error because of its words."""


def options(words, takes):
    """NAME [value] ..., each at most once; the values as numbers."""
    found, words = {}, list(words)
    while words:
        name = words.pop(0).upper().decode()
        if name not in takes or name in found:
            raise Refused(name)
        number = {"ERROR": float, "NONSCALING": None, "NOCREATE": None}.get(name, int)
        found[name] = number(words.pop(0)) if number else True
    return found


class RedisBloom:
    """Filters by name, and the items that each has accepted."""

    def __init__(self, version=rdb.OLDEST):
        self.filters, self.accepted, self.version = {}, {}, version

    def create(self, name, capacity=100, error=0.01, growth=2, said=2):
        if not (0 < error < 1 and 1 <= capacity <= 1 << 30 and 0 <= growth <= 32768):
            raise Refused("a number out of range")
        if name in self.filters:
            raise Refused("item exists")
        self.filters[name] = rdb.Bloom(capacity, error, growth, said)
        self.accepted.setdefault(name, [])

    def add(self, name, items):
        for item in items:
            if not self.filters[name].add(item):
                return  # and the rest of the batch is not tried
            self.accepted[name].append(item)

    def __call__(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        command = words[0].upper().decode()
        if command in ("DEL", "UNLINK"):  # the server's own
            self.filters.pop(words[1], None)
            self.accepted.pop(words[1], None)
            return
        arity = {"BF.RESERVE": range(4, 8), "BF.ADD": range(3, 4), "BF.MADD": range(3, 1 << 20),
                 "BF.INSERT": range(4, 1 << 20), "BF.LOADCHUNK": range(4, 5)}
        if command not in arity or len(words) not in arity[command]:
            raise Refused(words[:6])
        {"BF.ADD": self.madd, "BF.MADD": self.madd, "BF.RESERVE": self.reserve,
         "BF.INSERT": self.insert, "BF.LOADCHUNK": self.loadchunk}[command](*words[1:])

    def reserve(self, name, error, capacity, *words):
        if name.upper() in (b"EXPANSION", b"NONSCALING"):  # looked for in all of the words
            raise Refused("no value, or both")
        said = options(words, ["EXPANSION", "NONSCALING"])
        if len(said) == 2:
            raise Refused("Nonscaling filters cannot expand")
        growth = 0 if "NONSCALING" in said else said.get("EXPANSION", 2)
        self.create(name, int(capacity), float(error), growth)

    def madd(self, name, *items):
        if name not in self.filters:
            self.create(name)
        self.add(name, items)

    def insert(self, name, *words):
        at = [w.upper() for w in words].index(b"ITEMS")
        said = options(words[:at], ["CAPACITY", "ERROR", "EXPANSION", "NOCREATE", "NONSCALING"])
        if at + 1 == len(words) or ("NOCREATE" in said and name not in self.filters):
            raise Refused("no items, or no filter")
        if name not in self.filters:
            steps = said.get("EXPANSION", 2)
            growth = 0 if "NONSCALING" in said else steps
            self.create(name, said.get("CAPACITY", 100), said.get("ERROR", 0.01), growth, steps)
        self.add(name, words[at + 1:])

    def loadchunk(self, name, iterator, data):
        if int(iterator) == 1:
            self.load_header(name, data)
            return
        end = int(iterator) - 1
        for link in self.filters[name].links:
            size = len(link["bits"])
            if end <= size:
                if len(data) > end:
                    raise Refused("invalid chunk - Too big for current filter")
                link["bits"][end - len(data):end] = data
                return
            end -= size
        raise Refused("invalid offset - no link found")

    def load_header(self, name, data):
        self.create(name)
        bloom = self.filters[name]
        total, count, bloom.options, bloom.growth = struct.unpack_from("<QIII", data)
        if len(data) != 20 + 53 * count or count == 0 or bloom.options & ~15:
            raise Refused("received bad data")
        bloom.links = []
        for i in range(count):
            size, bits, items, error, each, hashes, entries, n2 = struct.unpack_from(
                "<QQQddIQB", data, 20 + 53 * i)
            if (bits != 8 * size or n2 or not 0 < error < 1
                    or hashes != math.ceil(0.693147180559945 * each)):
                raise Refused("received bad data")
            bloom.links.append({"entries": entries, "error": error, "each": each, "items": items,
                                "hashes": hashes, "bits": bytearray(size)})
        if total != sum(link["items"] for link in bloom.links):
            raise Refused("received bad data")

    def dump(self, name):
        return self.filters[name].dump(self.version)

    # ---- What it writes ------------------------------------------------------------------------

    def rewritten(self):
        """Its filters as an AOF rewrite has them: a header, then the bits of each link."""
        found = []
        for name, bloom in self.filters.items():
            total, count, *_ = bloom.values()
            header = struct.pack("<QIII", total, count, bloom.options, bloom.growth)
            pieces, at = [], 1
            for link in bloom.links:
                size = len(link["bits"])
                header += struct.pack("<QQQddIQB", size, 8 * size, link["items"], link["error"],
                                      link["each"], link["hashes"], link["entries"], 0)
                at += size
                pieces.append((b"BF.LOADCHUNK", name, at, bytes(link["bits"])))
            found += [(b"BF.LOADCHUNK", name, 1, header), *pieces]
        return found

    def preamble(self):
        """Its filters as an RDB file, which an append-only file may begin with."""
        return rdb.file({name: bloom.dump(rdb.OLDEST) for name, bloom in self.filters.items()})


def to_file(commands):
    return b"".join([encode("SELECT", 0), *(encode(*c) for c in commands)])
