"""Values by their ids, some of them still as a snapshot has them: each is read when somebody asks for it.

A group of ten thousand members is more than an event needs: a heartbeat asks for one of them. And what nobody has replaced
since it was read need not be written anew.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

Item = TypeVar("Item")
Stored = TypeVar("Stored")
"""A value as a snapshot has it."""

_REPLACED: Any = object()
"""In place of the stored form of a value that was set: the one before it is not its own."""


def _nothing_is_unread(key: str, stored: Any) -> Any:
    message = f"{key!r} is not stored: {stored!r}"
    raise TypeError(message)


@dataclass(slots=True, eq=False)
class StoredValues(MutableMapping[str, Item], Generic[Item, Stored]):
    """As a dictionary, in the order in which ids were first set. A value that has changed is set anew."""

    _stored: dict[str, Stored] = field(default_factory=dict)
    """Has all ids."""
    _read: Callable[[str, Stored], Item] = _nothing_is_unread
    known: dict[str, Item] = field(default_factory=dict)
    """Those that have been read or set, for a look in the shortest way; not to be changed."""
    _are_in_order: bool = True
    """All have been read: `known` has the ids of `_stored`, in their order."""

    @classmethod
    def of(cls, values: Mapping[str, Item]) -> Self:
        """The same values."""
        return cls(dict.fromkeys(values, _REPLACED), known=dict(values))

    @classmethod
    def unread(cls, stored: dict[str, Stored], read: Callable[[str, Stored], Item]) -> Self:
        """Values as they are stored, and how one of them is read; the dictionary belongs to them from now on."""
        return cls(stored, read, _are_in_order=not stored)

    def copy(self) -> Self:
        """Values that can be replaced without touching these."""
        return replace(self, _stored=self._stored.copy(), known=self.known.copy())

    def stored(self, store: Callable[[Item], Stored]) -> dict[str, Stored]:
        """All values as they are stored; only those are made that are not there yet. Not to be changed."""
        replaced = [key for key, stored in self._stored.items() if stored is _REPLACED]
        for key in replaced:
            self._stored[key] = store(self.known[key])
        return self._stored

    def read_or_stored(self) -> list[tuple[str, Item | Stored]]:
        """All ids, with the value where it has been read or set, else as it is stored."""
        known = self.known
        return [(key, known.get(key, stored)) for key, stored in self._stored.items()]

    # As a dictionary has it.

    def values(self) -> ValuesView[Item]:
        """All values, read at once."""
        return self._all().values()

    def items(self) -> ItemsView[str, Item]:
        """All ids with their values, read at once."""
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
