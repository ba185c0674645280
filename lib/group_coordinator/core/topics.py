"""The topics of groups: subscriptions by name and by pattern, and the hash by which a group sees that its topics have changed.

A consumer group stores the hash: XXH3 of 64 bits, over numbers in little endian and texts as hash4j writes them, in UTF-16
followed by their length. RE2 matches a pattern with whole topic names, as in Kafka (which runs the Java version, RE2J).
Source: computeTopicHash and computeGroupHash in Kafka 4.4's group/Utils.java, TopicRegexResolver, throwIfRegularExpressionIsInvalid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from struct import pack, unpack
from typing import Any

import re2
from xxhash import xxh3_64, xxh3_64_intdigest

from group_coordinator.binary.notation import uuid_bytes
from group_coordinator.core.kafka_order import utf16_length, utf16_order
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import JOIN_EPOCH
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    JoinGroup,
    LeaveGroup,
    Request,
    Topic,
)
from group_coordinator.core.value import Value

_REQUESTS_THAT_ASSIGN = frozenset({ConsumerGroupHeartbeat, JoinGroup, LeaveGroup})


class NeededTopics(Value, frozen=True):
    """A topic subscription: names of topics, and regular expressions that names may match. Both are sorted."""

    names: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()


NOTHING = NeededTopics()


def topic_need(group: Group) -> NeededTopics:
    """Return the topic subscription of a consumer group's members; other groups need no topics."""
    membership = group.membership
    if not isinstance(membership, ConsumerGroup):
        return NOTHING
    return NeededTopics(
        tuple(sorted(membership.topic_subscribers)), tuple(sorted(membership.regex_subscribers))
    )


def missing_topics(group: Group, request: Request) -> NeededTopics | None:
    """Return the topics whose metadata a group needs before it can handle a request; None: no topics are missing.

    Without topic ids, members would lose partitions, or a partition would be assigned twice. A broker reads the cluster's
    topics before it loads groups.
    """
    # Every request passes here, and isinstance takes several times as long.
    if type(request) not in _REQUESTS_THAT_ASSIGN or group.topics is not None:
        return None
    membership = group.membership
    if isinstance(membership, ConsumerGroup):
        # A rebuilt group had topic metadata when it wrote the log.
        knew_topics = membership.metadata_hash or membership.owners
        return topic_need(group) if knew_topics else None
    # Only a member of the consumer protocol begins an upgrade.
    if membership is None or not isinstance(request, ConsumerGroupHeartbeat):
        return None
    return _before_upgrade(membership, request)


def _before_upgrade(
    membership: ClassicGroup, request: ConsumerGroupHeartbeat
) -> NeededTopics | None:
    # The assignments of classic members have topic names, those of a consumer group topic ids.
    if (
        request.member_epoch != JOIN_EPOCH
        or not membership.members
        or not membership.subscribed_topics
    ):
        return None
    return NeededTopics(tuple(sorted(membership.subscribed_topics)))


_HASH_VERSION = b"\0"
_HIGHEST_INT64 = 2**63 - 1


def topic_hash(topic: Topic) -> int:
    """Return the hash of a topic's id, name, number of partitions and racks, as a signed number of 64 bits."""
    most, least = unpack(">qq", uuid_bytes(topic.topic_id))
    hashed = xxh3_64(_HASH_VERSION + pack("<qq", most, least))
    hashed.update(_text(topic.name) + pack("<i", topic.num_partitions))
    # Kafka hashes each partition with its racks; without racks only the numbers are left.
    if not topic.racks:
        hashed.update(pack(f"<{topic.num_partitions}i", *range(topic.num_partitions)))
        return _signed(hashed.intdigest())
    for partition in range(topic.num_partitions):
        hashed.update(pack("<i", partition))
        racks = topic.racks[partition] if partition < len(topic.racks) else ()
        for rack in sorted(racks, key=utf16_order):
            # Kafka writes the length first, though hash4j also appends it.
            hashed.update(pack("<i", utf16_length(rack)) + _text(rack))
    return _signed(hashed.intdigest())


def group_hash(topic_hashes: Mapping[str, int]) -> int:
    """Return the hash of topic hashes by name, in the order of the names; 0 for no topics."""
    if not topic_hashes:
        return 0
    hashes = [topic_hashes[name] for name in sorted(topic_hashes, key=utf16_order)]
    return _signed(xxh3_64_intdigest(pack(f"<{len(hashes)}q", *hashes)))


def _text(text: str) -> bytes:
    return text.encode("utf-16-le") + pack("<i", utf16_length(text))


def _signed(number: int) -> int:
    return number if number <= _HIGHEST_INT64 else number - 2**64


_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True  # capturing a thousand groups takes 30 ms a topic name
_OPTIONS.max_mem = 8 * 1024 * 1024
"""The memory limit of a compiled pattern, in bytes: enough for 249 letters of any script, or for the longest text without repetitions.
RE2J has no such limit.
"""
_KEPT_PATTERNS = 16
_DESCRIPTIONS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid UTF-8": "invalid escape sequence",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "regexp/syntax: internal error",
}
"""RE2J's messages by RE2's message for the same fault. All other faults have the same message."""
_ESCAPES = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(?P<escaped>.)", re.DOTALL)
_TOKENS = re.compile(
    r"\\Q.*?(?:\\E|\Z)|(?P<byte>\\C)|(?P<brace>\{(?:[*+?]|\{\d+(?:,\d*)?\}))|\\.|\[\^?\]?(?:\[:\w*:\]|\\.|[^\]])*\]|\(\?P?<(?P<name>\w+)>",
    re.DOTALL,
)


class InvalidPatternError(ValueError):
    """Not a valid RE2 pattern; the message is Kafka's."""

    code = ErrorCode.INVALID_REGULAR_EXPRESSION

    def __init__(self, pattern: str, description: str) -> None:
        super().__init__(
            f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {description}."
        )
        self.description = description


def check_pattern(pattern: str) -> None:
    """Check that Kafka would accept a regular expression. Raises InvalidPatternError: Kafka would reject it."""
    _compiled(pattern)


def matching_names(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names that match as a whole; empty if the pattern is invalid, as when Kafka resolves it."""
    try:
        matches = _compiled(pattern).fullmatch
    except InvalidPatternError:
        return frozenset()
    return frozenset([name for name in names if matches(name)])


@lru_cache(_KEPT_PATTERNS)
def _compiled(pattern: str) -> Any:
    try:
        compiled = re2.compile(_ESCAPES.sub(_without_backslash, pattern), _OPTIONS)
    except re2.error as fault:
        raise InvalidPatternError(pattern, _description(fault.args[0].decode())) from None
    finally:
        re2.purge()  # the cache of re2 keeps 128 patterns of any size
    _check_what_only_re2_takes(pattern)
    return compiled


def _without_backslash(escape: re.Match[str]) -> str:
    # RE2J allows a backslash before every character but ASCII letters and digits, RE2 does not.
    escaped = escape["escaped"]
    return escape[0] if escaped is None or escaped.isascii() else escaped


def _description(fault: str) -> str:
    # RE2's message is the fault, a colon, and its place.
    what, _, where = fault.partition(": ")
    if what == "invalid perl operator" and where.startswith("(?<"):
        what = "invalid named capture group"
    return _DESCRIPTIONS.get(what, what)


def _check_what_only_re2_takes(pattern: str) -> None:
    # RE2J rejects the byte escape, a repeated brace, and names of groups that repeat or are not ASCII.
    tokens = list(_TOKENS.finditer(pattern))
    if any(token["byte"] for token in tokens):
        raise InvalidPatternError(pattern, "invalid escape sequence")
    if any(token["brace"] for token in tokens):
        raise InvalidPatternError(pattern, "invalid nested repetition operator")
    names = Counter(token["name"] for token in tokens if token["name"])
    if not all(name.isascii() for name in names):
        raise InvalidPatternError(pattern, "invalid named capture")
    if any(count > 1 for count in names.values()):
        raise InvalidPatternError(pattern, "duplicate capture group name")
