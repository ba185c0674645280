"""Subscriptions by regular expression: the matching topics are found by a timer, not by requests, and are logged.

A heartbeat that finds the matches missing or old sets a timer that is due at once: it matches them with the group's topic metadata.
Source: maybeUpdateRegularExpressions and handleRegularExpressionsResult in Kafka 4.4's GroupMetadataManager.
Stories: stories/consumer/regexes.py.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto

from group_coordinator.core.acls import TO_SEE_TOPICS, ResourceType, Rights
from group_coordinator.core.consumer.update import ConsumerUpdate, metadata_hash
from group_coordinator.core.kafka_order import string_hashes, timeline_slots
from group_coordinator.core.model.changes import MetadataDeadlineSet
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ConsumerMember,
    GroupEpoch,
    ResolvedRegex,
    SubscriptionMetadata,
)
from group_coordinator.core.model.errors import CoordinatorError
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import GroupEpochRecord, RegexRecord
from group_coordinator.core.model.timers import REGEX_TIMER
from group_coordinator.core.topics import InvalidPatternError, check_pattern, matching_names

METADATA_REFRESH_MS = 2**31 - 1
"""The time after which a metadata hash is compared again without a changed topic (Integer.MAX_VALUE in Kafka)."""

_SHORTEST_REFRESH_INTERVAL_MS = 10_000
_NEVER = -(2**63)


class RegexChange(Enum):
    """The change of a member's regular expression by a request."""

    NONE = auto()
    CHANGED = auto()
    CHANGED_AND_RESOLVED = auto()
    """The new regular expression is already resolved, or the member has none any more: the group's topics change at once."""


def change_regex(update: ConsumerUpdate, old: ConsumerMember, new: ConsumerMember) -> RegexChange:
    """Log the change of a member's regular expression, and begin to resolve the group's regular expressions if that is due.

    Raises CoordinatorError: INVALID_REGULAR_EXPRESSION.
    """
    change = _change(update, old.metadata, new.metadata)
    subscribers = update.membership.regex_subscribers
    regex = new.metadata.topic_regex
    is_unseen = (
        change is not RegexChange.NONE and regex is not None and not subscribers.get(regex, 0)
    )
    if (is_unseen or subscribers) and _may_resolve(update):
        subscribed = _subscribed_after(update.membership, old.metadata, new.metadata)
        if subscribed and (is_unseen or _is_due(update, len(subscribed))):
            # Kafka resolves in another thread; here this timer fires right after the request.
            update.arm(REGEX_TIMER, 0)
    return change


def _change(
    update: ConsumerUpdate, old: SubscriptionMetadata, new: SubscriptionMetadata
) -> RegexChange:
    if old.topic_regex == new.topic_regex:
        return RegexChange.NONE
    membership = update.membership
    # The last subscriber is gone: the matches are removed from the log.
    if old.topic_regex and membership.regex_subscribers.get(old.topic_regex) == 1:
        update.records.append(RegexRecord(old.topic_regex, None, update.reason))
    if not new.topic_regex:
        return RegexChange.CHANGED_AND_RESOLVED
    # A regex with subscribers was checked when its first subscriber came.
    if not membership.regex_subscribers.get(new.topic_regex):
        _check(new.topic_regex)
        return RegexChange.CHANGED
    is_resolved = new.topic_regex in membership.regexes
    return RegexChange.CHANGED_AND_RESOLVED if is_resolved else RegexChange.CHANGED


def _check(regex: str) -> None:
    try:
        check_pattern(regex)
    except InvalidPatternError as fault:
        raise CoordinatorError(fault.code, str(fault)) from None


def _may_resolve(update: ConsumerUpdate) -> bool:
    # A set timer means that a resolution is in progress.
    if REGEX_TIMER in update.membership.timers:
        return False
    last_ms = _last_resolved(update.membership)[0]
    return update.now_ms > last_ms + _SHORTEST_REFRESH_INTERVAL_MS


def _last_resolved(membership: ConsumerGroup) -> tuple[int, int]:
    """Return the time at which the group's regular expressions were resolved, and the version of the topics.

    All are resolved together, except for an expression without subscribers. Kafka reads the first of its hash table, and the
    newest of a slot.
    """
    regexes = membership.regexes
    if not regexes:
        return _NEVER, 0
    slots = timeline_slots(string_hashes([*regexes]), len(regexes))
    ranked = zip(slots, regexes.values(), strict=True)
    _, first = min(ranked, key=lambda entry: (entry[0], -entry[1].timestamp_ms))
    return first.timestamp_ms, first.version


def _subscribed_after(
    membership: ConsumerGroup, old: SubscriptionMetadata, new: SubscriptionMetadata
) -> set[str]:
    regexes = set(membership.regex_subscribers)
    if old.topic_regex and membership.regex_subscribers.get(old.topic_regex) == 1:
        regexes.discard(old.topic_regex)
    return regexes | ({new.topic_regex} if new.topic_regex else set())


def _is_due(update: ConsumerUpdate, subscribed: int) -> bool:
    # Due: a regex is not resolved, or there are topics since the last resolution, or it is old.
    last_ms, version = _last_resolved(update.membership)
    return (
        subscribed != len(update.membership.regexes)
        or version < update.group.new_topics_version
        or update.now_ms > last_ms + update.config.group_consumer_regex_refresh_interval_ms
    )


def resolve(update: ConsumerUpdate, rights: Rights | None) -> None:
    """Match every regular expression with the present topics. The group epoch grows if the group's topics change.

    Topics that the sender of the heartbeat may not describe match for no member.
    """
    group, membership = update.group, update.membership
    # Sorting and matching once for all expressions: there may be thousands of topics.
    visible = _visible(group, rights)
    subscribers = membership.regex_subscribers
    # The matches of a regex also count after its last subscriber took the place of another member.
    left = [found.topics for regex, found in membership.regexes.items() if regex not in subscribers]
    names = set(membership.topic_subscribers).union(*left)
    has_changed = False
    # Sorted, so that a replay writes the same records in the same order.
    for regex in sorted(subscribers):
        topics = tuple(sorted(matching_names(regex, visible)))
        resolved = ResolvedRegex(topics, group.topics_version, update.now_ms)
        before = membership.regexes.get(regex)
        has_changed = has_changed or topics != (before.topics if before else ())
        names.update(topics)
        update.records.append(RegexRecord(regex, resolved, update.reason))
    new_hash = metadata_hash(group, names)
    if has_changed or new_hash != membership.metadata_hash:
        epoch = GroupEpoch(membership.epoch + 1, new_hash)
        update.records.append(GroupEpochRecord(epoch, update.reason))
        update.changes.append(MetadataDeadlineSet(update.now_ms + METADATA_REFRESH_MS))


def _visible(group: Group, rights: Rights | None) -> Collection[str]:
    topics = group.topics or {}
    if rights is None:
        return topics
    return [name for name in topics if rights.may(TO_SEE_TOPICS, ResourceType.TOPIC, name)]
