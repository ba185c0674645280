"""Values by their ids, some of them still as bytes of a snapshot: each is read when somebody asks for it.

A group of ten thousand members is more than an event needs: a heartbeat asks for one of them. And what nobody has replaced
since it was read need not be written anew.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from msgspec import Raw

Item = TypeVar("Item")

_REPLACED = Raw()
"""In place of the bytes of a value that was set: the ones before it are not its own."""


def _nothing_is_unread(key: str, encoded: Raw) -> Any:
    message = f"{key!r} is not stored: {bytes(encoded)!r}"
    raise TypeError(message)


@dataclass(slots=True, eq=False)
class StoredValues(MutableMapping[str, Item]):
    """As a dictionary, in the order in which ids were first set. A value is replaced, never changed."""

    _encoded: dict[str, Raw] = field(default_factory=dict)
    """Has all ids."""
    _read: Callable[[str, Raw], Item] = _nothing_is_unread
    _values: dict[str, Item] = field(default_factory=dict)
    """Those that have been read or set."""
    _are_in_order: bool = True
    """All have been read: `_values` has the ids of `_encoded`, in their order."""

    @classmethod
    def of(cls, values: Mapping[str, Item]) -> Self:
        """The same values."""
        return cls(dict.fromkeys(values, _REPLACED), _values=dict(values))

    @classmethod
    def unread(cls, encoded: dict[str, Raw], read: Callable[[str, Raw], Item]) -> Self:
        """Values as they are stored, and how one of them is read; the dictionary belongs to them from now on."""
        return cls(encoded, read, _are_in_order=not encoded)

    def copy(self) -> Self:
        """Values that can be replaced without touching these."""
        return replace(self, _encoded=self._encoded.copy(), _values=self._values.copy())

    def encoded(self, encode: Callable[[Item], bytes]) -> dict[str, Raw]:
        """All values as bytes; only those are encoded that are not yet. Not to be changed."""
        replaced = [key for key, encoded in self._encoded.items() if encoded is _REPLACED]
        for key in replaced:
            self._encoded[key] = Raw(encode(self._values[key]))
        return self._encoded

    # As a dictionary has it.

    def values(self) -> ValuesView[Item]:
        """All values, read at once."""
        return self._all().values()

    def items(self) -> ItemsView[str, Item]:
        """All ids with their values, read at once."""
        return self._all().items()

    def _all(self) -> dict[str, Item]:
        if not self._are_in_order:
            known, read = self._values, self._read
            self._values = {
                key: known[key] if key in known else read(key, encoded)
                for key, encoded in self._encoded.items()
            }
            self._are_in_order = True
        return self._values

    def __getitem__(self, key: str) -> Item:
        try:
            return self._values[key]
        except KeyError:
            value = self._values[key] = self._read(key, self._encoded[key])
            return value

    def __setitem__(self, key: str, value: Item) -> None:
        self._values[key] = value
        self._encoded[key] = _REPLACED

    def __delitem__(self, key: str) -> None:
        del self._encoded[key]
        self._values.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._encoded

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)
