"""franz-go's chains of groups: members come and go all the time, and no record may be read twice or out of order."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.peers.commands import ended, in_a_line, tail
from tests.peers.sources import do, needed, once
from tests.peers.suite import Case, Outcome, Place, Suite, SuiteError

RECORDS = "KGO_TEST_RECORDS"
"""Names in the environment how many records each chain carries."""
_VERSION = "1.22.2"
_PACKAGE = "github.com/twmb/franz-go/pkg/kgo"
_TESTS = "^(TestGroupETL|TestGroupSimple|TestTxnEtl)$"
_TIMEOUT_S = 285
_OUTCOMES = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_PLAIN: Mapping[str, str] = {
    "KGO_TEST_RF": "1",
    RECORDS: "2000",
    "KGO_TEST_MAX_TOPIC_PARTS": "7",
    "KGO_LOG_LEVEL": "none",
}
_CHAOS = {"KGO_TEST_CHAOS": "1"}


def _obtain() -> Path:
    return once(f"franz-go-{_VERSION}", _built) / "kgo.test"


def _built(folder: Path) -> None:
    go = needed("go")
    environment = {**os.environ, "GOFLAGS": ""}
    (folder / "go.mod").write_text("module peers\n\ngo 1.26\n", encoding="utf-8")
    do([go, "get", "-t", f"{_PACKAGE}@v{_VERSION}"], folder, environment)
    do([go, "test", "-c", "-p", "1", "-o", "kgo.test", _PACKAGE], folder, environment)


def _run(environment: Mapping[str, str], tests: Path, place: Place) -> Sequence[Case]:
    told = printed(tests, place, _TESTS, environment, _TIMEOUT_S)
    found = list(read(told))
    if not found:
        raise SuiteError(tail(told))
    return found


def printed(
    tests: Path, place: Place, names: str, environment: Mapping[str, str], timeout_s: float
) -> str:
    """What `go tool test2json` prints of the tests with these names, a regular expression.

    Raises:
        SuiteError: they take too long.
    """
    report = (needed("go"), "tool", "test2json", "-t", tests)
    command = (*report, "-test.v=test2json", f"-test.run={names}")
    return ended(
        (*command, f"-test.timeout={timeout_s - 5:.0f}s"),
        {**_PLAIN, **environment, "KGO_SEEDS": place.bootstrap_servers},
        place.folder,
        timeout_s,
    ).said


def events_in(said: str) -> list[Mapping[str, str]]:
    """What `go tool test2json` prints, without lines that are none of its own."""
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def read(said: str) -> Iterator[Case]:
    """A test with variants is no more than they are; their own names have slashes too."""
    events = events_in(said)
    begun = [event["Test"] for event in events if event["Action"] == "run"]
    ends = {
        event["Test"]: _OUTCOMES[event["Action"]]
        for event in events
        if event["Action"] in _OUTCOMES and "Test" in event
    }
    for name in begun:
        if "/" in name or not any(other.startswith(f"{name}/") for other in begun):
            outcome = ends.get(name, Outcome.FAILED)
            yield Case(name, outcome, "" if outcome is Outcome.PASSED else _why(events, name))


def _why(events: Sequence[Mapping[str, str]], name: str) -> str:
    """Where its lines do not say, those of the test that it is a variant of."""
    for owner in (name, name.partition("/")[0]):
        lines = (e["Output"] for e in events if e["Action"] == "output" and e.get("Test") == owner)
        said = [line for line in lines if not line.lstrip().startswith(("===", "---"))]
        if said:
            return in_a_line(" ".join(said))
    return "it did not end"


FRANZ_GO = Suite("franz-go", _obtain, partial(_run, {}))
FRANZ_GO_CHAOS = Suite("franz-go-chaos", _obtain, partial(_run, _CHAOS))
