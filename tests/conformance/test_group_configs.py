"""A real broker and ours are asked for, and given, the same settings of groups, and answer the same.

Kafka also knows settings of share and streams groups; these are left out of what it lists.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kafka.coordinators import Ours
from tests.conformance.kafka.real_broker import RealBroker, real_broker
from tests.conformance.language.lines import Json

pytestmark = pytest.mark.kafka

SETTINGS = {"group.consumer.session.timeout.ms": "50000"}
GROUP = 32
HEARD_S = 0.15
"""Within this time the broker hears from the controller what has changed."""

SESSION = "consumer.session.timeout.ms"
HEARTBEAT = "consumer.heartbeat.interval.ms"
INTERVAL = "consumer.assignment.interval.ms"
OFFLOAD = "consumer.assignor.offload.enable"
SET, DELETE, APPEND, SUBTRACT = range(4)


def describe(group: str, *names: str, version: int = 4, **options: bool) -> tuple[str, int, Json]:
    keys = list(names) or None
    resource = {"resourceType": GROUP, "resourceName": group, "configurationKeys": keys}
    return "DescribeConfigs", version, {"resources": [resource], **options}


def alter(
    group: str, *changes: tuple[str, int, str | None], version: int = 1, asks: bool = False
) -> tuple[str, int, Json]:
    configs = [
        {"name": name, "configOperation": operation, "value": value}
        for name, operation, value in changes
    ]
    resource = {"resourceType": GROUP, "resourceName": group, "configs": configs}
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
    *(alter("g", (SESSION, SET, value)) for value in ("99999999999", "-1", "0", "\uff15" * 5)),
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


def test_kafka_answers_the_same(tmp_path: Path) -> None:
    ours = Ours()
    ours.begin(SETTINGS, salt=None)
    with real_broker(tmp_path, SETTINGS) as broker:
        for number, (api, version, body) in enumerate(REQUESTS):
            expected = of_consumer_groups(asked(broker, api, version, body))
            assert answered(ours, number, api, version, body) == expected, body


def asked(broker: RealBroker, api: str, version: int, body: Json) -> Json:
    answer = broker.ask(api, version, body)
    if api == "IncrementalAlterConfigs":
        time.sleep(HEARD_S)
    return answer


def answered(ours: Ours, number: int, api: str, version: int, body: Json) -> Any:
    event = {"api": api, "version": version, "correlationId": str(number), "body": body}
    [answer] = ours.say(json.dumps({"at": number, "event": event}))
    return answer["body"]


def of_consumer_groups(body: Json) -> Json:
    for result in body.get("results", ()):
        result["configs"] = [
            config for config in result["configs"] if config["name"].startswith("consumer.")
        ]
    return body
