"""A story in words that a real broker understands, and that mean the same to us."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from tests.conformance.kafka.raw_requests import speaks
from tests.conformance.language.lines import Json, Line, Story, described_topic
from tests.conformance.language.outcome import complaints
from tests.conformance.language.transcript import Transcript, brief

LOOPBACK_HOST: Final = "/127.0.0.1"
_LOOK: Final = "look"
"""How the correlation ids begin of requests in the place of a script's looks."""
_GROUPS: Final = ("groups", "groupsNames", "groupIds")
"""Where requests list groups."""
_LEGAL_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]+")


def for_real_broker(story: Story, topics: Sequence[Json]) -> Story:
    """Give the groups names of their own, put the members on loopback, and let the topics be there first.

    Who looks at a group asks for it. A version that nobody speaks is left out: a broker hangs up.
    """
    first = next((line.text["topics"] for line in story.lines if "topics" in line.text), topics)
    lines = [Line({"at": 0, "topics": list(first)}, also="")]
    now_ms = 0
    for number, line in enumerate(story.lines, 1):
        now_ms = line.text.get("at", now_ms)
        if "describe" in line.text:
            group = _renamed(story.name, line.text["describe"])
            lines += (Line({"at": now_ms, "event": event}) for event in _look(number, group))
        elif "event" not in line.text:
            lines.append(line)
        elif _is_spoken(line.text["event"]):
            event = _from_loopback(story.name, line.text["event"])
            lines.append(replace(line, text={"at": now_ms, "event": event}))
    return replace(story, lines=tuple(lines))


def no_longer_as_scripted(story: Story, transcript: Transcript) -> list[str]:
    """Say where the story is not any more the one that its script means."""
    return [
        f"{brief(line)}\n    {complaint}"
        for line, outputs in zip(story.lines, transcript.outputs, strict=True)
        if not _is_look(line)
        for complaint in complaints(line, outputs, transcript.names)
    ]


def groups(story: Story) -> set[str]:
    """Every group that is mentioned."""
    events = (line.text["event"] for line in story.lines if "event" in line.text)
    return {group for event in events for group in groups_of(event)}


def groups_of(event: Json) -> set[str]:
    """The groups that a request is about."""
    body = event["body"]
    listed = [group for name in _GROUPS for group in body.get(name, ())]
    names = {one if isinstance(one, str) else one["groupId"] for one in listed}
    return names | ({body["groupId"]} if "groupId" in body else set())


def mentioned_topics(stories: Iterable[Story]) -> list[Json]:
    """The topics of their offsets, with as many partitions."""
    partitions: dict[str, int] = {}
    for story in stories:
        for name, partition in _committed(story):
            if _LEGAL_TOPIC.fullmatch(name):
                partitions[name] = max(partitions.get(name, 0), partition + 1)
    return [described_topic(f"{name}:{count}") for name, count in sorted(partitions.items())]


def _committed(story: Story) -> Iterator[tuple[str, int]]:
    for line in story.lines:
        event = line.text.get("event", {})
        if event.get("api") in ("OffsetCommit", "TxnOffsetCommit", "OffsetDelete"):
            for topic in event["body"].get("topics", ()):
                for partition in topic["partitions"]:
                    if "name" in topic:
                        yield topic["name"], partition["partitionIndex"]


def _is_look(line: Line) -> bool:
    return str(line.text.get("event", {}).get("correlationId")).startswith(_LOOK)


def _is_spoken(event: Json) -> bool:
    return event["api"] == "EndTxn" or speaks(event["api"], event["version"])


def _from_loopback(story: str, event: Json) -> Json:
    return event | {"clientHost": LOOPBACK_HOST, "body": _renamed_body(story, event["body"])}


def _look(number: int, group: str) -> Iterator[Json]:
    fetch = {"groups": [{"groupId": group, "topics": None}], "requireStable": True}
    asked = [("DescribeGroups", 6, {"groups": [group]}), ("OffsetFetch", 9, fetch)]
    for api, version, body in asked:
        yield {
            "api": api,
            "version": version,
            "correlationId": f"{_LOOK} {number} {api}",
            "clientId": "admin",
            "clientHost": LOOPBACK_HOST,
            "body": body,
        }


def _renamed(story: str, group: str) -> str:
    return f"{story}.{group}" if group else group


def _renamed_body(story: str, body: Json) -> Json:
    renamed = dict(body)
    if "groupId" in body:
        renamed["groupId"] = _renamed(story, body["groupId"])
    for name in body.keys() & set(_GROUPS):
        renamed[name] = [
            _renamed(story, one) if isinstance(one, str) else _renamed_body(story, one)
            for one in body[name]
        ]
    return renamed
