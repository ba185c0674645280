"""Writes the source of a decoder: a function for each struct of a message, from bytes to a dict.

`d1(b, p, z)` takes the bytes, a position and where they end, and gives the struct and the position behind it. It reads what
Kafka 4.4.0's own reader reads, and refuses what that refuses:

* No length is believed: a text, bytes or an array that is longer than what is left is refused before anything is made of it.
* An array has at most 1,000,000 elements and a struct at most 10,000 tagged fields; a text has at most 32,767 bytes.
* A field that cannot be null is not null. Any negative length is null.
* Of equal tags the last one counts, unknown ones are skipped, those of other versions are refused, and the announced size
  of a known one is not looked at.
* A float may be NaN, which JSON cannot hold; only AlterClientQuotas has one, and no event is made of that.
* Text that is no UTF-8 has U+FFFD for what is none, as in Java; so every text fits into JSON.

So a dict takes at most 130 times the memory of its frame: an empty struct in an array has two or three bytes there.
"""

from __future__ import annotations

import struct
from binascii import b2a_base64
from collections.abc import Iterator, Mapping
from typing import Final

from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.codecs.kafka_bytes import (
    Data,
    FieldFaultError,
    compact_length,
    decoded_as_java,
    too_short,
    varint,
)
from group_coordinator.codecs.wire.layouts import NUMBERS, FieldLayout, StructLayout
from group_coordinator.codecs.wire.source import Source, about, indented
from group_coordinator.core.uuids import uuid_text

_MOST_ELEMENTS: Final = 1_000_000
_MOST_TAGGED_FIELDS: Final = 10_000
_UUID_SIZE: Final = 16
_TAGS = "tagged fields"


def _refusal(length: int, left: int) -> FieldFaultError:
    if length > left:
        return too_short(length, left)
    return FieldFaultError(f"{length} are too many")


def _null() -> FieldFaultError:
    return FieldFaultError("is null")


def _other_version(tag: int) -> FieldFaultError:
    return FieldFaultError(f"tag {tag} is one of another version")


def _uuid(data: Data, position: int, end: int) -> str:
    if end - position < _UUID_SIZE:
        raise too_short(_UUID_SIZE, end - position)
    return uuid_text(bytes(data[position : position + _UUID_SIZE]))


def _java_text(encoded: Data) -> str:
    return decoded_as_java(bytes(encoded))


DECODER_NAMES: Mapping[str, object] = {
    "base64": b2a_base64,
    "compact_length": compact_length,
    "java_text": _java_text,
    "null": _null,
    "other_version": _other_version,
    "refusal": _refusal,
    "unpack_from": struct.unpack_from,
    "uuid": _uuid,
    "varint": varint,
}
"""What the source uses."""


class DecoderSource:
    """Adds the decoders of structs to a program."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def struct(self, layout: StructLayout) -> str:
        """Add the decoder of a struct and of those inside; gives its name."""
        name = self._source.fresh("d")
        targets = {field.name: f"v{index}" for index, field in enumerate(layout.fields)}
        body = [
            *self._plain(layout, targets),
            *(self._tagged(layout, targets) if layout.flexible else ()),
        ]
        result = ", ".join(f"{name!r}: {target}" for name, target in targets.items())
        self._source.add([(f"def {name}(b, p, z):", ""), *body, (f" return {{{result}}}, p", "")])
        return name

    def _plain(self, layout: StructLayout, targets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for fields in layout.runs():
            names = ", ".join(field.name for field in fields)
            if fields[0].number is None:
                (field,) = fields
                yield from about(names, self._value(field, targets[field.name]))
            else:
                letters = "".join(field.number or "" for field in fields)
                found = ", ".join(targets[field.name] for field in fields)
                yield from about(names, self._numbers(letters, f"{found},"))

    def _tagged(
        self, layout: StructLayout, targets: Mapping[str, str]
    ) -> Iterator[tuple[str, str]]:
        for field in layout.tagged:
            yield from about(field.name, [f"{targets[field.name]} = {field.whole_default()!r}"])
        yield from about(
            _TAGS,
            [
                "n = b[p]; p += 1",
                "if n > 127: n, p = varint(b, p - 1)",
                f"if n > {_MOST_TAGGED_FIELDS} or n > z - p: raise refusal(n, z - p)",
                "for _ in range(n):",
                " t, p = varint(b, p); n, p = varint(b, p)",
            ],
        )
        for field in layout.tagged:
            yield from about(_TAGS, [f" if t == {field.tag}:"])
            lines = [*self._value(field, targets[field.name]), "continue"]
            yield from about(field.name, indented(indented(lines)))
        others = [f"if t in {layout.tags_of_other_versions}: raise other_version(t)"]
        skip = ["if n > z - p: raise refusal(n, z - p)", "p += n"]
        yield from about(
            _TAGS, indented([*(others if layout.tags_of_other_versions else ()), *skip])
        )

    def _value(self, field: FieldLayout, target: str) -> Iterator[str]:
        if field.is_array:
            yield from _length(self._source, field, "i")
            yield from _unless_null(field, target, self._array(field, target))
        elif field.type == "string":
            yield from _length(self._source, field, "h")
            yield from _unless_null(field, target, _text(target))
        elif field.type in {"bytes", "records"}:
            yield from _length(self._source, field, "i")
            yield from _unless_null(field, target, _blob(target))
        elif field.struct is not None and field.nullable:
            yield "n = b[p]; p += 1"
            yield f"if n > 127: {target} = None"
            yield f"else: {target}, p = {self.struct(field.struct)}(b, p, z)"
        else:
            yield from self._one(field, target)

    def _one(self, field: FieldLayout, target: str) -> Iterator[str]:
        """A value that is there in any case, an element of an array for example."""
        if field.struct is not None:
            yield f"{target}, p = {self.struct(field.struct)}(b, p, z)"
        elif field.type == "string":
            yield from _length(self._source, field, "h")
            yield "if n < 0: raise null()"
            yield from _text(target)
        elif field.type == "uuid":
            yield f"{target} = uuid(b, p, z); p += {_UUID_SIZE}"
        else:
            yield from self._numbers(NUMBERS[field.type], f"{target},")

    def _numbers(self, letters: str, targets: str) -> Iterator[str]:
        unpack = self._source.packing("unpack_from", letters)
        yield f"{targets} = {unpack}(b, p); p += {struct.calcsize(f'>{letters}')}"

    def _array(self, field: FieldLayout, target: str) -> Iterator[str]:
        yield f"if n > {_MOST_ELEMENTS} or n > z - p: raise refusal(n, z - p)"
        letter = NUMBERS.get(field.type)
        if letter is not None:
            size = struct.calcsize(f">{letter}")
            yield f"{target} = list(unpack_from(f'>{{n}}{letter}', b, p)); p += {size} * n"
            return
        yield f"{target} = []"
        yield "for _ in range(n):"
        yield from indented(self._one(field, "x"))
        yield f" {target}.append(x)"


def _length(source: Source, field: FieldLayout, letter: str) -> Iterator[str]:
    if field.flexible:
        yield "n = b[p] - 1; p += 1"
        yield "if n > 126: n, p = compact_length(b, p - 1)"
    else:
        unpack = source.packing("unpack_from", letter)
        yield f"n, = {unpack}(b, p); p += {struct.calcsize(f'>{letter}')}"


def _unless_null(field: FieldLayout, target: str, lines: Iterator[str]) -> Iterator[str]:
    if not field.nullable:
        yield "if n < 0: raise null()"
        yield from lines
        return
    yield f"if n < 0: {target} = None"
    yield "else:"
    yield from indented(lines)


def _text(target: str) -> Iterator[str]:
    yield "e = p + n"
    yield f"if n > {LONGEST_TEXT} or e > z: raise refusal(n, z - p)"
    yield f"try: {target} = str(b[p:e], 'utf-8')"
    yield f"except UnicodeDecodeError: {target} = java_text(b[p:e])"
    yield "p = e"


def _blob(target: str) -> Iterator[str]:
    yield "e = p + n"
    yield "if e > z: raise refusal(n, z - p)"
    yield f"{target} = base64(b[p:e], newline=False).decode(); p = e"
