"""Our authorizer and Kafka's own, asked the same questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO

from group_coordinator.core.acls import Authorizer, Rights
from tests.conformance.acls.drawn_rules import Drawn, drawn
from tests.conformance.kafka.coordinators import kafka_program


class KafkaAuthorizer:
    """Kafka's own, in a process of its own."""

    def __init__(self, log: IO[bytes]) -> None:
        self._process = kafka_program("KafkaAuthorizer", log)

    def answers(self, sets: Iterable[Drawn]) -> list[list[bool]]:
        """Of each question of each set whether it is allowed."""
        (answer,) = self._process.say(json.dumps([_asked(one) for one in sets]))
        found: list[list[bool]] = answer["answers"]
        return found

    def close(self) -> None:
        self._process.close()


def differences(seeds: Iterable[int], kafka: KafkaAuthorizer) -> Iterator[str]:
    """The questions that both answer otherwise."""
    sets = [drawn(seed) for seed in seeds]
    for seed, one, theirs in zip(seeds, sets, kafka.answers(sets), strict=True):
        ours = our_answers(one)
        for question, our, their in zip(one.questions, ours, theirs, strict=True):
            if our != their:
                yield f"seed {seed}: {question} of {one.acls}\nKafka: {their}, ours: {our}"


def our_answers(asked: Drawn) -> list[bool]:
    authorizer = Authorizer(asked.acls)
    return [
        Rights(authorizer, caller).may(operation, kind, name)
        for caller, operation, kind, name in asked.questions
    ]


def _asked(one: Drawn) -> dict[str, object]:
    return {
        "superUsers": one.acls.super_users,
        "allowEveryone": one.acls.allow_everyone_if_no_acl_found,
        "rules": [
            [
                *(rule.resource_type, rule.resource_name, rule.pattern_type),
                *(rule.principal, rule.host, rule.operation, rule.permission),
            ]
            for rule in one.acls.rules
        ],
        "questions": [
            [caller.principal, caller.host, operation, kind, name]
            for caller, operation, kind, name in one.questions
        ],
    }
