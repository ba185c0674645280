"""Why a group, or a part of it, cannot be read from its snapshot."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Key = TypeVar("Key")
Stored = TypeVar("Stored")
Item = TypeVar("Item")


class SnapshotError(ValueError):
    """The bytes are no snapshot, or one of an unknown version."""


class SnapshotVersionError(SnapshotError):
    """Another version of this program wrote the bytes, most likely a later one."""


def reader_of_a_part(
    read: Callable[[Key, Stored], Item],
) -> Callable[[Key, Stored], Item]:
    """The same reader; what it cannot read is a SnapshotError that names the part."""

    @wraps(read)
    def reading(key: Key, stored: Stored) -> Item:
        try:
            return read(key, stored)
        except (ValueError, RecursionError) as fault:
            raise SnapshotError(f"the stored state of {key!r} is damaged: {fault}") from fault

    return reading
