"""What franz-go's chains of groups say of a run with kills: which ran then, and what they lost or read twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from tests.peers.suite import Outcome
from tests.peers.suites.franz_go import events_in, read

_DOUBLED = re.compile(r"saw double offset t (\S+ p\d+o\d+)")
_KEYS = re.compile(r"consumers \d: got (\d+) keys != exp (\d+)")
_UNCHECKED = "stale commit encountered, skipping validation"


class ChainReport:
    """Read from what `go tool test2json` prints."""

    def __init__(self, said: str) -> None:
        self._events = events_in(said)
        self.cases = list(read(said))
        """Each chain with its outcome."""
        outputs = [event.get("Output", "") for event in self._events]
        counts = [tuple(map(int, found)) for line in outputs for found in _KEYS.findall(line)]
        doubled = {found for line in outputs for found in _DOUBLED.findall(line)}
        self.lost_count = sum(max(0, wanted - got) for got, wanted in counts)
        self.doubled_count = len(doubled) + sum(max(0, got - wanted) for got, wanted in counts)
        self.unchecked_count = sum(_UNCHECKED in line for line in outputs)
        """Chains that passed without a look at their records: a commit came with an epoch that was over."""

    def problems(self) -> Iterator[str]:
        """A sentence for each chain that did not pass."""
        for case in self.cases:
            if case.outcome is not Outcome.PASSED:
                yield f"{case.name} {case.outcome.value}: {case.why}"

    def running_at(self, moment: datetime) -> Sequence[str]:
        """Chains that had begun and had not ended."""
        begun, ended = self._moments("run"), self._moments("pass", "fail", "skip")
        return [
            case.name
            for case in self.cases
            if begun[case.name] < moment and not (case.name in ended and ended[case.name] <= moment)
        ]

    def _moments(self, *actions: str) -> dict[str, datetime]:
        return {
            event["Test"]: datetime.fromisoformat(event["Time"])
            for event in self._events
            if event["Action"] in actions and "Test" in event
        }
