"""The newest value of each record of a group, by record type. The rows of a share or streams group are computed from it.

A log that Kafka has compacted has no other values, so a whole log and a compacted log have the same rows. The order of records and
missing records make no difference. A row stores the values as JSON, because compaction continues from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import DecodeError, Raw, Struct, field, json

from group_coordinator.codecs.records.log_entry import RecordError


class _KeyData(Struct):
    member_id: str | None = field(default=None, name="memberId")


class _Key(Struct):
    data: _KeyData


class _Value(Struct):
    data: Raw


_decode_key = json.Decoder(_Key).decode
_decode_value = json.Decoder(_Value).decode


Readers: TypeAlias = Mapping[int, Callable[[bytes], Any]]
"""Decoders of a value's `data`, by record type."""


def read(values: Mapping[int, Raw], record_type: int, readers: Readers) -> Any:
    """Decode the value of a type; None if there is none."""
    data = values.get(record_type)
    return None if data is None else readers[record_type](data)


class NewestValues(Struct, omit_defaults=True):
    """The values of the group and of each of its members: `data` by record type."""

    group: dict[int, Raw] = {}
    members: dict[str, dict[int, Raw]] = {}

    @classmethod
    def of_json(cls, text: str | None) -> NewestValues:
        """Decode the text of in_json."""
        return cls() if text is None else json.decode(text, type=cls)

    def in_json(self) -> str | None:
        """Encode the values for a row; None if there are none. Equal values have the same text."""
        if not self:
            return None
        members = {
            member_id: _sorted(self.members[member_id]) for member_id in sorted(self.members)
        }
        return json.encode(NewestValues(_sorted(self.group), members)).decode()

    def __bool__(self) -> bool:
        return bool(self.group or self.members)

    def take(self, record_type: int, key: str, value: str | None, readers: Readers) -> str | None:
        """Store a record and return its member. A tombstone of an unknown key changes nothing. Raises RecordError: nothing changes."""
        try:
            member_id = _decode_key(key).data.member_id
            data = None if value is None else _decode_value(value).data
            if data is not None:
                readers[record_type](data)
        except DecodeError as fault:
            raise RecordError(f"{key}: {fault}") from fault
        self._put(member_id, record_type, data)
        return member_id

    def _put(self, member_id: str | None, record_type: int, data: Raw | None) -> None:
        values = self.group if member_id is None else self.members.setdefault(member_id, {})
        if data is None:
            values.pop(record_type, None)
        else:
            # A Raw keeps the whole record in memory; its copy has only this value.
            values[record_type] = data.copy()
        if not values and member_id is not None:
            del self.members[member_id]


def _sorted(values: Mapping[int, Raw]) -> dict[int, Raw]:
    # Equal groups must have equal rows, in whatever order their records came.
    return dict(sorted(values.items()))
