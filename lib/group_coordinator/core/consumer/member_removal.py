"""The removal of members of a consumer group that leave or whose timers fire.

Source: consumerGroupFenceMembers in Kafka 4.4's GroupMetadataManager.

Stories: stories/consumer/consumer_timers.py, stories/consumer/static_consumers.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from group_coordinator.core.consumer.subscriptions import metadata_hash, names_after_removal
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.model.consumer_member import GroupEpoch, TargetEpoch
from group_coordinator.core.model.records import GroupEpochRecord, RegexRecord, TargetEpochRecord
from group_coordinator.core.model.tombstones import member_tombstones


def remove_members(update: ConsumerUpdate, member_ids: Sequence[str]) -> None:
    """Remove members. The group epoch grows once, and the next heartbeat of another member computes new targets.

    A group without members needs no assignment, so its assignment epoch follows at once: since Kafka 4.4.
    """
    for member_id in member_ids:
        update.records += member_tombstones(member_id, update.reason)
        update.cancel_timers_of(member_id)
    # A regex without subscribers is no longer resolved: its record gets a tombstone.
    dropped = _regexes_without_subscriber(update, member_ids)
    update.records += [RegexRecord(regex, None, update.reason) for regex in sorted(dropped)]
    names = names_after_removal(update.membership, member_ids, dropped)
    epoch = GroupEpoch(update.membership.epoch + 1, metadata_hash(update.group, names))
    update.records.append(GroupEpochRecord(epoch, update.reason))
    if len(member_ids) == len(update.membership.members):
        update.records.append(TargetEpochRecord(TargetEpoch(epoch.epoch, 0), update.reason))


def _regexes_without_subscriber(update: ConsumerUpdate, member_ids: Sequence[str]) -> set[str]:
    members = update.membership.members
    regexes = (members[member_id].metadata.topic_regex for member_id in member_ids)
    lost = Counter(regex for regex in regexes if regex)
    subscribers = update.membership.regex_subscribers
    return {regex for regex, number in lost.items() if subscribers.get(regex) == number}
