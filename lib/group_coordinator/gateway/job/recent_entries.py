"""Cache of the last entries. Clients choose the keys, so its limit is in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView
from typing import Generic, TypeVar

_ENTRY_BYTES = 200
"""Memory of an entry in addition to its key, about."""

Key = TypeVar("Key", bound="str | tuple[str, ...]")
Value = TypeVar("Value")


class RecentEntries(Generic[Key, Value]):
    """Cache of the last entries. Over the limit of bytes the oldest are removed."""

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
        return self._entries.get(key)

    def pop(self, key: Key) -> Value | None:
        if key in self._entries:
            self._bytes -= _size_of(key)
        return self._entries.pop(key, None)

    def items(self) -> ItemsView[Key, Value]:
        return self._entries.items()


def _size_of(key: str | tuple[str, ...]) -> int:
    names = (key,) if isinstance(key, str) else key
    # A character of UTF-8 has one to four bytes; text that is not ASCII counts with four.
    return _ENTRY_BYTES + sum(len(n) if n.isascii() else 4 * len(n) for n in names)
