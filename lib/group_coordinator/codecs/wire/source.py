"""Source that is written, compiled and run: what reads or writes one message in one version.

Why source, and not functions around functions as in `offsets_topic/schema_reader.py`: a gateway reads and writes each request
and each answer of every group, and those read about half as many a second (`python -m tests.benchmarks.wire`). What is
executed comes from Kafka's definitions and from texts of this package alone; nothing that a client sent gets into it.

Each line belongs to a field. So the traceback of a failure says which field it was, the ones around it included, and lines
that run well pay nothing for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any


class Source:
    """A program in the making: functions, the names that they use, and the field that each line is about."""

    def __init__(self, title: str, names: Mapping[str, object]) -> None:
        self._title = f"<{title}>"
        self._names = dict(names)
        self._lines: list[str] = []
        self._fields: list[str] = []
        self._numbers = 0

    def fresh(self, prefix: str) -> str:
        """A name that nobody has."""
        self._numbers += 1
        return f"{prefix}{self._numbers}"

    def packing(self, method: str, letters: str) -> str:
        """The name of a method of Python's Struct for big-endian numbers."""
        name = f"{method}_{letters.replace('?', 'bool')}"
        self._names[name] = getattr(struct.Struct(f">{letters}"), method)
        return name

    def add(self, lines: Iterable[tuple[str, str]]) -> None:
        """A function; each line comes with the field that it is about, or an empty text."""
        for line, field in lines:
            self._lines.append(line)
            self._fields.append(field)

    def run(self, function: str) -> Callable[..., Any]:
        """Execute what was added, and give one of its functions."""
        program = compile("\n".join(self._lines), self._title, "exec")
        exec(program, self._names)
        found: Callable[..., Any] = self._names[function]  # type: ignore[assignment]
        return found

    def field_of(self, traceback: TracebackType | None) -> str:
        """Where it failed: "topics.partitions.committedOffset"."""
        return ".".join(filter(None, self._fields_of(traceback)))

    def _fields_of(self, traceback: TracebackType | None) -> Iterator[str]:
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._title:
                yield self._fields[traceback.tb_lineno - 1]
            traceback = traceback.tb_next


def about(field: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Lines of a function's body about one field."""
    return ((f" {line}", field) for line in lines)


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Lines inside an `if`, `else` or `for`."""
    return (f" {line}" for line in lines)
