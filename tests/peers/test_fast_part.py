"""A part of the suites that is done in seconds and needs no toolchain; `python -m tests.peers` runs all of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tests.conformance.kafka.coordinators import Process
from tests.peers import stand
from tests.peers.suite import Case, Outcome, Place
from tests.peers.suites import kafka_python, kafka_tools
from tests.peers.suites.kafka_tools_story import preparation, the_fast_part

pytestmark = pytest.mark.kafka

DELAY_S = (0.0, 0.1)
OF_KAFKA_PYTHON = (
    "consumer_integration.py::test_group",
    "consumer_integration.py::test_kafka_consumer__offset_commit_resume",
    "producer_integration.py::test_transactional_producer_offsets",
    "admin_integration.py::test_delete_groups",
)


class Places(NamedTuple):
    broker: Place
    gateway: Place


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with stand.broker() as broker, stand.gateway(broker, delay_s=DELAY_S) as gateway:
        yield Places(
            Place(broker, tmp_path_factory.mktemp("broker")),
            Place(gateway, tmp_path_factory.mktemp("gateway")),
        )


def test_kafkas_tools_say_the_same_at_a_broker_and_through_the_gateway(places: Places) -> None:
    program = kafka_tools.KAFKA_TOOLS.obtain()
    with (
        kafka_tools.tools_in_one_process(program, places.broker.folder) as of_broker,
        kafka_tools.tools_in_one_process(program, places.gateway.folder) as of_gateway,
        ThreadPoolExecutor() as beside,
    ):
        prepared = list(kafka_tools.told(of_broker, places.broker, preparation()))
        telling = beside.submit(said, of_broker, places.broker)
        through = said(of_gateway, places.gateway)
        direct = telling.result()

    assert "Processed a total of 20 messages" in direct[0].said
    assert [case for case in (*prepared, *direct) if case.outcome is not Outcome.PASSED] == []
    assert [case.said for case in through] == [case.said for case in direct]


def said(tools: Process, place: Place) -> list[Case]:
    return list(kafka_tools.told(tools, place, the_fast_part()))


def test_kafka_pythons_own_tests_pass_through_the_gateway(places: Places) -> None:
    names = [f"test/integration/test_{name}" for name in OF_KAFKA_PYTHON]

    cases = kafka_python.cases(kafka_python.KAFKA_PYTHON.obtain(), places.gateway, *names)

    assert [case for case in cases if case.outcome is not Outcome.PASSED] == []
    assert len(cases) >= len(names)
