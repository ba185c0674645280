"""Members of a consumer group that leave, or are removed because they fell silent.

Source: consumerGroupFenceMembers in Kafka 4.3's GroupMetadataManager.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from group_coordinator.core.consumer.subscriptions import metadata_hash, names_after_removal
from group_coordinator.core.consumer.update import ConsumerStep
from group_coordinator.core.model.consumer_member import GroupEpoch
from group_coordinator.core.model.records import GroupEpochRecord, RegexRecord
from group_coordinator.core.model.tombstones import member_tombstones


def remove_members(step: ConsumerStep, member_ids: Sequence[str]) -> None:
    """Forget members; the group epoch grows once, and the next heartbeat of another member brings new targets."""
    for member_id in member_ids:
        step.records += member_tombstones(member_id, step.reason)
        step.cancel_timers_of(member_id)
    dropped = _regexes_without_subscriber(step, member_ids)
    step.records += [RegexRecord(regex, None, step.reason) for regex in sorted(dropped)]
    names = names_after_removal(step.membership, member_ids, dropped)
    epoch = GroupEpoch(step.membership.epoch + 1, metadata_hash(step.group, names))
    step.records.append(GroupEpochRecord(epoch, step.reason))


def _regexes_without_subscriber(step: ConsumerStep, member_ids: Sequence[str]) -> set[str]:
    members = step.membership.members
    regexes = (members[member_id].metadata.topic_regex for member_id in member_ids)
    lost = Counter(regex for regex in regexes if regex)
    subscribers = step.membership.regex_subscribers
    return {regex for regex, number in lost.items() if subscribers.get(regex) == number}
