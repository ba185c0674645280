"""The newest value of each record of a group, by record type: all that the rows of a share or streams group follow from.

A log that Kafka has cleaned has nothing else, so that both logs leave the same rows, in whatever order siblings come and
whichever are missing. A row keeps them as JSON, because the next stretch of the log builds on them.
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
"""From a value's `data`, by record type."""


def read(values: Mapping[int, Raw], record_type: int, readers: Readers) -> Any:
    """What the value of a type says; None: there is none."""
    data = values.get(record_type)
    return None if data is None else readers[record_type](data)


class NewestValues(Struct, omit_defaults=True):
    """What is about the group, and what is about each of its members: `data` of a value, by record type."""

    group: dict[int, Raw] = {}
    members: dict[str, dict[int, Raw]] = {}

    @classmethod
    def of_json(cls, text: str | None) -> NewestValues:
        """The inverse of in_json."""
        return cls() if text is None else json.decode(text, type=cls)

    def in_json(self) -> str | None:
        """As a row keeps them; None: there are none. The same values give the same text."""
        if not self:
            return None
        members = {
            member_id: _sorted(self.members[member_id]) for member_id in sorted(self.members)
        }
        return json.encode(NewestValues(_sorted(self.group), members)).decode()

    def __bool__(self) -> bool:
        return bool(self.group or self.members)

    def take(
        self,
        record_type: int,
        key: str,
        value: str | None,
        readers: Readers,
    ) -> str | None:
        """Take a record in; the member that it is about. A tombstone of something unknown changes nothing.

        Raises:
            RecordError: the record is not readable; nothing has changed.
        """
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
            values[record_type] = data.copy()
        if not values and member_id is not None:
            del self.members[member_id]


def _sorted(values: Mapping[int, Raw]) -> dict[int, Raw]:
    return dict(sorted(values.items()))
