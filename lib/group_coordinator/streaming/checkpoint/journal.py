"""A map by text that outlives a run, kept as what changes: to keep one value costs one small file, however many there are.

Files are numbered. Each has the values that its keys had when it was written, null for a key that had none; a later file
wins. To take over older files is to write their keys' present values into the next one, and then to remove them: who is
killed in between leaves files that say nothing else. The oldest file comes to have what seldom changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import json

Value = TypeVar("Value")
Content = TypeVar("Content")

FEW_FILES = 20
"""So many, and small ones among them: the next file takes these over."""


class Files(Protocol):
    """The part of CheckpointFolder that a journal needs."""

    def names_in(self, name: str) -> set[str]:
        """What is in a folder; nothing if it is missing."""
        ...

    def read_as(self, name: str, kind: type[Content]) -> Content | None:
        """What a file says; None if there is no such file."""
        ...

    def write(self, name: str, text: str) -> None:
        """Write a file in one step."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...


class _File(NamedTuple):
    number: int
    keys: frozenset[str]


class Journal(Generic[Value]):
    """A folder of numbered files, about FEW_FILES of them at most; one thread at a time may use it.

    Args:
        files: where the folder is.
        name: the folder.
        value: the type of the values, which msgspec writes as JSON.
    """

    def __init__(self, files: Files, name: str, value: type[Value]) -> None:
        self._files = files
        self._name = name
        self._kind = dict[str, value | None]  # type: ignore[valid-type]
        self._written: list[_File] = []
        """The oldest first."""
        self._next = 0

    def read(self) -> dict[str, Value]:
        """The values as they were kept last, once, before the first `keep`.

        Raises:
            DamagedFileError: a file does not say what `keep` writes.
        """
        values: dict[str, Value] = {}
        for number in self._numbers():
            changes = self._changes(number)
            self._written.append(_File(number, frozenset(changes)))
            self._next = number + 1
            _apply(changes, values)
        return values

    def keep(self, changed: Collection[str], values: Mapping[str, Value]) -> None:
        """Keep what these keys have in `values` now, or that they have nothing any more; all others are as they were.

        It is kept when this returns; if it fails, it may be.
        """
        taken_over = self._taken_over(len(changed))
        keys = frozenset(changed).union(*(file.keys for file in taken_over))
        is_all = len(taken_over) == len(self._written)
        content = {key: values.get(key) for key in keys if key in values or not is_all}
        written = _File(self._next, frozenset(content))
        self._next += 1
        # It counts from now on, as a write that fails may have come through.
        self._written.append(written)
        self._files.write(self._path(written.number), json.encode(content).decode())
        # The oldest first: that a key has nothing any more must not be forgotten before what it had.
        for file in reversed(taken_over):
            self._files.remove(self._path(file.number))
            self._written.remove(file)

    def _taken_over(self, changed: int) -> Sequence[_File]:
        if len(self._written) < FEW_FILES:
            return ()
        newest_first = self._written[::-1]
        return newest_first[: taken_over(changed, (len(file.keys) for file in newest_first))]

    def _numbers(self) -> list[int]:
        return sorted(int(file) for file in self._files.names_in(self._name) if file.isdecimal())

    def _changes(self, number: int) -> dict[str, Value | None]:
        return self._files.read_as(self._path(number), self._kind) or {}

    def _path(self, number: int) -> str:
        return f"{self._name}/{number}"


def taken_over(entries: int, newest_first: Iterable[int]) -> int:
    """How many of the files, by their numbers of entries, a new file with so many takes over.

    Each that is left is more than twice as large as all that follow it: with n entries these are at most log2(n) files,
    and an entry is written again about as often.
    """
    count = 0
    for size in newest_first:
        if size > 2 * entries:
            break
        entries += size
        count += 1
    return count


def _apply(changes: Mapping[str, Value | None], values: dict[str, Value]) -> None:
    for key, value in changes.items():
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value
