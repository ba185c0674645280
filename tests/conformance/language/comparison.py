"""Holds our transcript of a random script against what Kafka may do in it.

Kafka leaves some choices, above all that of a new leader, to the hash of random ids: a random script may have several
transcripts, and ours must be one of them. Where both make up the same ids, there is one way.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tests.conformance.kafka.coordinators import Oracle, Ours
from tests.conformance.language.lines import Json, Story
from tests.conformance.language.transcript import Transcript, disagreements, play, repeat

_TRANSCRIPTS = 150
_SALTS = 300
_LEADER = re.compile(r"^    \* output .* [.\w]*leader: ", re.MULTILINE)
_CONSUMERS = re.compile(r'ConsumerGroup|"key": {"type": ([35678]|16),')
_GROUP_EPOCH, _MEMBER = 3, 5
_UNKNOWN_MEMBER_ID = 25


def differences_from_kafka(story: Story, oracle: Oracle) -> list[str]:
    """In which lines ours differs from the last of Kafka's transcripts; nothing if it agrees with one of them."""
    if story.salt is not None:
        return _differences_with_given_ids(story, oracle)
    ours = play(story, Ours())
    found: list[str] = []
    for _ in range(_TRANSCRIPTS):
        kafka = play(story, oracle)
        found = list(disagreements(story, kafka, _what_kafka_answers(kafka, ours)))
        if not found:
            break
    return found


def _differences_with_given_ids(story: Story, oracle: Oracle) -> list[str]:
    """The same where both make up the same ids: other ids are tried where those decide what a classic group does."""
    found: list[str] = []
    for salt in range(_SALTS):
        found = _differences_line_by_line(replace(story, salt=f"{story.salt}{salt or ''}"), oracle)
        if not found or not _may_be_chance(found[0]):
            break
    return found


def _may_be_chance(difference: str) -> bool:
    """Whether it is about a leader, or about a classic group alone: whose timer of two at one time ends first is chance too."""
    return bool(_LEADER.search(difference)) or not _CONSUMERS.search(difference)


def _differences_line_by_line(story: Story, oracle: Oracle) -> list[str]:
    """Ours is told the very lines that Kafka was told."""
    kafka = play(story, oracle)
    end = _lines_until_kafka_forgets(kafka)
    kafka, told = kafka.until(end), replace(story, lines=story.lines[:end])
    ours = repeat(told, kafka.said[:end], Ours())
    return list(disagreements(told, kafka, _what_kafka_answers(kafka, ours)))


def _what_kafka_answers(kafka: Transcript, ours: Transcript) -> Transcript:
    """Leave out our answers to the requests that Kafka forgets: parked, then said again."""
    return ours.without(ours.answered() - kafka.answered())


def _lines_until_kafka_forgets(kafka: Transcript) -> int:
    """How many lines there are until a JoinGroup is refused in an empty consumer group, with that line.

    Kafka's memory has lost the group then, though its log has not: after a restart it would go on as ours does.
    """
    is_consumer_group, members = False, set[str]()
    for number, outputs in enumerate(kafka.outputs, 1):
        for output in outputs:
            if is_consumer_group and not members and _is_refused_join(output):
                return number
            if output["kind"] != "record":
                continue
            kind, is_gone = output["key"]["type"], output["value"] is None
            if kind == _GROUP_EPOCH:
                is_consumer_group = not is_gone
            elif kind == _MEMBER:
                member_id = output["key"]["data"]["memberId"]
                members = members - {member_id} if is_gone else members | {member_id}
    return len(kafka.outputs)


def _is_refused_join(output: Json) -> bool:
    if output.get("api") != "JoinGroup":
        return False
    return bool(output["body"]["errorCode"] == _UNKNOWN_MEMBER_ID)
