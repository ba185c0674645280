"""The topics that a consumer group and its members subscribe to, and the metadata hash that shows their changes.

Stories: stories/consumer/subscribing.py, stories/consumer/cluster_changes.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from group_coordinator.core.assignors.spec import SubscriptionType, subscription_type
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember, SubscriptionMetadata
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.member_index import add_to_counts
from group_coordinator.core.topics.hash import group_hash, topic_hash

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
        or (new.group_instance_id or "") in membership.static_members
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
    for regex, resolved in membership.regexes.items():
        if regex not in dropped:
            names.update(resolved.topics)
    return names


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
