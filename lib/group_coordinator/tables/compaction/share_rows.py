"""Share groups (KIP-932) as rows. Their offsets are in another topic of Kafka.

Sources: GroupMetadataManager.replay, ShareGroup and ShareGroupMember in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import Raw

from group_coordinator.codecs.records import consumer_group
from group_coordinator.codecs.records.foreign_values import (
    SHARE_READERS,
    ShareCurrentData,
    ShareMemberData,
)
from group_coordinator.codecs.records.newest_values import NewestValues, read
from group_coordinator.codecs.records.record_types import (
    SHARE_CURRENT_ASSIGNMENT,
    SHARE_GROUP_EPOCH,
    SHARE_MEMBER_METADATA,
    SHARE_TARGET_ASSIGNMENT,
    SHARE_TARGET_EPOCH,
)
from group_coordinator.core.offsets.expiration import ExpirationRule
from group_coordinator.tables.compaction.foreign_group import (
    FIRST_EPOCH,
    ForeignGroup,
    ForeignMember,
)
from group_coordinator.tables.compaction.rows import AssignedPartition, target_partitions

SHARE = "share"
MAKE_A_MEMBER = frozenset({SHARE_MEMBER_METADATA, SHARE_CURRENT_ASSIGNMENT})
"""Each of these records makes a member, even if the other is missing."""
# Share groups commit no offsets: their state is in __share_group_state.
_NO_OFFSETS = ExpirationRule("never")
_read = partial(read, readers=SHARE_READERS)


def share_group(values: NewestValues, topic_names: Mapping[str, str]) -> ForeignGroup:
    members = {
        member_id: _member(of_member, topic_names)
        for member_id, of_member in sorted(values.members.items())
        if not MAKE_A_MEMBER.isdisjoint(of_member)
    }
    epoch = _read(values.group, SHARE_GROUP_EPOCH)
    target = _read(values.group, SHARE_TARGET_EPOCH)
    return ForeignGroup(
        group_type=SHARE,
        state="Stable" if members else "Empty",
        epoch=epoch.epoch if epoch else FIRST_EPOCH,
        metadata_hash=epoch.metadata_hash if epoch else None,
        assignment_epoch=target.assignment_epoch if target else FIRST_EPOCH,
        assignment_timestamp_ms=(target.assignment_timestamp or None) if target else None,
        rule=_NO_OFFSETS,
        members=members,
    )


def _member(values: Mapping[int, Raw], topic_names: Mapping[str, str]) -> ForeignMember:
    metadata = _read(values, SHARE_MEMBER_METADATA) or ShareMemberData()
    current = _read(values, SHARE_CURRENT_ASSIGNMENT) or ShareCurrentData()
    target = _read(values, SHARE_TARGET_ASSIGNMENT)
    assigned = consumer_group.assignment(current.assigned_partitions)
    return ForeignMember(
        member_type=SHARE,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        subscribed_topics=sorted(set(metadata.subscribed_topic_names)),
        member_epoch=current.member_epoch,
        previous_member_epoch=current.previous_member_epoch,
        member_state=consumer_group.member_state(current.state).name,
        assigned_partitions=[
            AssignedPartition(found.topic, found.partition)
            for found in target_partitions(assigned, topic_names)
        ],
        target_assignment=target_partitions(
            consumer_group.assignment(target.topic_partitions if target else ()), topic_names
        ),
    )
