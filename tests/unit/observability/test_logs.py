from __future__ import annotations

import logging
from collections.abc import Iterator
from io import StringIO
from types import SimpleNamespace

import pytest
from py4j.java_gateway import GatewayClient

from group_coordinator.observability.logs import set_level, set_up_logs


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[StringIO]:
    """What a command that has set up its logs says."""
    text = StringIO()
    ours = logging.getLogger("group_coordinator")
    usual = ours.level
    ours.setLevel(logging.NOTSET)
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(text)])
    set_up_logs()
    yield text
    ours.setLevel(usual)


def test_an_outage_of_kafka_does_not_drown_what_is_said_of_it(said: StringIO) -> None:
    of_library = logging.getLogger("kafka.cluster")
    of_library.warning("No node available for metadata refresh - backoff/retry")
    of_library.error("Metadata refresh: failed %s", ConnectionError())
    of_library.error("Topic %s not found in cluster metadata", "orders")
    logging.getLogger("kafka.net.manager").error("connection failed")
    logging.getLogger("group_coordinator.driver").warning("batches wait for Kafka")

    assert said.getvalue() == "batches wait for Kafka\n"


def test_what_else_the_library_says_is_told(said: StringIO) -> None:
    logging.getLogger("kafka.cluster").error("Topic %s is not authorized for this client", "orders")

    assert said.getvalue() == "Topic orders is not authorized for this client\n"


def test_ctrl_c_during_a_request_to_java_is_no_trace(
    said: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> str:
        raise KeyboardInterrupt

    client = GatewayClient()
    connection = SimpleNamespace(send_command=interrupted, socket=None)
    monkeypatch.setattr(client, "_get_connection", lambda: connection)

    with pytest.raises(KeyboardInterrupt):
        client.send_command("c")

    assert said.getvalue() == ""


def test_decisions_are_logged_only_at_debug(said: StringIO) -> None:
    ours = logging.getLogger("group_coordinator.streaming")
    ours.debug("batch=%d path=small-batch", 6)
    set_level("debug")
    set_up_logs()
    ours.debug("batch=%d path=small-batch", 7)

    assert said.getvalue() == "batch=7 path=small-batch\n"


def test_debug_is_for_our_own_lines(said: StringIO) -> None:
    set_level("debug")
    logging.getLogger("kafka.cluster").debug("Updated cluster metadata")

    assert said.getvalue() == ""
