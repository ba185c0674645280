"""The changes of a consumer group by a request or timer: its records, and the changes without records.

Members that leave or whose timers fire are removed here. The subscriptions of the group and its members follow, with the metadata
hash that shows changes of the topics. Source: consumerGroupFenceMembers in Kafka 4.4's GroupMetadataManager.
Stories: stories/consumer/consumer_timers.py, stories/consumer/static_consumers.py, stories/consumer/subscribing.py.
Stories: stories/consumer/cluster_changes.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from group_coordinator.core.assignors.spec import SubscriptionType, subscription_type
from group_coordinator.core.model.changes import (
    Change,
    Decision,
    MembershipReplaced,
    TimerCancelled,
    TimerSet,
)
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ConsumerMember,
    GroupEpoch,
    SubscriptionMetadata,
    TargetEpoch,
    add_to_counts,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    GroupEpochRecord,
    Reason,
    Record,
    RegexRecord,
    TargetEpochRecord,
    member_tombstones,
)
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.model.timers import CLASSIC_MEMBER_KINDS, TimerKey, TimerKind
from group_coordinator.core.topics import group_hash, topic_hash

_MEMBER_KINDS = (TimerKind.SESSION, TimerKind.REBALANCE, *CLASSIC_MEMBER_KINDS)


class ConsumerUpdate:
    """The collected outcome of a request or timer. `membership` is the group before it, and is not changed.

    If the group did not exist or was a classic group, `membership` is the result of the records so far.
    """

    def __init__(
        self,
        group: Group,
        membership: ConsumerGroup,
        now_ms: int,
        config: CoordinatorConfig,
        reason: Reason,
    ) -> None:
        self.group = group
        self.membership = membership
        self.now_ms = now_ms
        self.config = config
        self.reason = reason
        self.records: list[Record] = []
        self.changes: list[Change] = []
        self.classic: ClassicGroup | None = None
        """Set if the records turn the group into this classic group."""
        self.subscription_order: dict[str, Sequence[str]] = {}
        """The topics of new subscriptions by member id, in the member's own order. The log has them sorted."""

    @property
    def is_upgrade(self) -> bool:
        """True: the group is not a consumer group yet, but a new or a classic group."""
        return self.group.consumer is None

    def decision(self, replies: Sequence[Reply]) -> Decision:
        """Return the decision. All timers of a consumer group end when it becomes a classic group."""
        if self.classic is not None:
            # The classic group has its own timers; other changes would find no consumer group.
            return Decision(self.records, list(replies), (MembershipReplaced(self.classic),))
        return Decision(self.records, list(replies), tuple(self.changes))

    def arm(self, key: TimerKey, delay_ms: int) -> None:
        """Set a timer. A timer that is set again fires after all others of its millisecond."""
        self.changes.append(TimerSet(key, self.now_ms + delay_ms))

    def cancel(self, key: TimerKey) -> None:
        self.changes.append(TimerCancelled(key))

    def cancel_timers_of(self, member_id: str) -> None:
        self.changes += [TimerCancelled(TimerKey(kind, member_id)) for kind in _MEMBER_KINDS]


_hash_of = lru_cache(maxsize=10_000)(topic_hash)
"""A cache: topics are hashed whenever a member leaves, and seldom change."""


def names_after_update(
    membership: ConsumerGroup, old: SubscriptionMetadata, new: SubscriptionMetadata
) -> set[str]:
    """Return the topics that the group will subscribe to after a member has changed its subscription."""
    dropped = _dropped_regexes(membership, old, new)
    return _names_without(membership, [old], dropped) | set(new.topic_names)


def type_after_update(
    membership: ConsumerGroup, old: ConsumerMember, new: ConsumerMember
) -> SubscriptionType:
    """Return the subscription type after `new` has replaced `old`, or joined."""
    topic_subscribers = dict(membership.topic_subscribers)
    add_to_counts(topic_subscribers, old.metadata.topic_names, -1)
    add_to_counts(topic_subscribers, new.metadata.topic_names)
    regex_subscribers = dict(membership.regex_subscribers)
    add_to_counts(regex_subscribers, _regex_of(old.metadata), -1)
    add_to_counts(regex_subscribers, _regex_of(new.metadata))
    dropped = _dropped_regexes(membership, old.metadata, new.metadata)
    # A static member that joins with another id replaces a member: the number stays the same.
    is_known = (
        new.member_id in membership.members
        or membership.static_member_id(new.group_instance_id) is not None
    )
    return subscription_type(
        len(membership.members) + (not is_known),
        topic_subscribers,
        regex_subscribers,
        [found.topics for regex, found in membership.regexes.items() if regex not in dropped],
    )


def _regex_of(metadata: SubscriptionMetadata) -> tuple[str, ...]:
    return (metadata.topic_regex,) if metadata.topic_regex else ()


def _dropped_regexes(
    membership: ConsumerGroup, old: SubscriptionMetadata, new: SubscriptionMetadata
) -> set[str]:
    # A regex is dropped with its last subscriber.
    regex = old.topic_regex
    is_last = regex is not None and membership.regex_subscribers.get(regex) == 1
    return {regex} if regex is not None and regex != new.topic_regex and is_last else set()


def names_after_removal(
    membership: ConsumerGroup, member_ids: Iterable[str], dropped_regexes: set[str]
) -> set[str]:
    """Return the topics that the group will subscribe to without these members and regular expressions."""
    leaving = [membership.members[member_id].metadata for member_id in member_ids]
    return _names_without(membership, leaving, dropped_regexes)


def _names_without(
    membership: ConsumerGroup, leaving: Iterable[SubscriptionMetadata], dropped: set[str]
) -> set[str]:
    names = set(membership.topic_subscribers)
    lost = Counter(name for metadata in leaving for name in metadata.topic_names)
    # A topic is lost if all of its subscribers leave.
    names.difference_update(
        name for name, number in lost.items() if membership.topic_subscribers.get(name) == number
    )
    kept = [found.topics for regex, found in membership.regexes.items() if regex not in dropped]
    return names.union(*kept)


def metadata_hash(group: Group, names: Iterable[str]) -> int:
    """Return the hash of the existing topics among these names; 0 if none exists (ModernGroup.computeMetadataHash)."""
    topics = group.topics or {}
    # Topics that do not exist are not in the hash: their creation changes it.
    return group_hash({name: _hash_of(topics[name]) for name in names if name in topics})


def topic_names_of(membership: ConsumerGroup, metadata: SubscriptionMetadata) -> tuple[str, ...]:
    """Return the topics that a member subscribes to. An unresolved regular expression adds none."""
    resolved = membership.regexes.get(metadata.topic_regex or "")
    return metadata.topic_names if resolved is None else metadata.topic_names + resolved.topics


def ids_of(group: Group, names: Iterable[str]) -> frozenset[str]:
    """Return the ids of the existing topics among these names."""
    topics = group.topics or {}
    return frozenset([topics[name].topic_id for name in names if name in topics])


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
