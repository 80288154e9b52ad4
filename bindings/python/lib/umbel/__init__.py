# SPDX-License-Identifier: MIT
"""Bloom filters and their kin: one handle, several kinds, everyone's formats.

    seen = umbel.Filter(1_000_000, 0.01)
    seen.add("ada")
    "ada" in seen           # True; a "not in" is never wrong
    seen.save("seen.umb")
"""
from umbel import _umbel
from umbel._umbel import *  # noqa: F401,F403
from umbel._umbel import __version__  # noqa: F401

__all__ = [name for name in dir(_umbel) if not name.startswith("_")]
