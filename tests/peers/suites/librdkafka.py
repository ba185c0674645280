"""librdkafka's own tests of consumer groups, from the source that the crate rdkafka-sys carries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.peers.commands import ended, in_a_line, tail
from tests.peers.sources import crate_source, do, needed, once
from tests.peers.suite import Case, Outcome, Place, Suite, SuiteError

_VERSION = "4.10.0+2.12.1"
_NUMBERS = (
    *("0045", "0030", "0089", "0102", "0050", "0018", "0019", "0029", "0056"),
    *("0099", "0113", "0118", "0120", "0122", "0130", "0132", "0140", "0153"),
)
"""Subscriptions, commits, rebalances and listings with a real cluster; not those of mock clusters, brokers' ACLs and TLS.

The longest first."""
_WITHOUT = ("--disable-sasl", "--disable-ssl", "--disable-curl", "--disable-zstd")
_TIMEOUT_S = 600
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
        found = processes.map(partial(one, protocol, tests, place), _NUMBERS)
        return [case for cases in found for case in cases]


def one(protocol: str, tests: Path, place: Place, number: str) -> list[Case]:
    """The test with this number."""
    config, report = place.folder / f"{number}.conf", place.folder / f"{number}.json"
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
        "LD_LIBRARY_PATH": os.pathsep.join(str(tests.parent / name) for name in ("src", "src-cpp")),
    }
    try:
        done = ended((tests / "test-runner", "-p1"), environment, tests, _TIMEOUT_S)
    except SuiteError as late:
        return [Case(number, Outcome.FAILED, in_a_line(str(late)))]
    if not report.exists():
        why = in_a_line(tail(_COLORS.sub("", done.said)))
        return [Case(number, Outcome.FAILED, why)]
    told: Mapping[str, Mapping[str, str]] = json.loads(report.read_text())["tests"]
    return [
        _case(name, test["state"], done.said)
        for name, test in told.items()
        if name.startswith(number)
    ]


def _case(name: str, state: str, said: str) -> Case:
    outcome = _OUTCOMES.get(state, Outcome.FAILED)
    return Case(name, outcome, "" if outcome is Outcome.PASSED else why(said, name))


def why(said: str, name: str) -> str:
    """What is said at a failure; else the line of the summary, which ends with the reason of a skip."""
    plain = _COLORS.sub("", said)
    failure = _FAILURE.search(plain)
    if failure is not None:
        return in_a_line(failure[1])
    summary = [line for line in plain.splitlines() if line.startswith("|") and name in line]
    return in_a_line(summary[-1].rpartition("|")[2]) if summary else in_a_line(tail(plain))


LIBRDKAFKA_CLASSIC = Suite("librdkafka, classic", _obtain, partial(_run, "classic"))
LIBRDKAFKA_CONSUMER = Suite("librdkafka, consumer", _obtain, partial(_run, "consumer"))
