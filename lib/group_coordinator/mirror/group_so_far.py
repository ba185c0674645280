"""A group while the rows of its log are applied: the facts that determine the reason of a tombstone.

Members and state are core's; an offset stays an undecoded row until it is needed: most offsets are committed again before.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, cast

from group_coordinator.codecs.records import log_entry, offset, record_types
from group_coordinator.codecs.records.log_entry import RecordError
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group, is_empty
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.offsets.expiration import ExpirationRule, rule_of
from group_coordinator.core.replay import replay_record
from group_coordinator.tables.compaction.consumer_rows import (
    CLASSIC,
    CONSUMER,
    classic_group,
    consumer_group,
)
from group_coordinator.tables.compaction.foreign_groups import (
    FOREIGN_KINDS,
    ForeignKind,
    ForeignMembership,
    foreign_membership,
)
from group_coordinator.tables.compaction.rows import GroupRows, committed_offset

OFFSETS = (record_types.LEGACY_OFFSET_COMMIT, record_types.OFFSET_COMMIT)
"""Offset records belong to no group type: every group may have them, except share groups."""
GROUPS = (
    record_types.GROUP_METADATA,
    record_types.GROUP_EPOCH,
    record_types.SHARE_GROUP_EPOCH,
    record_types.STREAMS_GROUP_EPOCH,
)
"""Record types whose tombstone ends a group, one for each group type."""
EXPLAINED = (*OFFSETS, *GROUPS)
"""Record types whose tombstone has an inferred reason."""

KINDS: dict[int, str] = {
    record_types.GROUP_METADATA: CLASSIC,
    **dict.fromkeys(record_types.OF_CONSUMER_GROUPS.values(), CONSUMER),
    **{record_type: kind.group_type for record_type, kind in FOREIGN_KINDS.items()},
}
"""Group type, as in the tables, by record type."""


# Topic names of share groups' ids, which no end of an offset depends on.
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_log = logging.getLogger(__name__)

# Record types of members and their subscriptions; assignments do not influence the end of an offset.
_OF_MEMBERSHIP = (
    record_types.GROUP_METADATA,
    record_types.GROUP_EPOCH,
    record_types.MEMBER_METADATA,
    record_types.REGULAR_EXPRESSION,
)

REPLAYED = (*OFFSETS, *_OF_MEMBERSHIP, *FOREIGN_KINDS)
"""The record types that are applied to a group here."""


class LoggedRow(NamedTuple):
    """The relevant columns of a row of coordinator_log; `event_time` in milliseconds."""

    batch_id: int
    seq: int
    record_type: int
    key: str
    value: str | None
    topic: str | None
    partition: int | None
    event_time: int
    reason: str
    source_partition: int
    source_offset: int

    @property
    def is_lost_offset(self) -> bool:
        return self.value is None and self.record_type in OFFSETS

    @property
    def is_end_of_group(self) -> bool:
        return self.value is None and self.record_type in GROUPS


class GroupSoFar:
    """A group from its rows in the tables, with the later rows of the log applied."""

    def __init__(self, group_id: str, before: GroupRows) -> None:
        self._group = Group(group_id)
        self._foreign: ForeignMembership | None = None
        self._rule: ExpirationRule | None = None
        self._offsets: dict[str, dict[int, CommittedOffset | LoggedRow]] = defaultdict(dict)
        for row in before.offsets.values():
            self._offsets[row.topic][row.partition] = committed_offset(row)
        self._load(before)

    def _load(self, before: GroupRows) -> None:
        row = before.group
        if row is None or (not row.protocol_type and row.empty_since is None):
            # At most offsets, which prove by themselves that the group exists.
            return
        if row.group_type == CLASSIC:
            self._group.membership = classic_group(row)
        elif row.group_type == CONSUMER:
            self._group.membership = consumer_group(row, before.members.values())
        else:
            self._foreign = foreign_membership(row)

    # ---- questions --------------------------------------------------------------------------

    @property
    def is_known(self) -> bool:
        """True if the group or an offset of it is known."""
        return self._exists or any(self._offsets.values())

    @property
    def _exists(self) -> bool:
        return self._group.membership is not None or self._foreign is not None

    @property
    def has_members(self) -> bool:
        if self._foreign is not None:
            return self._foreign.has_members
        membership = self._group.membership
        return membership is not None and not is_empty(membership)

    @property
    def has_offsets(self) -> bool:
        return any(self._offsets.values())

    @property
    def rule(self) -> ExpirationRule:
        """The present expiration rule of its offsets; a group with nothing but offsets has no record of its own."""
        if self._rule is None:
            self._rule = self._current_rule()
        return self._rule

    def _current_rule(self) -> ExpirationRule:
        if self._foreign is not None:
            return self._foreign.kind.group_of(self._foreign.values, _NO_NAMES).rule
        membership = self._group.membership
        return ExpirationRule("commit") if membership is None else rule_of(membership)

    def refuses_offset_delete(self, topic: str) -> bool:
        """Return True if Kafka refuses OffsetDelete for the topic: NON_EMPTY_GROUP, GROUP_SUBSCRIBED_TO_TOPIC."""
        match self._group.membership:
            case ClassicGroup() as membership:
                is_busy = not is_empty(membership) and not membership.is_of_consumers
                return is_busy or membership.is_subscribed_to(topic)
            case ConsumerGroup() as membership:
                return membership.is_subscribed_to(topic)
            case _:
                return topic in self.rule.protected_topics

    def offset(self, topic: str, partition: int) -> CommittedOffset | None:
        """Return the partition's offset; None: no row has it."""
        found = self._offsets.get(topic, {}).get(partition)
        return None if found is None else _read(found)

    def offsets_of(self, topic: str) -> Iterator[CommittedOffset]:
        return map(_read, self._offsets.get(topic, {}).values())

    # ---- changes ----------------------------------------------------------------------------

    def apply(self, row: LoggedRow) -> None:
        """Apply the next row. Unreadable rows are skipped, as in compaction."""
        if row.topic is not None and row.partition is not None:
            self._apply_offset(row, row.topic, row.partition)
            return
        # Any record of the group may change its expiration rule.
        self._rule = None
        try:
            self._apply_to_group(row)
        except RecordError as fault:
            _log.warning("%s: a mirrored record is ignored: %s", self._group.group_id, fault)

    def _apply_to_group(self, row: LoggedRow) -> None:
        if row.record_type in _OF_MEMBERSHIP:
            self._apply_membership(row)
        elif row.record_type in FOREIGN_KINDS:
            self._apply_foreign(row, FOREIGN_KINDS[row.record_type])

    def _apply_offset(self, row: LoggedRow, topic: str, partition: int) -> None:
        if row.value is None:
            self._offsets[topic].pop(partition, None)
        else:
            self._offsets[topic][partition] = row

    def _apply_membership(self, row: LoggedRow) -> None:
        # A value of another group type replaces the group: the cleaner may have removed the tombstone between the two.
        if row.value is not None:
            self._foreign = None
            if row.record_type != record_types.GROUP_METADATA and self._group.classic is not None:
                self._group.membership = None
        replay_record(self._group, log_entry.decode(row.key, row.value), row.event_time)

    def _apply_foreign(self, row: LoggedRow, kind: ForeignKind) -> None:
        present = self._foreign
        if present is None or present.kind is not kind:
            if row.value is None:
                return
            present = ForeignMembership(kind)
            self._group.membership = None
        present.values.take(row.record_type, row.key, row.value, kind.readers)
        self._foreign = present if present.values else None


def _read(found: CommittedOffset | LoggedRow) -> CommittedOffset:
    if isinstance(found, CommittedOffset):
        return found
    return cast("CommittedOffset", offset.decode(found.key, found.value, Reason.MIRRORED).value)
