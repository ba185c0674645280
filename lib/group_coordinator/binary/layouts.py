"""The layout of a version of a message, and the Python source that decodes or encodes it.

The layout has the fields in the order of their bytes. Source is faster than nested functions: these decode about half as many
messages a second. The source comes from the definitions of this package alone; it never contains data of a client. Each line has a
place: the fields that it decodes or encodes. The traceback of a failure thus leads to the field, at no cost without a failure.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, NamedTuple

from group_coordinator.binary.notation import HIGHEST_INT32, Field, Message, Type

NUMBERS: dict[str, str] = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
}
"""Format characters of Python's struct module. Kafka's numbers are big-endian."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldLayout:
    """A field in a version. `type` and `struct` of an array describe its elements. A `count` is only the number of elements."""

    name: str
    type: Type | Literal["count"]
    struct: StructLayout | None
    is_array: bool
    nullable: bool
    compact: bool
    tag: int | None
    default: Any

    @property
    def letter(self) -> str | None:
        """The format character of a number, or of the numbers in an array; None for other types."""
        return NUMBERS.get(self.type)

    @property
    def size(self) -> int:
        """The size of a number in bytes."""
        return struct.calcsize(f">{NUMBERS[self.type]}")

    @property
    def is_number(self) -> bool:
        """True for a single number, False for an array of numbers."""
        return not self.is_array and self.type in NUMBERS

    @property
    def length_letter(self) -> str:
        """The format character of the length, if the length is not compact."""
        return "h" if self.type == "string" and not self.is_array else "i"

    def whole_default(self) -> Any:
        """The default; for a struct, a dict with the defaults of all its fields."""
        return self.struct.defaults() if self.struct and self.default == {} else self.default


@dataclass(frozen=True, slots=True)
class StructLayout:
    """A struct in a version. A flexible struct ends with its tagged fields, even with none."""

    plain: tuple[FieldLayout, ...]
    tagged: tuple[FieldLayout, ...]
    tags_of_other_versions: tuple[int, ...]
    flexible: bool

    @property
    def fields(self) -> tuple[FieldLayout, ...]:
        """All fields; tagged fields are last."""
        return (*self.plain, *self.tagged)

    def runs(self) -> Iterator[tuple[FieldLayout, ...]]:
        """Yield the plain fields: consecutive numbers as a group, any other field alone."""
        for is_number, fields in groupby(self.plain, key=lambda field: field.is_number):
            if is_number:
                yield tuple(fields)
            else:
                yield from ((field,) for field in fields)

    def before(self, name: str) -> StructLayout:
        """Return the plain fields before a field. If that field is an array, its number of elements is the last field."""
        at = [field.name for field in self.plain].index(name)
        field = self.plain[at]
        count = (replace(field, type="count", struct=None, is_array=False),)
        first = (*self.plain[:at], *(count if field.is_array else ()))
        return StructLayout(plain=first, tagged=(), tags_of_other_versions=(), flexible=False)

    def element_of(self, array: str) -> StructLayout:
        """Return the layout of the structs in an array."""
        # The struct of the array is known by its name only.
        [element] = (field.struct for field in self.plain if field.name == array)
        if element is None:
            raise TypeError(f"{array} has no structs")
        return element

    def defaults(self) -> dict[str, Any]:
        """Return a body in which every field has its default."""
        return {field.name: field.whole_default() for field in self.fields}


def message_layout(message: Message, version: int) -> StructLayout:
    """Return the layout of a version of a message."""
    return _struct(message.fields, version, flexible=message.is_flexible(version))


def _struct(fields: tuple[Field, ...], version: int, *, flexible: bool) -> StructLayout:
    here = [_field(field, version, flexible=flexible) for field in fields if field.is_in(version)]
    tagged = {field.tag: field for field in here if field.tag is not None}
    return StructLayout(
        plain=tuple(field for field in here if field.tag is None),
        # Kafka rejects a known tag in a version that does not have it.
        tagged=tuple(tagged[tag] for tag in sorted(tagged)),
        tags_of_other_versions=tuple(
            field.tag for field in fields if field.tag is not None and field.tag not in tagged
        ),
        flexible=flexible,
    )


def _field(field: Field, version: int, *, flexible: bool) -> FieldLayout:
    is_struct = field.type == "struct"
    return FieldLayout(
        name=field.name,
        type=field.type,
        struct=_struct(field.fields, version, flexible=flexible) if is_struct else None,
        is_array=field.is_array,
        nullable=field.nullable_since is not None and field.nullable_since <= version,
        compact=flexible and field.compact,
        tag=field.tag,
        default=field.default,
    )


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


class Rules(NamedTuple):
    """Rules of a decoder and an encoder in addition to the layout of their message.

    With `fills_in_defaults` a decoded dict has every field of its version, and the encoder uses defaults for missing fields.
    Without it a decoded dict has no tagged field with its default, and a missing plain field is an error.
    """

    most_elements: int
    """The limit of an array."""
    most_tagged_fields: int
    fills_in_defaults: bool
    refuses_longer_text: bool
    """True: a text is an error if it has more than 32,767 bytes after U+FFFD replaced the bytes that are not UTF-8."""
    most_elements_in_all: int | None = None
    """The limit of structs and texts in all arrays of a message. None: the size of the message is the only limit."""
    has_base64: bool = True
    """True: bytes are base64 in a dict."""


RESPONSES = Rules(1_000_000, 10_000, fills_in_defaults=True, refuses_longer_text=True)
"""Rules for responses, as Kafka 4.4.0 reads them. Texts that cannot be written again are errors here, not in Kafka."""
REQUESTS = RESPONSES._replace(most_elements_in_all=30_000)
"""Rules for requests: an event of the highest `event.max.bytes` has about 11,000 partitions, and clients choose the content."""
OFFSETS_TOPIC = Rules(
    HIGHEST_INT32, HIGHEST_INT32, fills_in_defaults=False, refuses_longer_text=False
)
"""Rules for the messages of __consumer_offsets, as Kafka 4.4.0 reads them and Kafka's formatter prints them."""
CONSUMER_PROTOCOL = OFFSETS_TOPIC._replace(fills_in_defaults=True, has_base64=False)
"""Rules for subscriptions and assignments of classic consumers, as Kafka's coordinator reads them."""
