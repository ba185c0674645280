"""librdkafka's own tests of consumer groups, from the source that the crate rdkafka-sys carries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.peers.commands import ended, in_a_line, tail
from tests.peers.sources import crate_source, do, needed, once
from tests.peers.suite import Case, Outcome, Place, Suite, SuiteError

_VERSION = "4.10.0+2.12.1"
_PARTS_OF_0113 = (
    *(
        f"use_rebalance_cb: {callback}, subscription_variation: {variation}"
        for callback in (0, 1)
        for variation in range(3)
    ),
    *("t_max_poll_interval_exceeded", "s_subscribe_when_rebalancing", "v_commit_during_rebalance"),
    *("b_subscribe_with_cb_test", "c_subscribe_no_cb_test", "n_wildcard", "x_incremental"),
    *("l_unsubscribe", "d_change_subscription", "e_change_subscription", "h_delete_topic"),
    *("i_delete_topic_2", "j_delete_topic_no_rb_callback", "k_add_partition", "a_assign_tests"),
    *("f_assign_call_cooperative", "g_incremental_assign_call_eager", "m_unsubscribe_2"),
)
"""Of 0113, each a test of its own: one after the other they take ten minutes, and the first that fails ends the rest."""
_TESTS = (
    *(("0045", ""), ("0030", ""), ("0089", "")),
    *(("0113", part) for part in _PARTS_OF_0113),
    *((number, "") for number in ("0102", "0050", "0018", "0019", "0029", "0056", "0099")),
    *((number, "") for number in ("0118", "0122", "0130", "0132", "0140", "0153")),
)
"""Subscriptions, commits, rebalances and listings with a real cluster; not those of mock clusters, brokers' ACLs and TLS.

Number and part, "" for all of it; the longest first."""
_WITHOUT_A_CLUSTER = ("_mock", "_local")
_WITHOUT = ("--disable-sasl", "--disable-ssl", "--disable-curl", "--disable-zstd")
_TIMEOUT_S = 400
_AT_ONCE = 6
_OUTCOMES = {"PASSED": Outcome.PASSED, "SKIPPED": Outcome.SKIPPED}
_FAILURE = re.compile(r'^### Test "[^\n]* ###\n([^\n]*)', re.MULTILINE)
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


def _obtain() -> Path:
    return once(f"librdkafka-{_VERSION}", _built) / "librdkafka" / "tests"


def _built(folder: Path) -> None:
    for program in ("make", "gcc", "g++"):
        needed(program)
    crate_source("rdkafka-sys", _VERSION, folder)
    source = folder / "librdkafka"
    do(["./configure", *_WITHOUT], source)
    do(["make", "-j1", "libs"], source)
    do(["make", "-j1", "-C", "tests", "build"], source)


def _run(protocol: str, tests: Path, place: Place) -> Sequence[Case]:
    """Every test in a process of its own: one that fails may end the others. Most of their time they wait."""
    with ThreadPoolExecutor(_AT_ONCE) as processes:
        found = processes.map(partial(_one, protocol, tests, place), *zip(*_TESTS, strict=True))
        return [case for cases in found for case in cases]


def _one(protocol: str, tests: Path, place: Place, number: str, part: str) -> list[Case]:
    """The test with this number, or a part of it."""
    name = ", ".join(filter(None, (number, part)))
    config, report = place.folder / f"{name}.conf", place.folder / f"{name}.json"
    config.write_text(
        f"metadata.broker.list={place.bootstrap_servers}\ntest.timeout.multiplier=2\n",
        encoding="utf-8",
    )
    environment = {
        "RDKAFKA_TEST_CONF": str(config),
        "TEST_REPORT": str(report),
        "TEST_KAFKA_VERSION": "4.4.0",
        "TEST_CONSUMER_GROUP_PROTOCOL": protocol,
        "TESTS": number,
        "LD_LIBRARY_PATH": os.pathsep.join(str(tests.parent / each) for each in ("src", "src-cpp")),
    }
    if part:
        environment["SUBTESTS"] = part
    try:
        done = ended((tests / "test-runner", "-p1", "-L"), environment, tests, _TIMEOUT_S)
    except SuiteError as late:
        return [Case(name, Outcome.FAILED, in_a_line(str(late)))]
    if not report.exists():
        return [Case(name, Outcome.FAILED, in_a_line(tail(_COLORS.sub("", done.said))))]
    return list(read(report, done.said, number, part))


def read(report: Path, said: str, number: str, part: str) -> Iterator[Case]:
    """What became of the tests with this number; those that need no cluster were left out."""
    told: Mapping[str, Mapping[str, str]] = json.loads(report.read_text())["tests"]
    for name, test in told.items():
        if not name.startswith(number) or name.endswith(_WITHOUT_A_CLUSTER):
            continue
        outcome = _OUTCOMES.get(test["state"], Outcome.FAILED)
        if part:
            yield _of_part(f"{number}, {part}", part, outcome, said)
        else:
            yield Case(name, outcome, "" if outcome is Outcome.PASSED else why(said, name))


def _of_part(name: str, part: str, outcome: Outcome, said: str) -> Case:
    """A test whose parts are all left out has passed by its report."""
    if outcome is Outcome.FAILED:
        return Case(name, outcome, why(said, part))
    has_run = re.search(rf"\[ [^\n]*{re.escape(part)}[^\n]*: PASS \(", said)
    return Case(name, Outcome.PASSED if has_run else Outcome.SKIPPED)


def why(said: str, name: str) -> str:
    """What is said at a failure; else the line of the summary, which ends with the reason of a skip."""
    plain = _COLORS.sub("", said)
    failure = _FAILURE.search(plain)
    if failure is not None:
        return in_a_line(failure[1])
    summary = [line for line in plain.splitlines() if line.startswith("|") and name in line]
    return in_a_line(summary[-1].rpartition("|")[2]) if summary else in_a_line(tail(plain))


_OF_KAFKA = {"group.initial.rebalance.delay.ms": 3_000, "group.min.session.timeout.ms": 6_000}
"""Kafka's own defaults: 0102 wants that members which come within a moment share their first rebalance."""
_BACK_IN_5_S = (
    "variation 3 grants a member 5 s to be back, which takes five answers and another's heartbeat"
)
_OVER_IN_10_S = "its last step, a session of 6 s, another member's next heartbeat, its join and its sync, must take 10 s; it takes 8 to 13"
_HANGS = (
    "librdkafka hangs, at a broker too, if a consumer is destroyed unclosed while a rebalance waits for its callback: "
    "closing the others takes a second each through us, in which one comes"
)

LIBRDKAFKA_CLASSIC = Suite(
    "librdkafka, classic",
    _obtain,
    partial(_run, "classic"),
    {
        "0113, t_max_poll_interval_exceeded": _BACK_IN_5_S,
        "0102_static_group_rebalance": _OVER_IN_10_S,
    },
    coordinator=_OF_KAFKA,
)
LIBRDKAFKA_CONSUMER = Suite(
    "librdkafka, consumer",
    _obtain,
    partial(_run, "consumer"),
    {f"0113, {part}": _HANGS for part in _PARTS_OF_0113 if part.startswith("use_rebalance_cb: 1")},
    coordinator=_OF_KAFKA,
)
