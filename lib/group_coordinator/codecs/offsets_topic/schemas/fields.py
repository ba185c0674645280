"""The words in which the layout of a message is written down: fields in the order of their bytes.

They are those of Kafka's message definitions (the JSON files of its group-coordinator module), as far as these need them:
a nullable field may be null in every version that has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias


class Scalar(Enum):
    """What has no parts. Numbers are big-endian."""

    INT8 = auto()
    INT16 = auto()
    UINT16 = auto()
    INT32 = auto()
    INT64 = auto()
    STRING = auto()
    BYTES = auto()
    UUID = auto()


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Any number of the same."""

    element: FieldType


@dataclass(frozen=True, slots=True)
class Struct:
    """Fields in the order of their bytes; those with a tag come last."""

    fields: tuple[Field, ...]


FieldType: TypeAlias = Scalar | ArrayOf | Struct


@dataclass(frozen=True, slots=True)
class Field:
    """A field, and in which versions of the value it is there (`until` is the last of them, None: still there)."""

    name: str
    type: FieldType
    since: int = 0
    until: int | None = None
    nullable: bool = False

    def is_in(self, version: int) -> bool:
        """Whether values of this version have it."""
        return self.since <= version and (self.until is None or version <= self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedField(Field):
    """A field at the end of its struct, by number. The JSON leaves it out where it is as the default, written or not.

    A default that Kafka's definitions give as a bare null is not null but empty: its generator looks for the text "null".
    """

    tag: int
    default: Any


class Encoding(NamedTuple):
    """A version of a message; in flexible ones lengths are varints and structs end with tagged fields (KIP-482)."""

    version: int
    flexible: bool


OF_KEYS = Encoding(version=0, flexible=False)
"""Keys have one version, which is not flexible."""


@dataclass(frozen=True, slots=True)
class RecordSchema:
    """One record type: its number and Kafka's name, the fields of its key, the fields of its value."""

    record_type: int
    name: str
    key: Struct
    value: Struct
    highest_version: int = 0
    flexible_since: int | None = 0
    """The first version of the value that is flexible; None: none is."""

    def encodings(self) -> list[Encoding]:
        """How values are written, by version."""
        first = self.highest_version + 1 if self.flexible_since is None else self.flexible_since
        return [
            Encoding(version, flexible=version >= first)
            for version in range(self.highest_version + 1)
        ]


def struct(*fields: Field) -> Struct:
    """A struct with these fields."""
    return Struct(fields)


GROUP_KEY = struct(Field("groupId", Scalar.STRING))
MEMBER_KEY = struct(Field("groupId", Scalar.STRING), Field("memberId", Scalar.STRING))
TARGET_EPOCH = struct(
    Field("assignmentEpoch", Scalar.INT32),
    TaggedField("assignmentTimestamp", Scalar.INT64, tag=0, default=0),
)
"""Groups of all three newer kinds write the same."""
TOPIC_PARTITIONS = (Field("topicId", Scalar.UUID), Field("partitions", ArrayOf(Scalar.INT32)))
