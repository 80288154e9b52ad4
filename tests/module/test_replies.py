# SPDX-License-Identifier: MIT
# labels: asan
"""Every reply recorded from RedisBloom, byte for byte, in both protocols."""
import re
from pathlib import Path

import pytest

from conftest import about

GOLDEN = Path(__file__).parent.parent / "golden/redisbloom/replies.txt"

# Where we deliberately answer differently, in both layouts: docs/redis-commands.md, "Differences".
BETTER = {
    "COPY f f2": ":1",
    "MEMORY USAGE f": r":\d+",  # what the allocator used, not what was requested
    "DEBUG DIGEST-VALUE f i1": r"\*2\[\+(?!865b)[0-9a-f]{40}, \+(?!865b)[0-9a-f]{40}\]",
    "COMMAND INFO BF.ADD": None,  # described_alike
}
# The blocked layout has different sizes.
BLOCKED = {
    "BF.INFO f": r"[*%](10|5)\[\+Capacity, :1000, \+Size, :\d+, \+Number of filters, :1, "
                 r"\+Number of items inserted, :3, \+Expansion rate, :2\]",
    "BF.INFO i4": r"[*%](10|5)\[\+Capacity, :2, \+Size, :\d+, \+Number of filters, :1, "
                  r"\+Number of items inserted, :2, \+Expansion rate, (\$-1|_)\]",
    "BF.INFO f SIZE": r"(\*1\[|%1\[\+Size, ):\d+\]",
    "BF.DEBUG f": r"\*2\[\$size:3, \$bytes:\d+ bits:\d+ hashes:\d+ hashwidth:64 "
                  r"capacity:1000 size:3 ratio:[\d.e-]+\]",
    "BF.SCANDUMP f 0": r"\*2\[:1, \$<\d+ bytes>\]",
    "BF.SCANDUMP f 1": r"\*2\[:\d+, \$<\d+ bytes>\]",
    "BF.SCANDUMP f 1385": r"\*2\[:\d+, \$(<\d+ bytes>)?\]",
    "TYPE f": r"\+umbel-bf-",
}


def observed(protocol):
    """The commands and replies of one protocol."""
    part = GOLDEN.read_text().split(f"=== RESP {protocol}\n")[1].split("===")[0]
    for line in part.splitlines():
        yield line.strip().split("  =>  ") if "  =>  " in line else [line.strip()[:-5], ""]


def described_alike(got, want, known):
    """The first key is not only "RW": ACL rules for reading and writing need to know more.  Where a
    server sorts commands of modules into categories, they are in them."""
    names = ["+@write"] * known.categories + ["+@bloom"] * known.new_categories
    want = re.sub(r"([*~])0\[\]", rf"\g<1>{len(names)}[{', '.join(names)}]", want, count=1)
    want = re.sub(r"([*~])1\[\+RW\]", r"\g<1>2[+RW, +insert]", want)
    return got == re.sub(r"~0\[\]\]\]$", f"{known.subcommands}0[]]]", want)


def is_right(command, got, want, layout, known):
    pattern = BETTER.get(command, "")
    if pattern is None:
        return described_alike(got, want, known)
    if layout == "blocked":
        pattern = pattern or BLOCKED.get(command, "")
    return re.fullmatch(pattern, got) if pattern else got == want


@pytest.mark.parametrize("layout", ["classic", "blocked"])
@pytest.mark.parametrize("protocol", [2, 3])
def test_observed_replies(server, layout, protocol):
    assert server("CONFIG", "SET", "bf.layout", layout) == "OK"
    if layout == "blocked":  # whose secrets differ: a false positive must not interfere
        assert server("CONFIG", "SET", "bf.bf-error-rate", "1e-9") == "OK"
    assert server("SET", "str", "x") == "OK"
    client, known = server.client(protocol), about(server)
    lines, wrong = 0, []
    for command, want in observed(protocol):
        got = client.text(*command.split())
        lines += 1
        if not is_right(command, got, want, layout, known):
            wrong.append(f"{command}\n  theirs {want}\n  ours   {got}")
    assert not wrong, "\n".join(wrong)
    assert lines == 81
