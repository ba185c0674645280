"""The online downgrade: a consumer group becomes classic after its last member of the consumer protocol has left.

group.consumer.migration.policy must allow it. The remaining members speak the classic protocol. Each keeps the partitions of its
target, and usually a rebalance begins at once.

Source: validateOnlineDowngradeWithFencedMembers, validateOnlineDowngradeWithReplacedMember and convertToClassicGroup in Kafka 4.4's
GroupMetadataManager, ClassicGroup.fromConsumerGroup.

Stories: stories/migration/upgrade_conditions.py, stories/migration/converting.py, stories/migration/downgrading.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.classic.generation import subscription_of_members
from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.consumer.member_removal import remove_members
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.kafka_order.assignor_order import (
    classic_group_order,
    consumer_group_order,
)
from group_coordinator.core.migration.embedded_assignments import embedded_assignment
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import KINDS_LEFT_BY_CONVERSIONS, Timers
from group_coordinator.core.model.tombstones import consumer_group_tombstones


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
        for member_id in consumer_group_order(membership.members, membership.member_room)
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
        for member_id in consumer_group_order(membership.members, membership.member_room)
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
    # Kafka's classic group is Stable, its generation is the group epoch, and the first member
    # leads.
    classic = _stable_group(update, members)
    topics = update.group.topics or {}
    for member_id, member in classic.members.items():
        protocol = member.protocol(classic.protocol) or member.protocols[0]
        assignment = embedded_assignment(targets[member_id], topics, protocol)
        classic.put(member.replace(assignment=assignment))
    rebalance = Rebalance(classic, update.now_ms, update.config, Reason.DOWNGRADE)
    rebalance.write_group({key: member.assignment for key, member in classic.members.items()})
    for member_id in classic_group_order(list(members)):
        rebalance.arm_session(classic.members[member_id])
    # After a replacement with a valid assignment the members can go on without a rebalance.
    if must_rebalance:
        rebalance.prepare_rebalance()
    update.records += rebalance.records
    update.classic = rebalance.membership


def _stable_group(update: ConsumerUpdate, members: Mapping[str, ConsumerMember]) -> ClassicGroup:
    """Return the Stable classic group of these members, with the timers that survive.

    Timers of single members have no effect here, but count again after an upgrade, as in Kafka. A join timer from before an
    upgrade is kept too. Without a rebalance it removes dynamic members from the Stable group, without a record
    (completeClassicGroupJoin checks no state).
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
