"""Writes the source of a decoder: a function for each struct of a message, bytes to a dict.

`d1(b, p, z)` takes the bytes, a position and the end; it returns the struct and the position after it. Where the elements of a
whole message are limited, a list `c` has the number of those that are left. The decoder accepts and rejects the same bytes as
Kafka's reader, including bytes that Kafka never writes:

* Every length is checked before memory is allocated. The rules limit the elements of an array and the tagged fields of a struct.
* Any negative length is null. Null is an error in a field that is not nullable.
* The last of several equal tags counts. Unknown tags are skipped, tags of other versions are errors. The size of a known tag is
  ignored.
* Bytes that are not UTF-8 become U+FFFD, as in Java, so that every text fits into JSON. Of a request or response, unlike in
  Kafka, such a text has still at most 32,767 bytes: it would be read here, and fail wherever it is written.

A dict takes at most 130 times the memory of its bytes, for an array of empty structs. So a request has a limit of elements in all
its arrays; arrays of numbers do not count.
"""

from __future__ import annotations

import struct
from binascii import b2a_base64
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

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
    HIGHEST_INT32,
    LONGEST_TEXT,
    Data,
    FieldFaultError,
    compact_length,
    decoded_as_java,
    too_long,
    too_short,
    uuid_text,
    varint,
)

_UUID_SIZE: Final = 16
_COUNT = Place("count of tagged fields")
_TAG = Place("tag")
_TAG_SIZE = Place("size of a tagged field")
_UNKNOWN_TAG = Place("unknown tagged field")


def _text_fault(length: int, left: int) -> FieldFaultError:
    return too_long(length) if length > LONGEST_TEXT else too_short(length, left)


def _too_many(count: int) -> FieldFaultError:
    return FieldFaultError(f"{count} are too many")


def _count_fault(count: int, left: int, most: int) -> FieldFaultError:
    if most < count <= left:
        return _too_many(count)
    return FieldFaultError(f"{count} elements in {left} bytes")


def _uuid(data: Data, position: int, end: int) -> str:
    if end - position < _UUID_SIZE:
        raise too_short(_UUID_SIZE, end - position)
    return uuid_text(bytes(data[position : position + _UUID_SIZE]))


def _java_text(encoded: Data) -> str:
    return decoded_as_java(bytes(encoded))


def _short_java_text(encoded: Data) -> str:
    # The replacement characters have three bytes each, so the text may now exceed the limit.
    text = _java_text(encoded)
    length = len(text.encode())
    if length > LONGEST_TEXT:
        raise too_long(length)
    return text


DECODER_NAMES: Mapping[str, object] = {
    "base64": b2a_base64,
    "compact_length": compact_length,
    "count_fault": _count_fault,
    "java_text": _java_text,
    "short_java_text": _short_java_text,
    "null": partial(FieldFaultError, "is null"),
    "other_version": lambda tag: FieldFaultError(f"{tag} is one of another version"),
    "text_fault": _text_fault,
    "too_many": _too_many,
    "too_many_in_all": lambda most: FieldFaultError(f"more than {most} elements in all"),
    "too_short": too_short,
    "unpack_from": struct.unpack_from,
    "uuid": _uuid,
    "varint": varint,
}
"""The names that the source uses."""


class DecoderSource:
    """Adds the decoders of structs to a program."""

    def __init__(self, source: Source, rules: Rules) -> None:
        self._source = source
        self._rules = rules
        self._arguments = "b, p, z" if rules.most_elements_in_all is None else "b, p, z, c"

    def message(self, layout: StructLayout) -> str:
        """Add the decoder of a message; return its name."""
        inner, most = self.struct(layout), self._rules.most_elements_in_all
        if most is None:
            return inner
        name = self._source.fresh("m")
        call = about(NOWHERE, [f"return {inner}(b, p, z, [{most}])"])
        self._source.add([(f"def {name}(b, p, z):", NOWHERE), *call])
        return name

    def struct(self, layout: StructLayout) -> str:
        """Add the decoder of a struct and of its inner structs; return its name."""
        name = self._source.fresh("d")
        targets = {field.name: f"v{index}" for index, field in enumerate(layout.fields)}
        body = [
            *self._plain(layout, targets),
            *(self._tagged(layout, targets) if layout.flexible else ()),
            *self._result(layout, targets),
        ]
        self._source.add([(f"def {name}({self._arguments}):", NOWHERE), *body])
        return name

    def _result(self, layout: StructLayout, targets: Mapping[str, str]) -> Iterator[Line]:
        # Without defaults, a tagged field with its default is left out, as by Kafka's formatter.
        is_whole = self._rules.fills_in_defaults or not layout.tagged
        there = layout.fields if is_whole else layout.plain
        found = ", ".join(f"{field.name!r}: {targets[field.name]}" for field in there)
        if is_whole:
            yield from about(NOWHERE, [f"return {{{found}}}, p"])
            return
        yield from about(NOWHERE, [f"r = {{{found}}}"])
        for field in layout.tagged:
            target = targets[field.name]
            line = f"if {target} != {field.whole_default()!r}: r[{field.name!r}] = {target}"
            yield from about(NOWHERE, [line])
        yield from about(NOWHERE, ["return r, p"])

    def _plain(self, layout: StructLayout, targets: Mapping[str, str]) -> Iterator[Line]:
        for fields in layout.runs():
            # Consecutive numbers are unpacked by one call, which is faster.
            if fields[0].is_number:
                letters = "".join(field.letter or "" for field in fields)
                found = ", ".join(targets[field.name] for field in fields)
                yield from about(Place.of(*fields), self._numbers(letters, f"{found},"))
            else:
                (field,) = fields
                yield from self._value(field, targets[field.name])

    def _tagged(self, layout: StructLayout, targets: Mapping[str, str]) -> Iterator[Line]:
        # Defaults come first: a tag may be absent, and the last of several equal tags counts.
        for field in layout.tagged:
            default = f"{targets[field.name]} = {field.whole_default()!r}"
            yield from about(Place.of(field), [default])
        # A varint below 128 is one byte; the common case needs no call.
        count = ["n = b[p]", "if n < 128: p += 1", "else: n, p = varint(b, p)"]
        check = f"if n > {self._rules.most_tagged_fields}: raise too_many(n)"
        yield from about(_COUNT, [*count, check])
        yield from about(_TAG, ["for _ in range(n):", " t, p = varint(b, p)"])
        yield from about(_TAG_SIZE, [" n, p = varint(b, p)"])
        for field in layout.tagged:
            yield from about(Place.of(field), [f" if t == {field.tag}:"])
            yield from indented(indented(self._value(field, targets[field.name])))
            yield from about(Place.of(field), ["  continue"])
        if layout.tags_of_other_versions:
            check = f" if t in {layout.tags_of_other_versions}: raise other_version(t)"
            yield from about(_TAG, [check])
        yield from about(_UNKNOWN_TAG, [" if n > z - p: raise too_short(n, z - p)", " p += n"])

    def _value(self, field: FieldLayout, target: str) -> Iterator[Line]:
        place = Place.of(field)
        if field.type == "count":
            yield from about(place, [*_length(self._source, field, "i"), f"{target} = n"])
        elif field.is_array:
            yield from about(place, _length(self._source, field, "i"))
            yield from _unless_null(field, target, self._array(field, target))
        elif field.type == "string":
            yield from about(place, _length(self._source, field, "h"))
            yield from _unless_null(field, target, about(place, self._text(target)))
        elif field.type in {"bytes", "records"}:
            yield from about(place, _length(self._source, field, "i"))
            yield from _unless_null(field, target, about(place, self._blob(target)))
        elif field.struct is not None and field.nullable:
            # A nullable struct has a byte before it (KIP-893).
            yield from about(place, _is_there(field))
            yield from about(place, [f"if not n: {target} = None"])
            yield from about(place, [f"else: {self._inner(field.struct, target)}"])
        else:
            yield from about(place, self._one(field, target))

    def _one(self, field: FieldLayout, target: str) -> Iterator[str]:
        """Decode a value that is always present, such as an element of an array."""
        if field.struct is not None:
            yield self._inner(field.struct, target)
        elif field.type == "string":
            yield from _length(self._source, field, "h")
            yield "if n < 0: raise null()"
            yield from self._text(target)
        elif field.type == "uuid":
            yield f"{target} = uuid(b, p, z); p += {_UUID_SIZE}"
        else:
            yield from self._numbers(field.letter or "", f"{target},")

    def _inner(self, layout: StructLayout, target: str) -> str:
        return f"{target}, p = {self.struct(layout)}({self._arguments})"

    def _numbers(self, letters: str, targets: str) -> Iterator[str]:
        unpack = self._source.packing("unpack_from", letters)
        yield f"{targets} = {unpack}(b, p); p += {struct.calcsize(f'>{letters}')}"

    def _text(self, target: str) -> Iterator[str]:
        replaced = "short_java_text" if self._rules.refuses_longer_text else "java_text"
        yield "e = p + n"
        yield f"if n > {LONGEST_TEXT} or e > z: raise text_fault(n, z - p)"
        yield f"try: {target} = str(b[p:e], 'utf-8')"
        yield f"except UnicodeDecodeError: {target} = {replaced}(b[p:e])"
        yield "p = e"

    def _blob(self, target: str) -> Iterator[str]:
        found = "base64(b[p:e], newline=False).decode()" if self._rules.has_base64 else "b[p:e]"
        yield "e = p + n"
        yield "if e > z: raise too_short(n, z - p)"
        yield f"{target} = {found}; p = e"

    def _array(self, field: FieldLayout, target: str) -> Iterator[Line]:
        place, most = Place.of(field), self._rules.most_elements
        # Elements other than numbers have at least a byte each, so that a damaged count fails at once.
        size = field.size if field.letter else 1
        check = f"if n > {most} or {size} * n > z - p: raise count_fault(n, z - p, {most})"
        yield from about(place, [check])
        if field.letter is not None:
            numbers = f"{target} = list(unpack_from(f'>{{n}}{field.letter}', b, p))"
            yield from about(place, [numbers, f"p += {size} * n"])
            return
        if self._rules.most_elements_in_all is not None:
            # The list `c` is shared by all structs of the message.
            most_in_all = self._rules.most_elements_in_all
            yield from about(
                place, ["c[0] -= n", f"if c[0] < 0: raise too_many_in_all({most_in_all})"]
            )
        yield from about(place, [f"{target} = []", "for _ in range(n):"])
        element = [*self._one(field, "x"), f"{target}.append(x)"]
        yield from indented(about(place._replace(elements=target), element))


def _length(source: Source, field: FieldLayout, letter: str) -> Iterator[str]:
    if field.compact:
        yield "n = b[p] - 1"
        yield "if n < 127: p += 1"
        yield "else: n, p = compact_length(b, p)"
    else:
        unpack = source.packing("unpack_from", letter)
        yield f"n, = {unpack}(b, p); p += {struct.calcsize(f'>{letter}')}"


def _is_there(field: FieldLayout) -> Iterator[str]:
    # Negative bytes mean null: an unsigned byte below 128 is not negative.
    if field.tag is None:
        yield "n = b[p] < 128; p += 1"
    else:
        yield "n, p = varint(b, p)"
        yield f"n = 0 < n <= {HIGHEST_INT32}"


def _unless_null(field: FieldLayout, target: str, lines: Iterator[Line]) -> Iterator[Line]:
    place = Place.of(field)
    if not field.nullable:
        yield from about(place, ["if n < 0: raise null()"])
        yield from lines
        return
    yield from about(place, [f"if n < 0: {target} = None", "else:"])
    yield from indented(lines)
