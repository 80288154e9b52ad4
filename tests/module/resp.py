# SPDX-License-Identifier: MIT
"""A client that shows replies as received: RESP 2 and 3 over a socket, nothing hidden."""
import socket


class Error(str):
    """An error reply, including one that is an element of an array."""


def encode(*args):
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in args]
    return b"".join([b"*%d\r\n" % len(parts),
                     *(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)])


def is_error(reply, text=""):
    return isinstance(reply, Error) and text in reply


def as_dict(flat):
    """A map in its RESP 2 form."""
    return dict(zip(flat[::2], flat[1::2]))


def keys(n, prefix="k"):
    return [f"{prefix}{i}" for i in range(n)]


class Reply:
    """One parsed reply: its type byte and its value or elements."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value

    def text(self):
        """As tests/golden/redisbloom/replies.txt writes it."""
        if self.value is None:
            return {"$": "$-1", "*": "*-1"}.get(self.kind, "_")
        if self.kind in "*~%>":
            count = len(self.value) // 2 if self.kind == "%" else len(self.value)
            return f"{self.kind}{count}[{', '.join(v.text() for v in self.value)}]"
        if self.kind == "$":
            value = self.value
            return "$" + (value.decode() if value.isascii() and value.decode().isprintable()
                          else f"<{len(value)} bytes>")
        return self.kind + str(self.value)

    def plain(self):
        """In Python's terms: maps as dicts, booleans, Error for errors."""
        if self.value is None:
            return None
        if self.kind == "%":
            return as_dict([v.plain() for v in self.value])
        if self.kind in "*~>":
            return [v.plain() for v in self.value]
        return {":": int, ",": float, "#": lambda v: v == "t", "-": Error}.get(
            self.kind, lambda v: v)(self.value)


class Client:
    def __init__(self, address, protocol=2, timeout=300):
        self.address = address
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        self.input = self.socket.makefile("rb")
        if protocol == 3:
            self("HELLO", 3)

    def close(self):
        self.input.close()
        self.socket.close()

    def send(self, *args):
        self.socket.sendall(encode(*args))

    def read(self):
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = chr(line[0]), line[1:-2]
        if kind in "+-,#(":
            return Reply(kind, rest.decode(errors="replace"))
        if kind == ":":
            return Reply(kind, int(rest))
        if kind == "_":
            return Reply(kind, None)
        count = int(rest)
        if count < 0:
            return Reply(kind, None)
        if kind in "$=":
            data = self.input.read(count + 2)
            return Reply("$", data[:-2])
        return Reply(kind, [self.read() for _ in range(count * (2 if kind == "%" else 1))])

    def reply(self, *args):
        self.send(*args)
        return self.read()

    def __call__(self, *args):
        return self.reply(*args).plain()

    def text(self, *args):
        return self.reply(*args).text()

    def many(self, commands):
        """A pipeline: sends all commands first, then reads their replies."""
        commands = list(commands)
        self.socket.sendall(b"".join(encode(*c) for c in commands))
        return [self.read().plain() for _ in commands]
