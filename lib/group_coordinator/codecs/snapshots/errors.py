"""The errors of unreadable group states, or unreadable parts of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Key = TypeVar("Key")
Stored = TypeVar("Stored")
Item = TypeVar("Item")


class SnapshotError(ValueError):
    """The bytes are no group state, or have an unknown version."""


class SnapshotVersionError(SnapshotError):
    """Another version of this program wrote the bytes, most likely a later version."""


def reader_of_a_part(
    read: Callable[[Key, Stored], Item],
) -> Callable[[Key, Stored], Item]:
    """Wrap a decoder: its failures become SnapshotErrors that name the part."""

    # Parts are decoded late, in the middle of an event: the error must name the part.
    @wraps(read)
    def reading(key: Key, stored: Stored) -> Item:
        try:
            return read(key, stored)
        except (ValueError, RecursionError) as fault:
            raise SnapshotError(f"the stored state of {key!r} is damaged: {fault}") from fault

    return reading
