"""A consumer group while entries of its log are applied: core's own replay, between rows and rows."""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.codecs.records import consumer_member
from group_coordinator.codecs.records.record_types import member_of
from group_coordinator.core.consumer.replay import replay_consumer_record
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import ConsumerRecord
from group_coordinator.tables.compaction.consumer_rows import (
    CONSUMER,
    consumer_group,
    consumer_group_row,
    consumer_member_rows,
    topic_names_in,
)
from group_coordinator.tables.compaction.rows import Row


class ConsumerDraft:
    """The consumer group that left these rows, if it was one, and what becomes of it."""

    def __init__(
        self,
        group: Row | None,
        members: Mapping[str, Row],
        offsets: Mapping[tuple[str, int], Row],
    ) -> None:
        self._group = Group("")
        self._empty_since_ms: int | None = None
        self._changed_by: dict[str, Row] = {}
        self._topic_names = {row["topic_id"]: row["topic"] for row in offsets.values()}
        if group is not None and group["group_type"] == CONSUMER:
            self._group.membership = consumer_group(group, members.values())
            self._empty_since_ms = group["empty_since"]
            self._topic_names |= topic_names_in(members.values())

    @property
    def exists(self) -> bool:
        """Whether there is a consumer group now."""
        return self._group.consumer is not None

    def apply(self, record: ConsumerRecord, value: str | None, changed_by: Row) -> None:
        """Apply one record; `value` is its JSON, which may name topics."""
        replay_consumer_record(self._group, record)
        if value is not None:
            self._topic_names |= consumer_member.topic_names(value)
        member_id = member_of(record)
        if member_id is not None:
            self._changed_by[member_id] = changed_by
        if self._group.consumer is None or self._group.consumer.members:
            self._empty_since_ms = None
        elif self._empty_since_ms is None:
            self._empty_since_ms = changed_by["updated_at"]

    def rows(self, changed_by: Row) -> tuple[Row, dict[str, Row]] | None:
        """The group and its members by id, if it exists.

        A member's row has the record that changed it, or `changed_by` where none was about the member alone.
        """
        consumers = self._group.consumer
        if consumers is None:
            return None
        members = {
            row["member_id"]: row | self._changed_by.get(row["member_id"], changed_by)
            for row in consumer_member_rows(consumers, self._topic_names)
        }
        return consumer_group_row(consumers, self._empty_since_ms), members
