"""The online downgrade: a consumer group becomes classic after its last member of the consumer protocol has left.

group.consumer.migration.policy must allow it. Each remaining member keeps the partitions of its target, and usually a rebalance
begins at once. Their bytes have topic names and consumer groups have topic ids: assignments are converted here, for the upgrade too.
Source: validateOnlineDowngradeWithFencedMembers, validateOnlineDowngradeWithReplacedMember and convertToClassicGroup in Kafka 4.4's
GroupMetadataManager, ClassicGroup.fromConsumerGroup.
Stories: stories/migration/upgrade_conditions.py, stories/migration/converting.py, stories/migration/downgrading.py.
Stories: stories/migration/upgrading.py, stories/migration/classic_members.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.classic.generation import subscription_of_members
from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.consumer.update import ConsumerUpdate, remove_members
from group_coordinator.core.embedded_protocol import (
    MalformedProtocolError,
    NamedPartitions,
    encode_assignment,
    read_version,
)
from group_coordinator.core.kafka_order import (
    DEFAULT_TABLE_SIZE,
    grown_table_size,
    hash_map_order,
    new_hash_map_order,
    partition_set_order,
    timeline_order,
    topic_spot,
)
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState, Protocol
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.records import Reason, consumer_group_tombstones
from group_coordinator.core.model.requests import Topic, TopicPartitions
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import KINDS_LEFT_BY_CONVERSIONS, Timers


def by_topic_id(partitions: NamedPartitions, topics: Mapping[str, Topic]) -> Assignment:
    """Return the partitions by topic id. Topics that do not exist are left out."""
    found: dict[str, set[int]] = {}
    for name, numbers in partitions:
        # A topic that was deleted has no id here.
        if name in topics and numbers:
            found.setdefault(topics[name].topic_id, set()).update(numbers)
    return {topic_id: tuple(sorted(numbers)) for topic_id, numbers in sorted(found.items())}


def reported(
    partitions: NamedPartitions, topics: Mapping[str, Topic]
) -> tuple[TopicPartitions, ...]:
    """Return a member's reported partitions in the form of a heartbeat."""
    assigned = by_topic_id(partitions, topics)
    return tuple(TopicPartitions(None, topic_id, numbers) for topic_id, numbers in assigned.items())


def embedded_assignment(
    assignment: Mapping[str, tuple[int, ...]], topics: Mapping[str, Topic], protocol: Protocol
) -> bytes:
    """Return a classic member's assignment as bytes, in the member's version and Kafka's order, without deleted topics.

    An unreadable version counts as 0. In Kafka the last consumer could not leave then.
    """
    names = {topic.topic_id: topic.name for topic in topics.values()}
    # Kafka's order is that of its hash map, and the bytes must be equal.
    size = grown_table_size(DEFAULT_TABLE_SIZE, len(assignment))
    topic_ids = hash_map_order(sorted(assignment), topic_spot, size)
    named = {
        names[topic_id]: partition_set_order(assignment[topic_id])
        for topic_id in topic_ids
        if topic_id in names
    }
    try:
        version = read_version(protocol.metadata)
    except MalformedProtocolError:
        version = 0
    return encode_assignment(named, version)


def allows_upgrade(config: CoordinatorConfig) -> bool:
    """Return True if a member of the consumer protocol may turn a classic group with members into a consumer group."""
    return _policy(config) in ("upgrade", "bidirectional")


def allows_downgrade(config: CoordinatorConfig) -> bool:
    """Return True if a consumer group becomes classic after its last member of the consumer protocol has left."""
    return _policy(config) in ("downgrade", "bidirectional")


def allows_mixed_groups(config: CoordinatorConfig) -> bool:
    """Return True if members of the classic protocol may join a consumer group."""
    return _policy(config) != "disabled"


def _policy(config: CoordinatorConfig) -> str:
    return config.group_consumer_migration_policy.lower()


def remove_or_downgrade(update: ConsumerUpdate, member_ids: Sequence[str]) -> None:
    """Remove members. If all remaining members speak the classic protocol, the group becomes classic."""
    membership = update.membership
    if not _may_turn_classic(membership, member_ids, update.config):
        remove_members(update, member_ids)
        return
    staying = {
        member_id: membership.members[member_id]
        for member_id in timeline_order(membership.members, membership.member_room)
        if member_id not in member_ids
    }
    update.records += consumer_group_tombstones(
        sorted(membership.members), membership, Reason.DOWNGRADE
    )
    targets = {member_id: membership.target_of(member_id) for member_id in staying}
    _turn_classic(update, staying, targets, must_rebalance=True)


def may_downgrade_by_replacement(
    membership: ConsumerGroup, replaced: ConsumerMember, config: CoordinatorConfig
) -> bool:
    """Return True if the group becomes classic when a member of the classic protocol replaces a static member."""
    is_last = membership.classic_member_count == len(membership.members) - 1
    has_room = len(membership.members) <= config.group_max_size
    speaks_consumer = not replaced.uses_classic_protocol
    # The replaced member is the only member of the consumer protocol.
    return is_last and speaks_consumer and has_room and allows_downgrade(config)


def downgrade_by_replacement(
    update: ConsumerUpdate,
    replaced: ConsumerMember,
    updated: ConsumerMember,
    *,
    must_rebalance: bool,
) -> None:
    """Turn the group classic. `updated` has replaced `replaced`, and the records so far include that."""
    membership = update.membership
    members = {
        member_id: membership.members[member_id]
        for member_id in timeline_order(membership.members, membership.member_room)
        if member_id != replaced.member_id
    }
    members[updated.member_id] = updated
    targets = {member_id: membership.target_of(member_id) for member_id in members}
    targets[updated.member_id] = membership.target_of(replaced.member_id)
    update.records += consumer_group_tombstones(sorted(members), membership, Reason.DOWNGRADE)
    _turn_classic(update, members, targets, must_rebalance=must_rebalance)


def _may_turn_classic(
    membership: ConsumerGroup, leaving: Sequence[str], config: CoordinatorConfig
) -> bool:
    # All remaining members speak the classic protocol, and fit into a classic group.
    staying = len(membership.members) - len(leaving)
    speaking_classic = membership.classic_member_count - sum(
        membership.members[member_id].uses_classic_protocol for member_id in leaving
    )
    fits = 0 < staying <= config.group_max_size
    return fits and allows_downgrade(config) and speaking_classic == staying


def _turn_classic(
    update: ConsumerUpdate,
    members: Mapping[str, ConsumerMember],
    targets: Mapping[str, Assignment],
    *,
    must_rebalance: bool,
) -> None:
    # Kafka's classic group is Stable at the group epoch, and the first member leads.
    classic = _stable_group(update, members)
    topics = update.group.topics or {}
    for member_id, member in classic.members.items():
        protocol = member.protocol(classic.protocol) or member.protocols[0]
        assignment = embedded_assignment(targets[member_id], topics, protocol)
        classic.put(member.replace(assignment=assignment))
    rebalance = Rebalance(classic, update.now_ms, update.config, Reason.DOWNGRADE)
    rebalance.write_group({key: member.assignment for key, member in classic.members.items()})
    for member_id in new_hash_map_order(list(members)):
        rebalance.arm_session(classic.members[member_id])
    # After a replacement with a valid assignment the members can go on without a rebalance.
    if must_rebalance:
        rebalance.prepare_rebalance()
    update.records += rebalance.records
    update.classic = rebalance.membership


def _stable_group(update: ConsumerUpdate, members: Mapping[str, ConsumerMember]) -> ClassicGroup:
    """Return the Stable classic group of these members. Timers of single members and a join timer stay, as in Kafka.

    Without a rebalance, a join timer from before an upgrade removes dynamic members without a record (completeClassicGroupJoin
    checks no state).
    """
    # Session and rebalance timers of the consumer protocol end here.
    timers = update.membership.timers.items()
    classic = ClassicGroup(
        state=ClassicState.STABLE,
        state_timestamp_ms=update.now_ms,
        generation=update.membership.epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        leader=next(iter(members)),
        members=StoredValues.of(
            {member_id: _classic_member(member) for member_id, member in members.items()}
        ),
        timers=Timers(
            {key: timer for key, timer in timers if key.kind in KINDS_LEFT_BY_CONVERSIONS}
        ),
    )
    classic.protocol = classic.select_protocol()
    classic.subscribed_topics = subscription_of_members(classic)
    return classic


def _classic_member(member: ConsumerMember) -> ClassicMember:
    metadata = member.metadata
    if metadata.classic is None:
        raise TypeError(f"{member.member_id} does not speak the classic protocol")
    return ClassicMember(
        member_id=member.member_id,
        group_instance_id=metadata.group_instance_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        session_timeout_ms=metadata.classic.session_timeout_ms,
        protocols=metadata.classic.protocols,
    )
