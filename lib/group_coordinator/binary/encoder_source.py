"""Writes the source of an encoder: a function for each struct of a message, from a dict to bytes.

`e1(o, r)` appends the struct r to the bytearray o, and returns o. As in Kafka, a tagged field is written only if its bytes
differ from the bytes of its default.
"""

from __future__ import annotations

import struct
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from group_coordinator.binary.layouts import (
    NOWHERE,
    FieldLayout,
    Line,
    Place,
    Rules,
    Source,
    StructLayout,
    about,
    indented,
)
from group_coordinator.binary.notation import (
    LONGEST_TEXT,
    FieldFaultError,
    too_long,
    uuid_bytes,
    varint_bytes,
)

_UUID_SIZE = 16
_COMPACT = {"h": "compact_text", "i": "compact"}
"""The function that writes a length in a flexible version, by the format character of the length in other versions."""


def _compact_text(length: int) -> bytes:
    if length > LONGEST_TEXT:
        raise too_long(length)
    return varint_bytes(length + 1)


def _uuid(text: str) -> bytes:
    try:
        found = uuid_bytes(text)
    except Base64Error as fault:
        raise FieldFaultError(f"{text} is no uuid") from fault
    if len(found) != _UUID_SIZE:
        raise FieldFaultError(f"{text} is no uuid")
    return found


def _tags(fields: Sequence[tuple[int, bytearray]]) -> bytes:
    return varint_bytes(len(fields)) + b"".join(
        varint_bytes(tag) + varint_bytes(len(value)) + value for tag, value in fields
    )


ENCODER_NAMES: Mapping[str, object] = {
    "compact": lambda length: varint_bytes(length + 1),
    "compact_text": _compact_text,
    "pack": struct.pack,
    "plain": partial(a2b_base64, strict_mode=True),
    "tags": _tags,
    "uuid": _uuid,
}
"""The names that the source uses."""


class EncoderSource:
    """Adds the encoders of structs to a program."""

    def __init__(self, source: Source, rules: Rules) -> None:
        self._source = source
        self._rules = rules

    def struct(self, layout: StructLayout) -> str:
        """Add the encoder of a struct and of its inner structs; return its name."""
        name = self._source.fresh("e")
        body = [*self._plain(layout), *(self._tagged(layout) if layout.flexible else ())]
        head = [f"def {name}(o, r):", " g = r.get"]
        self._source.add(
            [*((line, NOWHERE) for line in head), *body, *about(NOWHERE, ["return o"])]
        )
        return name

    def _found(self, field: FieldLayout) -> str:
        if self._rules.fills_in_defaults:
            return f"g({field.name!r}, {field.default!r})"
        return f"r[{field.name!r}]"

    def _plain(self, layout: StructLayout) -> Iterator[Line]:
        for fields in layout.runs():
            place = Place.of(*fields)
            if fields[0].is_number:
                pack = self._source.packing("pack", "".join(field.letter or "" for field in fields))
                yield from about(place, [f"o += {pack}({', '.join(map(self._found, fields))})"])
            else:
                (field,) = fields
                yield from about(place, [f"v = {self._found(field)}"])
                yield from self._value(field)

    def _tagged(self, layout: StructLayout) -> Iterator[Line]:
        if not layout.tagged:
            # A flexible struct ends with the number of its tagged fields, even without fields.
            yield from about(NOWHERE, ["o.append(0)"])
            return
        yield from about(NOWHERE, ["q = []"])
        # As Kafka does, the bytes of a tagged field are compared with those of its default.
        for field in layout.tagged:
            write, default = self._tagged_field(field)
            yield from about(
                NOWHERE,
                [
                    f"if {field.name!r} in r:",
                    f" w = {write}(bytearray(), r[{field.name!r}])",
                    f" if w != {default}: q.append(({field.tag}, w))",
                ],
            )
        yield from about(NOWHERE, ["o += tags(q)"])

    def _tagged_field(self, field: FieldLayout) -> tuple[str, str]:
        """Return the names of two things: the function that writes a tagged field, and the bytes of its default."""
        write, default = self._source.fresh("t"), self._source.fresh("default")
        self._source.add(
            # The default is encoded once, when the program is compiled.
            [
                (f"def {write}(o, v):", NOWHERE),
                *self._value(field),
                *about(NOWHERE, ["return o"]),
                (f"{default} = {write}(bytearray(), {field.whole_default()!r})", NOWHERE),
            ]
        )
        return write, default

    def _value(self, field: FieldLayout) -> Iterator[Line]:
        if field.type == "count":
            yield from about(Place.of(field), ["n = v", *self._length(field, "i")])
            return
        if not field.nullable:
            yield from self._there(field)
            return
        yield from about(Place.of(field), [f"if v is None: {self._null(field)}", "else:"])
        yield from indented(self._there(field))

    def _null(self, field: FieldLayout) -> str:
        # A nullable struct has one byte before it: -1 is null, 1 is present (KIP-893).
        if field.struct is not None and not field.is_array and field.tag is None:
            return "o.append(255)"
        if field.compact:
            return "o.append(0)"
        return f"o += {self._packed(field.length_letter, '-1')}"

    def _there(self, field: FieldLayout) -> Iterator[Line]:
        if field.is_array:
            yield from self._array(field)
            return
        if field.struct is not None and field.nullable:
            # The byte of a struct that is not null.
            yield from about(Place.of(field), ["o.append(1)"])
        yield from about(Place.of(field), self._one(field, "v"))

    def _one(self, field: FieldLayout, value: str) -> Iterator[str]:
        # A value that is always present, such as an element of an array.
        if field.struct is not None:
            yield f"{self.struct(field.struct)}(o, {value})"
        elif field.type == "string":
            yield f"w = {value}.encode(); n = len(w)"
            yield from self._length(field, "h")
            yield "o += w"
        elif field.type in {"bytes", "records"}:
            blob = f"plain({value})" if self._rules.has_base64 else value
            yield f"w = {blob}; n = len(w)"
            yield from self._length(field, "i")
            yield "o += w"
        elif field.type == "uuid":
            yield f"o += uuid({value})"
        else:
            yield f"o += {self._packed(field.letter or '', value)}"

    def _array(self, field: FieldLayout) -> Iterator[Line]:
        place = Place.of(field)
        yield from about(place, ["n = len(v)", *self._length(field, "i")])
        if field.letter is not None:
            yield from about(place, [f"o += pack(f'>{{n}}{field.letter}', *v)"])
            return
        yield from about(place, ["for x in v:"])
        yield from indented(about(place._replace(elements="v"), self._one(field, "x")))

    def _length(self, field: FieldLayout, letter: str) -> Iterator[str]:
        # A length below 127 is a varint of one byte: no call.
        if field.compact:
            yield "if n < 127: o.append(n + 1)"
            yield f"else: o += {_COMPACT[letter]}(n)"
        else:
            yield f"o += {self._packed(letter, 'n')}"

    def _packed(self, letter: str, value: str) -> str:
        return f"{self._source.packing('pack', letter)}({value})"
