"""Generated Python source that decodes or encodes one version of a message.

Source is faster than nested functions: these decode about half as many messages a second. A gateway decodes and encodes every
request and response, a mirror every record. The source comes from the definitions of this package alone; it never contains data
of a client.

Each line has a place: the fields that it decodes or encodes. The traceback of a failure thus leads to the field and its outer
structs, at no cost without a failure.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from group_coordinator.binary.layouts import FieldLayout


class Place(NamedTuple):
    """The fields that a line of source decodes or encodes.

    `name` is the name of a field, or of another part of a struct. A line for consecutive numbers has several fields. A line for an
    element of an array has the name of the variable with the elements.
    """

    name: str
    fields: tuple[FieldLayout, ...] = ()
    elements: str | None = None

    @classmethod
    def of(cls, *fields: FieldLayout) -> Place:
        """Make the place of a field, or of consecutive numbers, named after the last field."""
        return cls(fields[-1].name, fields)


NOWHERE = Place("")
"""The place of a line for a whole struct."""

Line = tuple[str, Place]


class Source:
    """A program under construction: its functions, the names that they use, and the place of each line."""

    def __init__(self, title: str, names: Mapping[str, object]) -> None:
        self._title = f"<{title}>"
        self._names = dict(names)
        self._lines: list[str] = []
        self._places: list[Place] = []
        self._numbers = 0

    def fresh(self, prefix: str) -> str:
        """Make a name that the program does not have yet."""
        self._numbers += 1
        return f"{prefix}{self._numbers}"

    def packing(self, method: str, letters: str) -> str:
        """Add a method of Python's Struct for big-endian numbers; return its name in the program."""
        # "?" cannot be part of a Python name.
        name = f"{method}_{letters.replace('?', 'bool')}"
        self._names[name] = getattr(struct.Struct(f">{letters}"), method)
        return name

    def add(self, lines: Iterable[Line]) -> None:
        """Add a function, line by line."""
        for line, place in lines:
            self._lines.append(line)
            self._places.append(place)

    def run(self, function: str) -> Callable[..., Any]:
        """Compile and execute the source; return the named function."""
        program = compile("\n".join(self._lines), self._title, "exec")
        exec(program, self._names)  # noqa: S102 - source of its own making
        found: Callable[..., Any] = self._names[function]  # type: ignore[assignment]
        return found

    def way_to(self, failure: Exception) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        """Yield place and variables of each line in the traceback, the innermost last."""
        traceback = failure.__traceback__
        while traceback is not None:
            frame = traceback.tb_frame
            # Helpers such as varint have frames too; only lines of this program have places.
            if frame.f_code.co_filename == self._title:
                yield self._places[traceback.tb_lineno - 1], frame.f_locals
            traceback = traceback.tb_next


def about(place: Place, lines: Iterable[str]) -> Iterator[Line]:
    """Indent lines of a function's body and give them the same place."""
    return ((f" {line}", place) for line in lines)


def indented(lines: Iterable[Line]) -> Iterator[Line]:
    """Indent lines inside an `if`, `else` or `for`."""
    return ((f" {line}", place) for line, place in lines)
