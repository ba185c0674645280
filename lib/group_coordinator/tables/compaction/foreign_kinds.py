"""Record types of foreign group types, and such a group while its log is replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import structs

from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.foreign_values import SHARE_READERS, STREAMS_READERS
from group_coordinator.codecs.records.newest_values import NewestValues, Readers
from group_coordinator.tables.compaction import share_rows, streams_rows
from group_coordinator.tables.compaction.foreign_group import ForeignGroup
from group_coordinator.tables.compaction.rows import GroupRow


class ForeignKind(NamedTuple):
    group_type: str
    record_types: tuple[int, ...]
    epoch_type: int
    member_types: frozenset[int]
    readers: Readers
    group_of: Callable[[NewestValues, Mapping[str, str]], ForeignGroup]
    """Returns the content of the tables, from the values and from the names of topics by id."""


_KINDS = (
    ForeignKind(
        group_type=share_rows.SHARE,
        record_types=record_types.OF_SHARE_GROUPS,
        epoch_type=record_types.SHARE_GROUP_EPOCH,
        member_types=share_rows.MAKE_A_MEMBER,
        readers=SHARE_READERS,
        group_of=share_rows.share_group,
    ),
    ForeignKind(
        group_type=streams_rows.STREAMS,
        record_types=record_types.OF_STREAMS_GROUPS,
        epoch_type=record_types.STREAMS_GROUP_EPOCH,
        member_types=streams_rows.MAKE_A_MEMBER,
        readers=STREAMS_READERS,
        # The records of streams groups name topics by name.
        group_of=lambda values, _topic_names: streams_rows.streams_group(values),
    ),
)
FOREIGN_KINDS = {record_type: kind for kind in _KINDS for record_type in kind.record_types}
"""Group type by record type."""
_BY_NAME = {kind.group_type: kind for kind in _KINDS}


@dataclass(slots=True)
class ForeignMembership:
    kind: ForeignKind
    values: NewestValues = field(default_factory=NewestValues)

    @property
    def has_members(self) -> bool:
        member_types = self.kind.member_types
        return any(not member_types.isdisjoint(found) for found in self.values.members.values())

    def shown(self, topic_names: Mapping[str, str]) -> ForeignGroup:
        group = self.kind.group_of(self.values, topic_names)
        return structs.replace(group, records=self.values.in_json())


def foreign_membership(row: GroupRow | None) -> ForeignMembership | None:
    """Return the group of this row; None: it is of another type."""
    kind = None if row is None else _BY_NAME.get(row.group_type)
    if row is None or kind is None:
        return None
    return ForeignMembership(kind, NewestValues.of_json(row.records))
