"""The types of fields of Kafka's messages in JSON, with errors that name a field, its value and the reason; checks of bodies."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from group_coordinator.binary import notation
from group_coordinator.core.model.responses import PartitionResult, TopicResult

JsonObject: TypeAlias = dict[str, Any]

_LONGEST_VALUE = 100

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def plain_tree(value: bytes) -> JsonObject:
    """Return the readable fields of an event; empty if it is no JSON object."""
    try:
        fields = _decode_fields(value)
    except (ValueError, RecursionError):
        return {}
    tree = {}
    for name, field in fields.items():
        with suppress(ValueError, RecursionError):
            tree[name] = msgspec.json.decode(field)
    return tree


def shortened(value: object) -> str:
    """Return the value as JSON, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."


_BEFORE_PATH = " - at `$"
"""As in "Expected `int`, got `str` - at `$.topics[0].partitions`". msgspec names no path for the whole value."""
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]")


class FieldError(ValueError):
    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def at_path(
    prefix: str, fault: msgspec.ValidationError, value: bytes, whole: str = "event"
) -> FieldError:
    """Return the error with a field's path, its short value and the reason. `whole` is the name of a value that is no object."""
    # msgspec has the path in its message only.
    why, _, path = str(fault).partition(_BEFORE_PATH)
    path = path.removesuffix("`")
    full_path = f".{prefix}{path}" if prefix else path
    misfit = _node_at(plain_tree(value), full_path)
    shown = "" if isinstance(misfit, dict | list) else f" = {shortened(misfit)}"
    return FieldError(f"{full_path.removeprefix('.') or whole}{shown}", why)


def _node_at(tree: Any, path: str) -> Any:
    for step in _STEP.finditer(path):
        try:
            tree = tree[step["name"] or int(step["index"])]
        except (KeyError, IndexError, TypeError):
            return {}
    return tree


Field = TypeVar("Field")

HIGHEST_INT16 = 2**15 - 1
HIGHEST_INT32 = notation.HIGHEST_INT32
HIGHEST_INT64 = 2**63 - 1
LONGEST_TEXT = notation.LONGEST_TEXT

Int8 = Annotated[int, Meta(ge=-(2**7), le=2**7 - 1)]
Int16 = Annotated[int, Meta(ge=-(2**15), le=HIGHEST_INT16)]
Int32 = Annotated[int, Meta(ge=-(2**31), le=HIGHEST_INT32)]
PartitionNumber = Annotated[int, Meta(ge=0, le=HIGHEST_INT32)]
LogOffset = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""The offset of a record in a partition."""
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]

ABSENT = -1
"""The number for an absent epoch, generation, timestamp or offset on the wire."""

NOT_ASKED_FOR = -(2**31)
"""The number for authorized operations that were not requested."""


def number_or_none(number: int | UnsetType) -> int | None:
    """Return the number; None if it is absent or -1."""
    return None if number is UNSET or number == ABSENT else number


def number_on_wire(number: int | None) -> int:
    """Encode a number for number_or_none."""
    return ABSENT if number is None else number


def or_default(value: Field | UnsetType, default: Field) -> Field:
    """Return the value; the default if it is absent."""
    return default if value is UNSET else value


def unset_if_none(value: Field | None) -> Field | UnsetType:
    """Return the value for or_default; UNSET for None."""
    return UNSET if value is None else value


def operations_on_wire(operations: int | None) -> int:
    """Return the operations that a principal may do, as bits; None: they were not requested."""
    return NOT_ASKED_FOR if operations is None else operations


Uuid = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{21}[AQgw]\Z")]
"""The last character has only two bits."""

ZERO_UUID = notation.ZERO_UUID
"""The id for an absent topic id on the wire."""


def uuid_or_none(uuid: str | UnsetType | None) -> str | None:
    """Return the uuid; None if it is absent or the zero id."""
    return None if uuid is UNSET or uuid == ZERO_UUID else uuid


def uuid_on_wire(uuid: str | None) -> str:
    """Encode a uuid for uuid_or_none."""
    return uuid or ZERO_UUID


_COLON = ord(":")
_BACKSLASH = ord("\\")

_encode = msgspec.json.Encoder().encode


def check_distinct_keys(value: bytes, event: msgspec.Struct) -> None:
    """Reject an object with equal keys, of which JSON readers would silently keep the last. Raises FieldError.

    The event is encoded again, and the colons are counted: equal numbers of colons mean equal numbers of keys. Only escapes can
    change the number otherwise; then a slower reader decides.
    """
    # A key may contain an escaped colon.
    if _BACKSLASH in value or value.count(_COLON) != _encode(event).count(_COLON):
        # Only Python's own reader reports repeated keys.
        json.loads(value, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FieldError(twice, "appears twice")
    return keys


def check_text_sizes(value: bytes) -> None:
    """Check the bytes of texts, which Kafka limits; the structs limit characters. Raises FieldError: a text has too many bytes."""
    # No text can be longer than the whole value; ASCII was checked by the structs.
    if len(value) > LONGEST_TEXT and (_BACKSLASH in value or not value.isascii()):
        _check_texts(plain_tree(value), "")


def _check_texts(node: object, path: str) -> None:
    match node:
        case dict():
            for name, child in node.items():
                _check_texts(child, f"{path}.{name}" if path else name)
        case list():
            for index, child in enumerate(node):
                _check_texts(child, f"{path}[{index}]")
        case str() if not node.isascii() and len(node.encode()) > LONGEST_TEXT:
            shown = f"{path} = {shortened(node)}"
            raise FieldError(shown, f"is longer than {LONGEST_TEXT} bytes of UTF-8")


def check_unknown(field: str, value: object, default: object, version: int) -> None:
    """Check a field that the version does not have and Kafka does not ignore: it must have its default. Raises FieldError."""
    if value is not UNSET and value != default:
        shown = "" if isinstance(value, list) else f" = {shortened(value)}"
        raise FieldError(f"{field}{shown}", f"version {version} has no such field")


def topic_name(name: str | UnsetType | None) -> str:
    """Return the name of a topic. It may be null only in versions with topic ids. Raises FieldError: the name is null."""
    if name is None:
        raise FieldError("topics.name", "must not be null")
    return name or ""


def only_entry(field: str, names: list[str]) -> str:
    """Return the only entry of a list: an event is about one group, and clients split longer lists. Raises FieldError."""
    # An event's key is its group, and only events of one group keep their order.
    if len(names) != 1:
        raise FieldError(field, f"must have exactly one entry, not {len(names)}")
    return names[0]


def results_by_name(topic: TopicResult) -> JsonObject:
    """Return the errors of a topic's partitions, with the topic's name."""
    return {"name": topic.name or "", "partitions": _errors(topic.partitions)}


def results_by_id(topic: TopicResult) -> JsonObject:
    """Return the errors of a topic's partitions, with the topic's id."""
    return {"topicId": uuid_on_wire(topic.topic_id), "partitions": _errors(topic.partitions)}


def _errors(results: tuple[PartitionResult, ...]) -> list[JsonObject]:
    return [{"partitionIndex": result.partition, "errorCode": result.error} for result in results]
