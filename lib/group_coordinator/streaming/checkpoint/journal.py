"""A map with text keys that outlives a run. To keep one value costs one small file, however many values there are.

Files are numbered. Each has the values of its keys at the time of writing, null for a removed key; a later file wins. Older files
are merged into the next file, and then removed: a crash in between leaves files that agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import json

Value = TypeVar("Value")
Content = TypeVar("Content")

FEW_FILES = 20
"""From this number of files on, the next file merges the small files."""


class JournalFiles(Protocol):
    """The part of CheckpointFolder that a journal needs."""

    def names_in(self, name: str) -> set[str]: ...

    def read_as(self, name: str, kind: type[Content]) -> Content | None: ...

    def write(self, name: str, text: str) -> None: ...

    def remove(self, name: str) -> None: ...


class _File(NamedTuple):
    number: int
    keys: frozenset[str]


class Journal(Generic[Value]):
    """A folder of numbered files, about FEW_FILES at most. One thread at a time may use it. msgspec writes the values as JSON."""

    def __init__(self, files: JournalFiles, name: str, value: type[Value]) -> None:
        self._files = files
        self._name = name
        self._kind = dict[str, value | None]  # type: ignore[valid-type]
        self._written: list[_File] = []
        """Oldest first."""
        self._next = 0

    def read(self) -> dict[str, Value]:
        """Return the values that were kept last. Called once, before the first `keep`.

        Raises DamagedFileError: a file does not have the format of `keep`.
        """
        values: dict[str, Value] = {}
        for number in sorted(map(int, filter(str.isdecimal, self._files.names_in(self._name)))):
            changes = self._files.read_as(self._path(number), self._kind) or {}
            self._written.append(_File(number, frozenset(changes)))
            self._next = number + 1
            _apply(changes, values)
        return values

    def keep(self, changed: Collection[str], values: Mapping[str, Value]) -> None:
        """Keep the present values of these keys, or their removal; all other keys are unchanged.

        The change is durable when this returns; after a failure it may be.
        """
        taken_over = self._taken_over(len(changed))
        keys = frozenset(changed).union(*(file.keys for file in taken_over))
        is_all = len(taken_over) == len(self._written)
        # A removal needs an entry only as long as an older file may have a value of the key.
        content = {key: values.get(key) for key in keys if key in values or not is_all}
        written = _File(self._next, frozenset(content))
        self._next += 1
        # Added before the write, as a write that fails may have reached the store.
        self._written.append(written)
        self._files.write(self._path(written.number), json.encode(content).decode())
        # Oldest first: the removal of a key must not be forgotten before the older file with its value.
        for file in reversed(taken_over):
            self._files.remove(self._path(file.number))
            self._written.remove(file)

    def _taken_over(self, changed: int) -> Sequence[_File]:
        # Few files are read quickly at a start, and merging them would rewrite their values.
        if len(self._written) < FEW_FILES:
            return ()
        newest_first = self._written[::-1]
        return newest_first[: taken_over(changed, (len(file.keys) for file in newest_first))]

    def _path(self, number: int) -> str:
        return f"{self._name}/{number}"


def taken_over(entries: int, newest_first: Iterable[int]) -> int:
    """Return the number of files, newest first and given by their numbers of entries, that a new file merges.

    Each remaining file is more than twice as large as all later files: n entries make at most log2(n) files.
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
