"""Our assignors and Kafka's own, asked for the records of the same new target assignments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import zip_longest
from typing import IO, TypeAlias

from group_coordinator.core.assignors import ASSIGNORS
from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    SubscriptionType,
    TopicSpec,
    subscription_type,
)
from group_coordinator.core.kafka_order import member_order, subscribed_order
from tests.conformance.assignors.group_lives import GroupLife, Moment, Size
from tests.conformance.kafka.coordinators import kafka_program

Target: TypeAlias = Mapping[str, Sequence[int]]
"""The partitions of a member by topic, both in the order of the record."""

STEPS = 20
"""New assignments in the life of a group."""


class KafkaAssignors:
    """Kafka's own, in a process of its own."""

    def __init__(self, log: IO[bytes]) -> None:
        self._process = kafka_program("KafkaAssignors", log)

    def records(self, moment: Moment, targets: Mapping[str, Target]) -> dict[str, Target]:
        """The records of a new target assignment; `targets` is the present one."""
        before = {member_id: list(target.items()) for member_id, target in targets.items()}
        problem = asdict(moment) | {"regexes": moment.resolved(), "targets": before}
        (answer,) = self._process.say(json.dumps(problem))
        assert answer["kind"] == "assignment", answer
        return {member_id: dict(target) for member_id, target in answer["records"]}

    def close(self) -> None:
        self._process.close()


def our_records(moment: Moment, targets: dict[str, Assignment]) -> dict[str, Assignment]:
    """The targets that change; `targets` is the present one."""
    members = {member.id: member for member in moment.after()}
    resolved = moment.resolved()
    there = {topic.name: topic for topic in moment.topics}
    specs: dict[str, MemberSpec] = {}
    before = _with_place(moment, targets)
    topics: dict[str, TopicSpec] = {}
    present = [member.id for member in moment.members]
    for member_id in member_order(present, moment.updated.id, moment.replaced):
        member = members[member_id]
        names = subscribed_order(member.names, resolved.get(member.regex or "", ()))
        wanted = [there[name] for name in names if name in there]
        topics |= {topic.id: TopicSpec(topic.partitions, None) for topic in wanted}
        specs[member_id] = MemberSpec(
            member.rack,
            member.instance,
            frozenset(topic.id for topic in wanted),
            before.get(member_id, {}),
        )
    kind = subscription_type(
        len(members),
        Counter(name for member in members.values() for name in set(member.names)),
        Counter(member.regex for member in members.values() if member.regex),
        [
            resolved[regex]
            for regex in {member.regex for member in members.values()} & resolved.keys()
        ],
    )
    if moment.subscription_type is not None:
        kind = SubscriptionType[moment.subscription_type]
    found = ASSIGNORS[moment.assignor](specs, topics, kind)
    assert found.keys() == specs.keys()
    return {member_id: new for member_id, new in found.items() if new != before.get(member_id)}


def _with_place(moment: Moment, targets: dict[str, Assignment]) -> dict[str, Assignment]:
    """The present targets: a static member has that of the member whose place it takes."""
    if moment.replaced is None or moment.replaced not in targets:
        return targets
    others = {member_id: t for member_id, t in targets.items() if member_id != moment.replaced}
    return others | {moment.updated.id: targets[moment.replaced]}


def differences(seed: int, size: Size, kafka: KafkaAssignors) -> Iterator[str]:
    """Live a life with both up to the first difference; every moment goes on from Kafka's targets of the one before.

    These are told with ascending partitions, as our records have them: Kafka's records have a set's order, which tells
    what came first of two partitions in one bucket (16 apart or more), and that is not kept here. The topics of range's
    records are compared without their order: that depends on how many names a member subscribed to.
    """
    life = GroupLife(seed, size)
    targets: dict[str, Assignment] = {}
    for step in range(STEPS):
        moment = life.next_moment()
        here = {member.id for member in (*moment.members, moment.updated)}
        targets = {member_id: target for member_id, target in targets.items() if member_id in here}
        expected = kafka.records(moment, targets)
        found = our_records(moment, targets)
        for ours, theirs in zip_longest(
            _comparable(found.items(), moment), _comparable(expected.items(), moment)
        ):
            if ours != theirs:
                yield f"{size}, life {seed}, step {step}\nKafka: {theirs}\nours:  {ours}"
                return
        changed = {member_id: _ascending(target) for member_id, target in expected.items()}
        targets = _with_place(moment, targets) | changed


def _ascending(target: Target) -> Assignment:
    return {topic_id: tuple(sorted(partitions)) for topic_id, partitions in target.items()}


def _comparable(records: Iterable[tuple[str, Target]], moment: Moment) -> list[object]:
    arranged = sorted if moment.assignor == "range" else list
    return [(member_id, arranged(_ascending(target).items())) for member_id, target in records]
