from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from group_coordinator.codecs.offsets_topic.schemas import RECORDS
from tests.conformance.decoder.comparison import KafkaMessages, differences
from tests.conformance.kafka.coordinators import NoCompilerError
from tests.conformance.wire.definitions import kafkas_messages, other_definitions


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaMessages]:
    with (tmp_path_factory.mktemp("messages") / "log").open("wb") as log:
        try:
            started = KafkaMessages(log)
        except NoCompilerError as reason:
            pytest.skip(str(reason))
        with closing(started):
            yield started


@pytest.mark.oracle
def test_every_message_says_what_kafka_prints(kafka: KafkaMessages) -> None:
    found = [difference for seed in range(20) for difference in differences(seed, kafka, damages=3)]
    if found:
        pytest.fail("\n".join(found[:3]), pytrace=False)


@pytest.mark.oracle
def test_every_record_is_defined_as_by_kafka() -> None:
    kafkas = kafkas_messages("kafka-group-coordinator")
    ours = {
        message.name: (message, record.type)
        for record in RECORDS.values()
        for message in (record.key, record.value)
    }

    assert ours.keys() == kafkas.keys()
    found = [
        difference
        for name, (message, key) in ours.items()
        for difference in other_definitions(kafkas[name], message, key)
    ]
    if found:
        pytest.fail("\n".join(found[:3]), pytrace=False)
