"""Writes the source of an encoder: a function for each struct of a message, from a dict to bytes.

`e1(o, r)` adds the struct r to the bytearray o, and gives it. A tagged field is written where its bytes are not those of its
default, as Kafka does.
"""

from __future__ import annotations

import struct
from binascii import a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.codecs.kafka_bytes import FieldFaultError, varint_bytes
from group_coordinator.codecs.wire.layouts import NUMBERS, FieldLayout, StructLayout
from group_coordinator.codecs.wire.source import Source, about, indented
from group_coordinator.core.uuids import uuid_bytes

_UUID_SIZE = 16
_TAGS = "tagged fields"
_COMPACT = {"h": "compact_text", "i": "compact"}
"""What writes a length in a flexible version, by its letter in the others."""


def _compact(length: int) -> bytes:
    return varint_bytes(length + 1)


def _compact_text(length: int) -> bytes:
    if length > LONGEST_TEXT:
        raise FieldFaultError(f"{length} bytes are too long for a string")
    return varint_bytes(length + 1)


def _uuid(text: str) -> bytes:
    found = uuid_bytes(text)
    if len(found) != _UUID_SIZE:
        raise FieldFaultError(f"{text} is no uuid")
    return found


def _tags(fields: Sequence[tuple[int, bytearray]]) -> bytes:
    return varint_bytes(len(fields)) + b"".join(
        varint_bytes(tag) + varint_bytes(len(value)) + value for tag, value in fields
    )


ENCODER_NAMES: Mapping[str, object] = {
    "compact": _compact,
    "compact_text": _compact_text,
    "pack": struct.pack,
    "plain": partial(a2b_base64, strict_mode=True),
    "tags": _tags,
    "uuid": _uuid,
}
"""What the source uses."""


class EncoderSource:
    """Adds the encoders of structs to a program."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def struct(self, layout: StructLayout) -> str:
        """Add the encoder of a struct and of those inside; gives its name."""
        name = self._source.fresh("e")
        body = [*self._plain(layout), *(self._tagged(layout) if layout.flexible else ())]
        self._source.add([(f"def {name}(o, r):", ""), (" g = r.get", ""), *body, (" return o", "")])
        return name

    def _plain(self, layout: StructLayout) -> Iterator[tuple[str, str]]:
        for fields in layout.runs():
            names = ", ".join(field.name for field in fields)
            if fields[0].number is None:
                (field,) = fields
                yield from about(names, [f"v = {_found(field)}", *self._value(field)])
            else:
                pack = self._source.packing("pack", "".join(field.number or "" for field in fields))
                yield from about(names, [f"o += {pack}({', '.join(map(_found, fields))})"])

    def _tagged(self, layout: StructLayout) -> Iterator[tuple[str, str]]:
        if not layout.tagged:
            yield from about(_TAGS, ["o.append(0)"])
            return
        yield from about(_TAGS, ["q = []"])
        for field in layout.tagged:
            write, default = self._tagged_field(field)
            yield from about(
                field.name,
                [
                    f"w = {write}(bytearray(), {_found(field)})",
                    f"if w != {default}: q.append(({field.tag}, w))",
                ],
            )
        yield from about(_TAGS, ["o += tags(q)"])

    def _tagged_field(self, field: FieldLayout) -> tuple[str, str]:
        """The names of the function that writes a tagged field and of the bytes of its default."""
        write, default = self._source.fresh("t"), self._source.fresh("default")
        self._source.add(
            [
                (f"def {write}(o, v):", ""),
                *about("", self._value(field)),
                (" return o", ""),
                (f"{default} = {write}(bytearray(), {field.default!r})", ""),
            ]
        )
        return write, default

    def _value(self, field: FieldLayout) -> Iterator[str]:
        if not field.nullable:
            yield from self._there(field)
            return
        yield f"if v is None: {self._null(field)}"
        yield "else:"
        yield from indented(self._there(field))

    def _null(self, field: FieldLayout) -> str:
        if field.struct is not None and not field.is_array:
            return "o.append(255)"
        if field.flexible:
            return "o.append(0)"
        return f"o += {self._packed(field.length_letter, '-1')}"

    def _there(self, field: FieldLayout) -> Iterator[str]:
        if field.is_array:
            yield from self._array(field)
        elif field.struct is not None and field.nullable:
            yield f"o.append(1); {self.struct(field.struct)}(o, v)"
        else:
            yield from self._one(field)

    def _one(self, field: FieldLayout) -> Iterator[str]:
        """A value that is there in any case, an element of an array for example."""
        if field.struct is not None:
            yield f"{self.struct(field.struct)}(o, v)"
        elif field.type == "string":
            yield "w = v.encode(); n = len(w)"
            yield from self._length(field, "h")
            yield "o += w"
        elif field.type in {"bytes", "records"}:
            yield "w = plain(v); n = len(w)"
            yield from self._length(field, "i")
            yield "o += w"
        elif field.type == "uuid":
            yield "o += uuid(v)"
        else:
            yield f"o += {self._packed(NUMBERS[field.type], 'v')}"

    def _array(self, field: FieldLayout) -> Iterator[str]:
        yield "n = len(v)"
        yield from self._length(field, "i")
        letter = NUMBERS.get(field.type)
        if letter is not None:
            yield f"o += pack(f'>{{n}}{letter}', *v)"
            return
        yield "for v in v:"
        yield from indented(self._one(field))

    def _length(self, field: FieldLayout, letter: str) -> Iterator[str]:
        if field.flexible:
            yield "if n < 127: o.append(n + 1)"
            yield f"else: o += {_COMPACT[letter]}(n)"
        else:
            yield f"o += {self._packed(letter, 'n')}"

    def _packed(self, letter: str, value: str) -> str:
        return f"{self._source.packing('pack', letter)}({value})"


def _found(field: FieldLayout) -> str:
    return f"g({field.name!r}, {field.default!r})"
