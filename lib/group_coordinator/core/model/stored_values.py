"""A mapping of values by id that decodes the values of a group state only when they are read.

An event needs only a part of a group of ten thousand members: a heartbeat reads one of them. A value that was not replaced after
decoding is not encoded again either.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

Item = TypeVar("Item")
Stored = TypeVar("Stored")
"""A value as bytes of a group state."""

_REPLACED: Any = object()
"""A mark in place of the bytes of a replaced value: its old bytes are not valid."""


def _nothing_is_unread(key: str, stored: Any) -> Any:
    message = f"{key!r} is not stored: {stored!r}"
    raise TypeError(message)


@dataclass(slots=True, eq=False)
class StoredValues(MutableMapping[str, Item], Generic[Item, Stored]):
    """A mapping in the order in which ids were first set. A changed value must be set again."""

    _stored: dict[str, Stored] = field(default_factory=dict)
    _read: Callable[[str, Stored], Item] = _nothing_is_unread
    known: dict[str, Item] = field(default_factory=dict)
    """The decoded and set values, for fast reading. Callers must not change them."""
    _are_in_order: bool = True
    """True: all values were decoded. `known` has the ids of `_stored`, in the same order."""

    @classmethod
    def of(cls, values: Mapping[str, Item]) -> Self:
        """Make a mapping of decoded values."""
        return cls(dict.fromkeys(values, _REPLACED), known=dict(values))

    @classmethod
    def unread(cls, stored: dict[str, Stored], read: Callable[[str, Stored], Item]) -> Self:
        """Make a mapping of encoded values and their decoder. It takes over the dictionary."""
        return cls(stored, read, _are_in_order=not stored)

    def copy(self) -> Self:
        return replace(self, _stored=self._stored.copy(), known=self.known.copy())

    def stored(self, store: Callable[[Item], Stored]) -> dict[str, Stored]:
        """Return all values in encoded form; only missing bytes are encoded. Callers must not change the result."""
        # The new bytes stay: the next call encodes only what changes then.
        replaced = [key for key, stored in self._stored.items() if stored is _REPLACED]
        for key in replaced:
            self._stored[key] = store(self.known[key])
        return self._stored

    def read_or_stored(self) -> list[tuple[str, Item | Stored]]:
        """Return all ids, each with its value if decoded or set, else with its encoded form."""
        known = self.known
        return [(key, known.get(key, stored)) for key, stored in self._stored.items()]

    # The methods of a dictionary.

    def values(self) -> ValuesView[Item]:
        """Return all values. All are decoded at once."""
        return self._all().values()

    def items(self) -> ItemsView[str, Item]:
        """Return all ids with their values. All are decoded at once."""
        return self._all().items()

    def _all(self) -> dict[str, Item]:
        if not self._are_in_order:
            known, read = self.known, self._read
            self.known = {
                key: known[key] if key in known else read(key, stored)
                for key, stored in self._stored.items()
            }
            self._are_in_order = True
        return self.known

    def __getitem__(self, key: str) -> Item:
        try:
            return self.known[key]
        except KeyError:
            value = self.known[key] = self._read(key, self._stored[key])
            return value

    def __setitem__(self, key: str, value: Item) -> None:
        self.known[key] = value
        # An existing id keeps its place in the order.
        self._stored[key] = _REPLACED

    def __delitem__(self, key: str) -> None:
        del self._stored[key]
        self.known.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._stored

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)
