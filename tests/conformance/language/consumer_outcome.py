"""Outcomes of consumer groups: the gist of their records, and the order that Kafka leaves to hash maps taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from tests.conformance.language.lines import Json

_EPOCH, _PARTITION_METADATA, _MEMBER, _TARGET_EPOCH, _TARGET, _CURRENT, _REGEX = (
    3,
    4,
    5,
    6,
    7,
    8,
    16,
)
TYPES: Final = frozenset((3, 4, 5, 6, 7, 8, 16))
_OF_MEMBERS: Final = frozenset((_MEMBER, _TARGET, _CURRENT, _REGEX))
_WORDS: Final = {_MEMBER: "member", _TARGET: "target", _CURRENT: "current"}
_LISTS: Final = ("topicPartitions", "assignedPartitions", "partitionsPendingRevocation")


def gist(record: Json) -> str:
    """Put a record in one word: +epoch=3 +member:m1 +targets=3 +target:m1 +current:m1 +regex:o.* and tombstones."""
    kind, key, value = record["key"]["type"], record["key"]["data"], record["value"]
    sign = "-" if value is None else "+"
    if kind == _EPOCH:
        return f"{sign}epoch" + (f"={value['data']['epoch']}" if value else "")
    if kind == _TARGET_EPOCH:
        return f"{sign}targets" + (f"={value['data']['assignmentEpoch']}" if value else "")
    if kind == _PARTITION_METADATA:
        return f"{sign}metadata"
    if kind == _REGEX:
        return f"{sign}regex:{key['regularExpression']}"
    return f"{sign}{_WORDS[kind]}:{key['memberId']}"


def is_unordered_with(record: Json, before: Json) -> bool:
    """Whether two records that follow each other are of a run whose order is that of a hash map.

    Such runs are of one kind, all values or all tombstones, about different members or regular expressions.
    """
    kinds = record["key"]["type"], before["key"]["type"]
    return (
        kinds[0] == kinds[1]
        and kinds[0] in _OF_MEMBERS
        and (record["value"] is None) == (before["value"] is None)
    )


def without_order_of_leaving(records: Sequence[Json]) -> list[Json]:
    """Sort by member the tombstones 8, 7 and 5 of those who go together.

    One request takes them out in the order of a set, and of timers that end in the same millisecond either may be first:
    what comes between them, an epoch each, stays where it is.
    """
    ordered: list[Json] = []
    for _, together in groupby(records, key=lambda record: (record["groupId"], record.get("at"))):
        ordered += _sorted_leaves(list(together))
    return ordered


def _sorted_leaves(records: Sequence[Json]) -> Iterator[Json]:
    starts = [start for start in range(len(records)) if _is_leave(records[start : start + 3])]
    leaves = iter(sorted((records[start : start + 3] for start in starts), key=_member_of_first))
    position = 0
    while position < len(records):
        is_start = position in starts
        yield from next(leaves) if is_start else records[position : position + 1]
        position += 3 if is_start else 1


def _is_leave(records: Sequence[Json]) -> bool:
    kinds = [record["key"]["type"] for record in records if record["value"] is None]
    members = {record["key"]["data"].get("memberId") for record in records}
    return kinds == [_CURRENT, _TARGET, _MEMBER] and len(members) == 1


def _member_of_first(records: Sequence[Json]) -> str:
    return str(records[0]["key"]["data"]["memberId"])


def without_map_order(node: Any) -> Any:
    """Sort what Kafka takes out of hash maps: topics by id, partitions, with each its epoch."""
    if isinstance(node, list):
        return [without_map_order(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {name: without_map_order(value) for name, value in node.items()}
    for name in _LISTS:
        if isinstance(plain.get(name), list):
            plain[name] = sorted(map(_topic, plain[name]), key=lambda topic: str(topic["topicId"]))
    return plain


def _topic(topic: Json) -> Json:
    epochs = topic.get("assignmentEpochs")
    if epochs is None:
        return topic | {"partitions": sorted(topic["partitions"])}
    pairs = sorted(zip(topic["partitions"], epochs, strict=True))
    return topic | {"partitions": [p for p, _ in pairs], "assignmentEpochs": [e for _, e in pairs]}


def without_image_version(record: Json) -> Json:
    """Leave out of a resolved regular expression the version of the metadata: each counts its own."""
    if record["key"]["type"] != _REGEX or record["value"] is None:
        return record
    data = record["value"]["data"] | {"version": "any"}
    return record | {"value": record["value"] | {"data": data}}


def fact(node: Any, path: str) -> Any:
    """What an answer says at "groups.0.members.m1.memberEpoch": a list's items go by number or by member id."""
    for step in path.split("."):
        if not isinstance(node, list):
            node = node[step]
        elif step.isdigit():
            node = node[int(step)]
        else:
            node = next((item for item in node if item["memberId"] == step), {})
            if not node:
                return f"no member {step}"
    return node


def told(value: Any) -> Any:
    """Bring what is expected and what was answered into one form: an assignment is its topics, in order."""
    if isinstance(value, dict) and "topicPartitions" in value:
        value = value["topicPartitions"]
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        plain = [
            {"topic": item.get("topicId", item.get("topic")), "of": sorted(item["partitions"])}
            for item in value
        ]
        return sorted(plain, key=json.dumps)
    return value
