"""Streams groups told to core as consumer groups: for questions in which both follow the same rules.

Of both kinds offsets age by their commits, and the topics that a group with members reads are protected. What a member of
a streams group reads says the topology.
"""

from __future__ import annotations

from collections.abc import Iterator

from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.newest_values import NewestValues, read
from group_coordinator.codecs.records.streams_values import (
    READERS,
    StreamsMemberData,
    TopologyData,
)
from group_coordinator.core.model.consumer_member import GroupEpoch, SubscriptionMetadata
from group_coordinator.core.model.records import (
    ConsumerRecord,
    GroupEpochRecord,
    MemberRecord,
    Reason,
)


class StreamsAsConsumers:
    """One group; it remembers what the records before said."""

    def __init__(self) -> None:
        self._values = NewestValues()

    def records(
        self, record_type: int, key: str, value: str | None, reason: Reason
    ) -> Iterator[ConsumerRecord]:
        """What a consumer group would have logged in the place of a record of types 17 and 19 to 23.

        Raises:
            RecordError: the record is not readable.
        """
        member_id = self._values.take(record_type, key, value, READERS)
        match record_type:
            case record_types.STREAMS_GROUP_EPOCH:
                found = read(self._values.group, record_type, READERS)
                epoch = None if found is None else GroupEpoch(found.epoch, found.metadata_hash)
                yield GroupEpochRecord(epoch, reason)
            case record_types.STREAMS_MEMBER_METADATA if member_id is not None:
                yield self._member(member_id, reason)
            case record_types.STREAMS_TOPOLOGY:
                for each in self._values.members:
                    yield self._member(each, reason)
            case _:
                pass  # who has which task protects nothing

    def _member(self, member_id: str, reason: Reason) -> MemberRecord:
        values = self._values.members.get(member_id, {})
        member: StreamsMemberData | None = read(
            values, record_types.STREAMS_MEMBER_METADATA, READERS
        )
        if member is None:
            return MemberRecord(member_id, None, reason)
        topology: TopologyData | None = read(
            self._values.group, record_types.STREAMS_TOPOLOGY, READERS
        )
        metadata = SubscriptionMetadata(
            member.instance_id,
            member.rack_id,
            member.client_id,
            member.client_host,
            () if topology is None else tuple(topology.topics),
            None,
            member.rebalance_timeout_ms,
            None,
            None,
        )
        return MemberRecord(member_id, metadata, reason)
