"""Events as an attacker, or a bug, would write them, between good ones; the same for the same seed.

Every event says what must become of it: a good one is answered rightly, a bad one is a dead letter, and a fair question
in a version that nobody speaks is answered UNSUPPORTED_VERSION. Bad events go to the groups of good ones, where they
could do harm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

from tests.hostile import consumer_events
from tests.hostile.sent import Fate, Sent, Tree, bad, encoded

GROUPS = 50
LONGEST = 1_000_000
"""Of one long text: the broker takes a little more."""
_SELDOM = 0.05


def commit(group: str, offset: int, correlation_id: str | None = None, **entry: Any) -> Tree:
    partition = {"partitionIndex": 0, "committedOffset": offset, "committedMetadata": ""} | entry
    body = {
        "groupId": group,
        "generationIdOrMemberEpoch": -1,
        "memberId": "",
        "topics": [{"name": "orders", "partitions": [partition]}],
    }
    return {"api": "OffsetCommit", "version": 8, "correlationId": correlation_id, "body": body}


def hostile_events(seed: int, number: int) -> Iterator[Sent]:
    """So many events; every other one is good."""
    random = Random(seed)  # noqa: S311 - the same events every time
    good = _good_events(random, f"consumers-{seed}")
    kinds = [kind for kind, weight in _KINDS.items() for _ in range(weight)]
    for index in range(number):
        if index % 2 == 0:
            yield next(good)
            continue
        kind = random.choice(kinds)
        yield kind(random, f"good-{random.randrange(GROUPS)}", f"bad-{index}")


def _good_events(random: Random, new_groups: str) -> Iterator[Sent]:
    """Commits, fetches of what was committed last, and now and then what the consumer protocol brought."""
    committed: dict[str, int] = {}
    for number in count():
        group = f"good-{random.randrange(GROUPS)}"
        correlation_id = f"good-{number}"
        if random.random() < _SELDOM:
            yield consumer_events.joins(f"{new_groups}-{number}", correlation_id)
            interval_ms = random.randrange(5_000, 15_001)
            yield consumer_events.alters(group, correlation_id, interval_ms)
        if group in committed and random.random() < 0.5:
            asked = [{"name": "orders", "partitionIndexes": [0]}]
            event = {"api": "OffsetFetch", "version": 7, "correlationId": correlation_id}
            event["body"] = {"groupId": group, "topics": asked, "requireStable": False}
            answer = _fetched(committed[group])
            yield Sent("fetch", group.encode(), encoded(event), Fate.ANSWERED, answer)
        else:
            committed[group] = number
            value = encoded(commit(group, number, correlation_id))
            yield Sent("commit", group.encode(), value, Fate.ANSWERED, COMMITTED)


COMMITTED = {
    "throttleTimeMs": 0,
    "topics": [{"name": "orders", "partitions": [{"partitionIndex": 0, "errorCode": 0}]}],
}


def _fetched(offset: int) -> Tree:
    partition = {
        "partitionIndex": 0,
        "committedOffset": offset,
        "committedLeaderEpoch": -1,
        "metadata": "",
        "errorCode": 0,
    }
    topics = [{"name": "orders", "partitions": [partition]}]
    return {"throttleTimeMs": 0, "topics": topics, "errorCode": 0}


def stranger(number: int) -> Sent:
    """A good commit to a group that nobody else speaks of."""
    group = f"stranger-{number}"
    event = commit(group, number, f"stranger-{number}")
    return Sent("distinct group", group.encode(), encoded(event), Fate.ANSWERED, COMMITTED)


def flood(number: int) -> Sent:
    """A megabyte of nothing: without a key, or for one and the same group."""
    key = None if number % 2 else b"flooded"
    value = f"{number:09} ".encode() * (LONGEST // 10)
    return Sent("flood", key, value, Fate.DEAD_LETTER)


# The kinds of bad events. Each takes a group that is in use, and a correlation id.


def random_bytes(random: Random, group: str, _: str) -> Sent:
    return bad("random bytes", group, random.randbytes(random.choice([1, 2, 10, 100, 5_000])))


def flipped_byte(random: Random, group: str, correlation_id: str) -> Sent:
    """One byte of a good event is none of UTF-8's."""
    value = bytearray(encoded(commit(group, 1, correlation_id)))
    value[random.randrange(len(value))] = random.choice([0xC0, 0xC1, 0xF5, 0xFF])
    return bad("bad UTF-8", group, bytes(value))


def not_json(random: Random, group: str, correlation_id: str) -> Sent:
    value = encoded(commit(group, 1, correlation_id))
    cut = random.randrange(len(value))
    return bad(
        "not JSON",
        group,
        random.choice(
            [
                b"",
                b" ",
                value[:cut],
                value + value,
                value[:cut] + b"\x00" + value[cut:],
                b"\xef\xbb\xbf" + value,
                value.decode().encode("utf-16"),
                value.replace(b'"', b"'"),
                value.replace(b": 1,", b": NaN,"),
                value.replace(b": 1,", b": Infinity,"),
                value.replace(b": 1,", b": -Infinity,"),
                value.replace(b": 1,", b": 0x1,"),
                value.replace(b": 1,", b": 01,"),
            ]
        ),
    )


_MISFITS: tuple[tuple[tuple[str | int, ...], tuple[Any, ...]], ...] = (
    ((), (None, True, 7, 1.5, "text", [], {}, [{}])),
    (("api",), (None, 1, [], {}, "", "x" * 40_000)),
    (("version",), (None, "8", 8.5, [], 2**31, -(2**70), 10**400)),
    (("correlationId",), (7, [], {}, True, "x" * 40_000)),
    (("clientId",), (7, [], {}, False)),
    (("body",), (None, 7, "body", [], [[]])),
    (("body", "groupId"), (None, 7, [], {}, "another group", "", "x" * 40_000)),
    (("body", "generationIdOrMemberEpoch"), ("1", 1.5, 2**31, -(2**31) - 1, None)),
    (("body", "topics"), (7, "orders", {}, [7], ["orders"], [[]], [None])),
    (("body", "topics", 0, "name"), (None, 7, [], "x" * 40_000)),
    (("body", "topics", 0, "partitions"), (7, "0", {}, [0], [[]])),
    (("body", "topics", 0, "partitions", 0, "partitionIndex"), (None, "0", 0.5, 2**31, [])),
    (("body", "topics", 0, "partitions", 0, "committedOffset"), (None, "1", 2**63, 10**400, 1e300)),
    (("body", "topics", 0, "partitions", 0, "committedMetadata"), (7, [], {}, True)),
)


def misfit(random: Random, group: str, correlation_id: str) -> Sent:
    """Valid JSON, wrong type, or a number beyond its bounds."""
    path, values = random.choice(_MISFITS)
    wrong = random.choice(values)
    tree: Any = commit(group, 1, correlation_id)
    if not path:
        return bad("wrong types", group, encoded(wrong))
    node = tree
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = wrong
    return bad("wrong types", group, encoded(tree))


def nested(random: Random, group: str, correlation_id: str) -> Sent:
    depth = random.choice([2_000, 20_000, 100_000])
    start, end = random.choice([(b"[", b"]"), (b'{"a":', b"}")])
    deep = start * depth + random.choice([b"", b"1"]) + end * depth
    frame = encoded(commit(group, 1, correlation_id)).replace(b": 1,", b": %b,")
    return bad("deep nesting", group, random.choice([deep, frame.replace(b"%b", deep)]))


def long_text(random: Random, group: str, correlation_id: str) -> Sent:
    """A megabyte where a word is wanted."""
    field = random.choice(["metadata", "topic", "correlation id", "field"])
    long = random.choice(["x", "\\", '"', "ü", "\N{GRINNING FACE}"])
    long *= LONGEST // len(json.dumps(long))
    tree = commit(group, 1, correlation_id)
    topic = tree["body"]["topics"][0]
    match field:
        case "metadata":
            topic["partitions"][0]["committedMetadata"] = long
        case "topic":
            topic["name"] = long
        case "correlation id":
            tree["correlationId"] = long
        case _:
            tree[long] = 1
    return bad("1 MB texts", group, encoded(tree))


def too_long(random: Random, group: str, correlation_id: str) -> Sent:
    """More than event.max.bytes: it compresses well, or the broker would not take it."""
    value = encoded(commit(group, 1, correlation_id))
    return bad("above event.max.bytes", group, value.ljust(random.randrange(2**20 + 1, 2**21)))


def unknown_api(random: Random, group: str, correlation_id: str) -> Sent:
    api = random.choice(["offsetcommit", "Produce", "__class__", "\x00", "OffsetCommit "])
    return bad("unknown api", group, encoded(commit(group, 1, correlation_id) | {"api": api}))


_VERSIONED = (
    *("OffsetCommit", "JoinGroup", "Heartbeat", "EndTxn", "DeleteGroups", "TopicMetadata"),
    *("ConsumerGroupHeartbeat", "ConsumerGroupDescribe"),
    *("DescribeConfigs", "IncrementalAlterConfigs"),
)


def unknown_version(random: Random, group: str, correlation_id: str) -> Sent:
    api = random.choice(_VERSIONED)
    tree = commit(group, 1, correlation_id) | {"api": api, "version": random.choice([-1, 32_767])}
    return Sent("unknown version", group.encode(), encoded(tree), Fate.UNSUPPORTED)


def unknown_field(random: Random, group: str, correlation_id: str) -> Sent:
    field = random.choice(["", "Api", "__proto__", "a.b", "\ud800"])
    return bad("unknown field", group, encoded(commit(group, 1, correlation_id) | {field: 1}))


def wrong_key(random: Random, group: str, correlation_id: str) -> Sent:
    value = encoded(commit(group, 1, correlation_id))
    other = random.choice([f"{group} ", group.upper(), "", "\x00", "victim", "../" * 50])
    return bad("key mismatch", other, value)


def bad_key(random: Random, group: str, correlation_id: str) -> Sent:
    value = encoded(commit(group, 1, correlation_id))
    key = random.choice([None, b"\xff", group.encode() + b"\xc3", b"k" * 32_768, b"k" * 500_000])
    return Sent("key null, bad, long", key, value, Fate.DEAD_LETTER)


def null_value(random: Random, group: str, _: str) -> Sent:
    return Sent("null value", random.choice([None, group.encode()]), None, Fate.DEAD_LETTER)


def duplicate_key(random: Random, group: str, correlation_id: str) -> Sent:
    value = encoded(commit(group, 1, correlation_id))
    name = random.choice([b'"version"', b'"groupId"', b'"topics"', b'"committedOffset"'])
    before, after = value.split(name, 1)
    twice = before + name + b": 8, " + name + after
    return bad("duplicate keys", group, twice)


def lone_surrogate(random: Random, group: str, correlation_id: str) -> Sent:
    lone = random.choice(["\ud800", "\udfff", "\udc00\ud800", "ok\udbff"])
    tree = commit(group, 1, correlation_id, committedMetadata=lone)
    raw = json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return bad("lone surrogates", group, random.choice([encoded(tree), raw]))


_KINDS: dict[Callable[[Random, str, str], Sent], int] = {
    **dict.fromkeys((random_bytes, flipped_byte, not_json, misfit, unknown_api), 60),
    **dict.fromkeys((unknown_version, unknown_field, wrong_key, null_value), 60),
    **dict.fromkeys((duplicate_key, lone_surrogate), 60),
    **dict.fromkeys((consumer_events.consumer_misfit, consumer_events.refused_heartbeat), 120),
    **dict.fromkeys((consumer_events.bad_setting, consumer_events.cut_consumer_event), 60),
    **dict.fromkeys((nested, bad_key, consumer_events.many_partitions), 6),
    **dict.fromkeys((long_text, too_long, consumer_events.many_names), 1),
}
"""How often: a thousand megabytes more would test the disk."""
