"""Source that is written, compiled and run: what reads or writes one message in one version.

Why source, and not functions around functions: a gateway reads and writes each request and each answer of every group, a
mirror each record, and functions around functions read about half as many a second. What is executed comes from our definitions
and from texts of this package alone; nothing that a client sent gets into it.

Each line has a place: the fields that it is about. So the traceback of a failure says which field it was, the ones around it
included, and lines that run well pay nothing for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from group_coordinator.codecs.binary.layouts import FieldLayout


class Place(NamedTuple):
    """What a line of source is about.

    The name is a field's, or that of a part of a struct that is no field. A line about numbers that follow each other has several
    fields. A line about an element of an array names the variable with the elements.
    """

    name: str
    fields: tuple[FieldLayout, ...] = ()
    elements: str | None = None

    @classmethod
    def of(cls, *fields: FieldLayout) -> Place:
        """The place of a field, or of a run of numbers, which has the name of the last one."""
        return cls(fields[-1].name, fields)


NOWHERE = Place("")
"""The place of a line that is about a struct as a whole."""

Line = tuple[str, Place]


class Source:
    """A program in the making: functions, the names that they use, and the place of each line."""

    def __init__(self, title: str, names: Mapping[str, object]) -> None:
        self._title = f"<{title}>"
        self._names = dict(names)
        self._lines: list[str] = []
        self._places: list[Place] = []
        self._numbers = 0

    def fresh(self, prefix: str) -> str:
        """A new name."""
        self._numbers += 1
        return f"{prefix}{self._numbers}"

    def packing(self, method: str, letters: str) -> str:
        """The name of a method of Python's Struct for big-endian numbers."""
        name = f"{method}_{letters.replace('?', 'bool')}"
        self._names[name] = getattr(struct.Struct(f">{letters}"), method)
        return name

    def add(self, lines: Iterable[Line]) -> None:
        """A function, line by line."""
        for line, place in lines:
            self._lines.append(line)
            self._places.append(place)

    def run(self, function: str) -> Callable[..., Any]:
        """Execute what was added, and give one of its functions."""
        program = compile("\n".join(self._lines), self._title, "exec")
        exec(program, self._names)
        found: Callable[..., Any] = self._names[function]  # type: ignore[assignment]
        return found

    def way_to(self, failure: Exception) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        """The lines that were at work when it failed, the innermost last: their places, and the variables there."""
        traceback = failure.__traceback__
        while traceback is not None:
            frame = traceback.tb_frame
            if frame.f_code.co_filename == self._title:
                yield self._places[traceback.tb_lineno - 1], frame.f_locals
            traceback = traceback.tb_next


def about(place: Place, lines: Iterable[str]) -> Iterator[Line]:
    """Lines of a function's body with one place."""
    return ((f" {line}", place) for line in lines)


def indented(lines: Iterable[Line]) -> Iterator[Line]:
    """Lines inside an `if`, `else` or `for`."""
    return ((f" {line}", place) for line, place in lines)
