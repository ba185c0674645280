from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire.schemas import APIS, MESSAGES
from group_coordinator.core.embedded_protocol import ASSIGNMENT, SUBSCRIPTION
from tests.conformance.kafka.coordinators import NoCompilerError
from tests.conformance.wire.comparison import KafkaWire, differences, other_requests
from tests.conformance.wire.definitions import apis_of_brokers, kafkas_messages, other_definitions


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaWire]:
    with (tmp_path_factory.mktemp("wire") / "log").open("wb") as log:
        try:
            started = KafkaWire(log)
        except NoCompilerError as reason:
            pytest.skip(str(reason))
        with closing(started):
            yield started


@pytest.mark.oracle
def test_every_body_is_written_and_read_as_by_kafka(kafka: KafkaWire) -> None:
    found = [difference for seed in range(2) for difference in differences(seed, kafka, damages=2)]
    if found:
        pytest.fail("\n".join(found[:3]), pytrace=False)


@pytest.mark.oracle
def test_a_broker_reads_the_same_requests(kafka: KafkaWire) -> None:
    found = list(other_requests(0, kafka, damages=3))
    if found:
        pytest.fail("\n".join(found[:3]), pytrace=False)


@pytest.mark.oracle
def test_a_broker_does_not_look_behind_a_request(kafka: KafkaWire) -> None:
    frame = wire.request("SaslHandshake", 1, 7, "billing", {"mechanism": "PLAIN"})[4:]

    assert kafka.request(frame + b"more") == kafka.request(frame)
    assert kafka.request(frame)["body"] == {"mechanism": "PLAIN"}


@pytest.mark.oracle
def test_every_message_is_defined_as_by_kafka() -> None:
    kafkas = kafkas_messages("kafka-clients")
    keys = {message.name: api.key for api in APIS.values() for message in api.messages}

    found = [
        difference
        for message in (*MESSAGES.values(), SUBSCRIPTION, ASSIGNMENT)
        for difference in other_definitions(
            kafkas.get(message.name), message, keys.get(message.name)
        )
    ]
    if found:
        pytest.fail("\n".join(found[:3]), pytrace=False)


@pytest.mark.oracle
def test_every_api_is_known_but_those_that_are_hidden() -> None:
    unknown = apis_of_brokers(kafkas_messages("kafka-clients")) - APIS.keys()

    assert unknown == {
        "WriteTxnMarkers",  # said by brokers
        "AlterShareGroupOffsets",
        "DeleteShareGroupOffsets",
        "DeleteShareGroupState",
        "InitializeShareGroupState",
        "ReadShareGroupState",
        "ReadShareGroupStateSummary",
        "ShareAcknowledge",
        "ShareFetch",
        "ShareGroupHeartbeat",
        "StreamsGroupHeartbeat",
        "StreamsGroupTopologyDescriptionUpdate",
        "WriteShareGroupState",
    }
