# SPDX-License-Identifier: MIT
"""Filters from the partitions of a Dask collection, on as many machines as the cluster has.

    import dask.bag, umbel.dask
    urls = dask.bag.read_text("logs/*.gz").map(str.strip)
    seen = umbel.dask.build(urls, 100_000_000, 0.01)

Each partition becomes a partial filter where it lies; partial filters, not keys, travel and merge in a
tree.  A filter's bits depend only on its parameters and its keys, so the result has the bits that one
machine would have made, and a partition that is computed twice, because a worker died, changes nothing.
"""
from __future__ import annotations

import builtins
from typing import Any, Iterable

from dask import delayed  # type: ignore[import-untyped,import-not-found,unused-ignore]

import umbel

__all__ = ["build"]

_AT_ONCE = 8  # partial filters that one task merges


def _present(partition: Any) -> Any:
    """The keys of a partition, without missing values."""
    if hasattr(partition, "dropna"):
        return partition.dropna().tolist()
    return (key for key in partition if key is not None)


def _partial(partition: Any, capacity: int, fpr: float, type: Any, options: dict[str, Any]) -> bytes:
    filter = umbel.Filter(capacity, fpr, **options)
    filter.update(_present(partition), type=type)
    return filter.to_bytes()


def _merged(parts: Iterable[bytes], secret: bytes | None) -> bytes:
    first, *others = parts
    filter = umbel.Filter.from_bytes(first, secret=secret)
    for part in others:
        filter |= umbel.Filter.view(part, secret=secret)
    return filter.to_bytes()


def _insist_on_merging(options: dict[str, Any]) -> None:
    """Raises what merging would raise, before the work begins."""
    tiny: dict[str, Any] = {**options, "bytes": None, "hashes": None}
    filter = umbel.Filter(1, 0.5, **tiny)
    filter |= umbel.Filter(1, 0.5, **tiny)


def build(keys: Any, capacity: int, fpr: float, *, type: str | None = None, **options: Any) -> umbel.Filter:
    """A filter of all keys of a Bag, a Series or anything else with to_delayed(); missing values are not
    keys.  capacity is for all partitions together.  The options are those of umbel.Filter; only kinds
    that can be merged are possible.  type: how numbers become keys, as in Filter.update.  A secret
    travels to the workers with the tasks."""
    if hasattr(keys, "columns"):
        raise TypeError("keys: a DataFrame has no keys of its own; give one of its columns, as in build(df['url'], ...)")
    if not hasattr(keys, "to_delayed"):
        raise TypeError(f"keys: a Dask Bag, Series or Array, not {builtins.type(keys).__name__}")
    _insist_on_merging(options)
    secret = options.get("secret")
    level = [delayed(_partial)(part, capacity, fpr, type, options) for part in keys.to_delayed()]
    while len(level) > 1:
        level = [delayed(_merged)(level[i:i + _AT_ONCE], secret) for i in range(0, len(level), _AT_ONCE)]
    return umbel.Filter.from_bytes(level[0].compute(), secret=secret)
