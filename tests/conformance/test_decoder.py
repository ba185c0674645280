from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from group_coordinator.codecs.offsets_topic.schemas import SCHEMAS
from tests.conformance.decoder.comparison import KafkaMessages, differences
from tests.conformance.decoder.definitions import kafkas_schemas
from tests.conformance.kafka.coordinators import NoCompilerError


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
def test_every_schema_is_kafkas() -> None:
    assert kafkas_schemas() == SCHEMAS
