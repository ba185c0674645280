from __future__ import annotations

import logging
from collections.abc import Iterator
from io import StringIO

import pytest

from group_coordinator.observability.logs import set_up_logs


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[StringIO]:
    """What a command that has set up its logs says."""
    text = StringIO()
    ours = logging.getLogger("group_coordinator")
    usual = ours.level
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(text)])
    set_up_logs()
    yield text
    ours.setLevel(usual)


def test_an_outage_of_kafka_does_not_drown_what_is_said_of_it(said: StringIO) -> None:
    of_library = logging.getLogger("kafka.cluster")
    of_library.warning("No node available for metadata refresh - backoff/retry")
    of_library.error("Metadata refresh: failed %s", ConnectionError())
    logging.getLogger("kafka.net.manager").error("connection failed")
    logging.getLogger("group_coordinator.driver").warning("batches wait for Kafka")

    assert said.getvalue() == "batches wait for Kafka\n"


def test_what_else_the_library_says_is_told(said: StringIO) -> None:
    logging.getLogger("kafka.cluster").error("Topic %s is not authorized for this client", "orders")

    assert said.getvalue() == "Topic orders is not authorized for this client\n"
