"""A real broker and ours are asked for, and given, the same settings of groups, and answer the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from group_coordinator.core.group_configs import GROUP_CONFIGS
from tests.conformance.kafka.coordinators import Ours
from tests.conformance.kafka.real_broker import RealBroker, real_broker
from tests.conformance.kafka.witness import GROUP_RESOURCE
from tests.conformance.language.lines import Json

pytestmark = pytest.mark.kafka

SETTINGS = {"group.consumer.session.timeout.ms": "50000"}

SESSION = "consumer.session.timeout.ms"
HEARTBEAT = "consumer.heartbeat.interval.ms"
INTERVAL = "consumer.assignment.interval.ms"
OFFLOAD = "consumer.assignor.offload.enable"
SET, DELETE, APPEND, SUBTRACT = range(4)


def describe(group: str, *names: str, version: int = 4, **options: bool) -> tuple[str, int, Json]:
    keys = list(names) or None
    resource = {"resourceType": GROUP_RESOURCE, "resourceName": group, "configurationKeys": keys}
    return "DescribeConfigs", version, {"resources": [resource], **options}


def alter(
    group: str, *changes: tuple[str, int, str | None], version: int = 1, asks: bool = False
) -> tuple[str, int, Json]:
    configs = [
        {"name": name, "configOperation": operation, "value": value}
        for name, operation, value in changes
    ]
    resource = {"resourceType": GROUP_RESOURCE, "resourceName": group, "configs": configs}
    return "IncrementalAlterConfigs", version, {"resources": [resource], "validateOnly": asks}


REQUESTS = [
    describe("g"),
    *(describe("g", version=version, includeSynonyms=True) for version in (1, 2)),
    *(
        describe("g", version=version, includeSynonyms=True, includeDocumentation=True)
        for version in (3, 4)
    ),
    describe("g", "nope", HEARTBEAT),
    describe("g", "nope"),
    describe(""),
    alter("g", (SESSION, SET, "52000"), version=0),
    describe("g", includeSynonyms=True),
    alter("g", (SESSION, SET, "53000"), asks=True),
    describe("g", SESSION),
    *(
        alter("g", (SESSION, SET, value))
        for value in ("1000", "100000", "abc", "", " 55000 ", "55000.0", None, "+56000", "5e4")
    ),
    *(
        alter("g", (SESSION, SET, value))
        for value in ("99999999999", "-1", "0", "\uff15" * 5, "\U0001d7d3" * 5)
    ),
    describe("g", SESSION),
    *(alter("g", (HEARTBEAT, SET, value)) for value in ("4999", "15001", "15000")),
    *(alter("g", (INTERVAL, SET, value)) for value in ("-1", "15001", "15000")),
    describe("g", includeSynonyms=True),
    alter("g", ("nope", SET, "1")),
    alter("g", ("z", SET, "1"), ("nope", SET, "1"), ("y", SET, "1")),
    alter("g", ("nope", DELETE, None)),
    alter("g", ("nope", APPEND, "1")),
    alter("g", (SESSION, APPEND, "1")),
    alter("g", (HEARTBEAT, SUBTRACT, "1"), (SESSION, APPEND, "1")),
    alter("g", (SESSION, 7, "1")),
    alter("g", (SESSION, -1, "1")),
    alter("g", (HEARTBEAT, SET, "y"), (SESSION, SET, "x")),
    alter("g", (SESSION, SET, "50000"), (SESSION, DELETE, None)),
    alter("g", (SESSION, SET, None), (HEARTBEAT, SET, None)),
    alter("g", (HEARTBEAT, SET, "6000"), ("nope", SET, "1")),
    alter("", (SESSION, SET, "50000")),
    alter("", (SESSION, APPEND, "50000")),
    alter("", (SESSION, SET, None)),
    alter("g"),
    describe("g"),
    alter("g", (SESSION, DELETE, "junk"), (HEARTBEAT, DELETE, None)),
    describe("g", includeSynonyms=True),
    describe("h"),
    *(alter("g", (OFFLOAD, SET, value)) for value in ("FALSE", " true ", "no", "")),
    describe("g", includeSynonyms=True, includeDocumentation=True),
    describe("g", OFFLOAD),
    alter("g", (OFFLOAD, DELETE, None)),
    describe("g", OFFLOAD),
]


NUMBERS = {
    "share.session.timeout.ms": (0, 1, 44_999, 45_000, 60_000, 60_001),
    "share.heartbeat.interval.ms": (0, 1, 4_999, 5_000, 15_000, 15_001),
    "share.record.lock.duration.ms": (999, 1_000, 14_999, 15_000, 60_000, 60_001),
    "share.delivery.count.limit": (1, 2, 10, 11),
    "share.partition.max.record.locks": (99, 100, 4_000, 4_001),
    "share.assignment.interval.ms": (-1, 0, 15_000, 15_001),
    "streams.session.timeout.ms": (0, 1, 44_999, 45_000, 60_000, 60_001),
    "streams.heartbeat.interval.ms": (0, 1, 4_999, 5_000, 15_000, 15_001),
    "streams.num.standby.replicas": (-1, 0, 2, 3),
    "streams.initial.rebalance.delay.ms": (-1, 0, 2**31 - 1),
    "streams.assignment.interval.ms": (-1, 0, 15_000, 15_001),
    "streams.task.offset.interval.ms": (0, 1, 14_999, 15_000, 2**31 - 1),
    "streams.num.warmup.replicas": (-1, 0, 20, 21),
    "streams.acceptable.recovery.lag": (-1, 0, 2**63 - 1, 2**63),
}
"""Those beside the lowest number that there is, and beside the limits."""
TEXTS = {
    "share.auto.offset.reset": (
        *(" earliest ", "latest", "none", "LATEST", " x ", "", "by_duration", "by_duration:"),
        *(
            f"by_duration:{duration}"
            for duration in (
                *("PT1H", "pt1h", "P1D", "P1DT1H1M1.5S", "PT0S", "-PT0S", "-PT-1H", "P-1DT25H"),
                *("-PT1H", "PT-0.5S", "P1Y", "P", "P1DT", "PT.5S", "PT1,S", "PT0.1234567890S"),
                *("PT9223372036854775807S", "PT9223372036854775808S", "P106751991167301D"),
                *("P\u0661D", " PT1H", "PT1H\n"),
            )
        ),
    ),
    "share.isolation.level": ("read_committed", " read_uncommitted ", "READ_COMMITTED", " x ", ""),
    "share.renew.acknowledge.enable": ("FALSE", " true ", "no", ""),
    "share.assignor.offload.enable": ("FALSE", " true ", "no"),
    "streams.assignor.offload.enable": ("FALSE", " true ", "no"),
    "streams.task.offset.interval.ms": (" +60000 ", "060000", " x "),
    "streams.assignment.interval.ms": (" +6000 ", "06000", " x ", "0" * 5_000, "9" * 5_000),
    "streams.assignor.name": (" sticky ", " x ", "STICKY", ""),
    "streams.rack.aware.assignment.tags": (
        *("a", " b , a ", "a \t,\n b", "a\u00a0,b", "", " "),
        *("a,a", "a, a", ",", "a,,b", "a,"),
    ),
    "errors.deadletterqueue.topic.name": (" dead/letters ", "", "__x", " __x"),
    "errors.deadletterqueue.copy.record.enable": (" TRUE ", "x"),
}
OTHERS = [*dict.fromkeys([*NUMBERS, *TEXTS])]


def of_other_groups() -> Iterator[tuple[str, int, Json]]:
    """Settings of share and streams groups; the last one that is taken is described."""
    for name in OTHERS:
        for text in (*map(str, NUMBERS.get(name, ())), *TEXTS.get(name, ())):
            yield alter("of-others", (name, SET, text))
        yield describe("of-others", name, includeSynonyms=True, includeDocumentation=True)
        yield alter("of-others", (name, APPEND, "a"))
        yield alter("of-others", (name, DELETE, None))


def faults() -> Iterator[tuple[str, int, Json]]:
    """Several at once: which one is named?"""
    names = [OFFLOAD, HEARTBEAT, SESSION, INTERVAL, *OTHERS]
    for start in range(len(names)):
        yield alter("faulty", *((name, SET, "x") for name in names[start:]))
        yield alter("faulty", *((name, APPEND, "x") for name in names[start:]))
        yield alter("faulty", *((f"no-{name}", SET, "x") for name in names[start:]))
    limits = {SESSION: (99_999,), HEARTBEAT: (99_999,), INTERVAL: (99_999,), **NUMBERS}
    beyond = {name: str(numbers[-1]) for name, numbers in limits.items()}
    beyond["streams.task.offset.interval.ms"] = "1"
    del beyond["streams.initial.rebalance.delay.ms"]
    del beyond["streams.acceptable.recovery.lag"]
    beyond |= {"streams.assignor.name": "x", "errors.deadletterqueue.topic.name": "__x"}
    for start in range(len(beyond)):
        yield alter("faulty", *((name, SET, beyond[name]) for name in [*beyond][start:]))
    tags = ("streams.rack.aware.assignment.tags", SET, "a,a")
    yield alter("faulty", tags, ("nope", SET, "1"))
    yield alter("faulty", tags, (SESSION, SET, "x"))
    yield describe("faulty")


def internal_ones() -> Iterator[tuple[str, int, Json]]:
    """Those that are listed where they were given alone, and with names that were asked for in another order."""
    given = {
        OFFLOAD: "true",
        "share.assignor.offload.enable": "true",
        "streams.assignor.offload.enable": "true",
        "streams.task.offset.interval.ms": "60000",
        "streams.num.warmup.replicas": "2",
        "streams.acceptable.recovery.lag": "10000",
    }
    for name, value in given.items():
        yield describe("internal", name)
        yield alter("internal", (name, SET, value))
        yield describe("internal", includeSynonyms=True)
    yield describe("internal", *[*given][::-1], SESSION, *OTHERS)
    yield alter("internal", *((name, SET, value) for name, value in given.items()), asks=True)


def test_kafka_answers_the_same(tmp_path: Path) -> None:
    ours = Ours()
    ours.begin(SETTINGS, salt=None)
    requests = [*REQUESTS, *of_other_groups(), *faults(), *internal_ones()]
    with real_broker(tmp_path, SETTINGS) as broker:
        for number, (api, version, body) in enumerate(requests):
            expected = with_own_words(asked(broker, api, version, body))
            assert with_own_words(answered(ours, number, api, version, body)) == expected, body


def test_the_descriptions_are_our_own(tmp_path: Path) -> None:
    ours = Ours()
    ours.begin(SETTINGS, salt=None)
    request = describe("g", *GROUP_CONFIGS, includeDocumentation=True)
    with real_broker(tmp_path, SETTINGS) as broker:
        theirs = descriptions(broker.ask(*request))

    own = descriptions(answered(ours, 0, *request))
    assert own.keys() - theirs.keys() == {"offsets.retention.ms"}
    assert {name: runs(own[name]) & runs(theirs[name]) for name in theirs} == {
        name: set() for name in theirs
    }


def descriptions(answer: Json) -> dict[str, str]:
    return {
        config["name"]: config["documentation"]
        for result in answer["results"]
        for config in result["configs"]
    }


def runs(text: str) -> set[tuple[str, ...]]:
    """All runs of five words."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + 5]) for start in range(len(words) - 4)}


def with_own_words(answer: Json) -> Json:
    """Return the response with the presence of each description instead of its text, which differs from Kafka's."""
    for result in answer.get("results", ()):
        for config in result["configs"]:
            if "documentation" in config:
                config["documentation"] = bool(config["documentation"])
    return answer


def asked(broker: RealBroker, api: str, version: int, body: Json) -> Json:
    answer = broker.ask(api, version, body)
    if not all(response["errorCode"] for response in answer.get("responses", ())):
        broker.witness.await_settings()
    return answer


def answered(ours: Ours, number: int, api: str, version: int, body: Json) -> Any:
    event = {"api": api, "version": version, "correlationId": str(number), "body": body}
    [answer] = ours.say(json.dumps({"at": number, "event": event}))
    return answer["body"]
