"""A cache with a limit in bytes: clients choose the names that it is kept by, and how long those are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView
from typing import Generic, TypeVar

_ENTRY_BYTES = 200
"""What an entry takes in addition to its names, about."""

Key = TypeVar("Key", bound="str | tuple[str, ...]")
Value = TypeVar("Value")


class Remembered(Generic[Key, Value]):
    """The entries that were set last; where there are too many bytes, the oldest are forgotten."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key)
        self._entries[key] = value
        self._bytes += _size_of(key)
        while self._bytes > self._most_bytes and len(self._entries) > 1:
            self.pop(next(iter(self._entries)))

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """None: it is not known, or not any more."""
        return self._entries.get(key)

    def pop(self, key: Key) -> Value | None:
        """As get, and forget it."""
        if key in self._entries:
            self._bytes -= _size_of(key)
        return self._entries.pop(key, None)

    def items(self) -> ItemsView[Key, Value]:
        """The oldest first."""
        return self._entries.items()


def _size_of(key: str | tuple[str, ...]) -> int:
    names = (key,) if isinstance(key, str) else key
    # A character takes one byte to four; what is beside ASCII is counted with the most.
    return _ENTRY_BYTES + sum(len(n) if n.isascii() else 4 * len(n) for n in names)
