"""What tests/gateway_faults holds against a gateway, without one."""

from __future__ import annotations

import socket
import struct
from base64 import b64encode
from datetime import datetime

from msgspec import json

from group_coordinator.codecs import wire
from group_coordinator.local.broker import LOOPBACK, free_ports
from tests.gateway_faults import door
from tests.gateway_faults.chain_report import ChainReport
from tests.gateway_faults.frames import TOPIC, VERSION, counted
from tests.gateway_faults.readers import Group

OVERHEAD = 12
"""Bytes of a batch that its size does not count."""


def batch(first: int, count: int) -> bytes:
    data = bytearray(100)
    struct.pack_into(">qi", data, 0, first, len(data) - OVERHEAD)
    struct.pack_into(">i", data, 57, count)
    return bytes(data)


def test_what_was_read_again_above_the_last_commit_is_no_fault() -> None:
    group = Group("g")
    for offset in (0, 1, 2):
        group.has_read(0, offset)
    group.has_committed({0: 2})
    group.has_read(0, 2)

    assert (group.below_commits, group.repeat_count, group.count()) == ([], 1, 3)

    group.has_read(0, 1)

    assert group.below_commits == ["g: 0 at 1"]


def test_whole_batches_count_and_the_cut_one_does_not() -> None:
    records = batch(5, 3) + batch(8, 10) + batch(18, 4)[:50]
    partition = {
        "partitionIndex": 0,
        "abortedTransactions": None,
        "records": b64encode(records).decode(),
    }
    topics = {"responses": [{"topic": TOPIC, "partitions": [partition]}]}
    answer = wire.response("Fetch", VERSION, 1, topics)

    assert counted(answer[4:]) == (13, 18)


def chains(*events: tuple[str, str, str, str]) -> ChainReport:
    """Second, action, chain, and what it printed."""
    return ChainReport(
        "\n".join(
            json.encode(
                {"Time": f"{NOON}{second}Z", "Action": action, "Test": name, "Output": output}
            ).decode()
            for second, action, name, output in events
        )
    )


NOON = "2026-11-23T12:00:"


def at(second: str) -> datetime:
    return datetime.fromisoformat(f"{NOON}{second}+00:00")


def test_a_chain_runs_from_its_first_event_to_its_last() -> None:
    report = chains(
        ("01.5", "run", "Etl/range", ""),
        ("02.000000001", "run", "Etl/sticky", ""),
        ("03.25", "pass", "Etl/range", ""),
    )

    assert report.running_at(at("01")) == []
    assert report.running_at(at("03")) == ["Etl/range", "Etl/sticky"]
    assert report.running_at(at("09")) == ["Etl/sticky"]


def test_a_record_read_twice_counts_once_however_often_the_chain_says_so() -> None:
    double = "saw double offset t orders p3o17"
    report = chains(
        ("01", "run", "Etl/range", ""),
        ("02", "output", "Etl/range", f"    testConsumer sendErr group=g: {double}\n"),
        ("02", "output", "Etl/range", f"    group_test.go:1: {double}\n"),
        ("03", "fail", "Etl/range", ""),
    )

    assert (report.lost_count, report.doubled_count) == (0, 1)
    assert list(report.problems()) == [
        f"Etl/range failed: testConsumer sendErr group=g: {double} group_test.go:1: {double}"
    ]


def test_keys_that_are_too_few_are_lost_and_too_many_are_doubled() -> None:
    report = chains(
        ("01", "run", "Txn/range", ""),
        ("02", "output", "Txn/range", "    consumers 1: got 1997 keys != exp 2000\n"),
        ("02", "output", "Txn/range", "    consumers 2: got 2002 keys != exp 2000\n"),
        ("03", "fail", "Txn/range", ""),
    )

    assert (report.lost_count, report.doubled_count) == (3, 2)


def test_a_chain_that_did_not_look_passes_and_is_counted() -> None:
    report = chains(
        ("01", "run", "Etl/848", ""),
        ("02", "output", "Etl/848", "pre-KIP-1251 stale commit encountered, skipping validation\n"),
        ("03", "pass", "Etl/848", ""),
    )

    assert (list(report.problems()), report.unchecked_count) == ([], 1)


def test_who_comes_while_nobody_is_behind_the_door_is_hung_up_on() -> None:
    [port] = free_ports(1)

    with door.open_door([port]), socket.create_connection((door.HOST, port), timeout=5) as client:
        assert client.recv(1) == b""


def test_the_door_carries_both_ways_and_tells_that_the_owner_is_gone() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        with (
            door.open_door([port]),
            socket.create_connection((door.HOST, port), timeout=5) as client,
        ):
            owner, _ = server.accept()
            with owner:
                client.sendall(b"ask")
                assert owner.recv(3) == b"ask"
                owner.sendall(b"answer")
                assert client.recv(6) == b"answer"

            assert client.recv(1) == b""
