"""Whatever happens to a run, the meters' totals are a count over the log."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.runtime.meters import counted
from group_coordinator.runtime.outputs import LogRow
from group_coordinator.streaming.meter_totals import MeterTotals
from group_coordinator.streaming.small_batch import BatchMeters
from tests.property.lives import CONTEXT, Script, scripts
from tests.support.files import FilesInMemory
from tests.support.group_updates import updated

STEPS = st.sampled_from(["batch", "batch", "batch", "again", "keep", "make up", "stop", "kill"])


class Run:
    """Writes the batches of a script; the tables have what each of them left."""

    def __init__(self, script: Script) -> None:
        self._rows = iter(script.rows)
        self._state: bytes | None = None
        self._files = FilesInMemory()
        self.log: list[Counter[str]] = []
        self.totals = MeterTotals(self._files, self._count)

    def take(self, step: str) -> None:
        match step:
            case "batch":
                self._next()
            case "again" if self.log:
                self._add_last()
            case "keep":
                self.totals.keep()
            case "make up":
                self.totals.make_up()
            case "stop" | "kill":
                if step == "stop":
                    self.totals.make_up()
                    self.totals.keep()
                self.totals = MeterTotals(self._files, self._count)

    def _next(self) -> None:
        row = next(self._rows, None)
        rows = [] if row is None else [row]
        at_ms = row.timestamp_ms if row else 2_000_000
        update = updated("g", self._state, rows, at_ms, CONTEXT)
        self._state = update.state
        outputs = (output for piece in update.pieces for output in piece.outputs)
        self.log.append(counted(output for output in outputs if isinstance(output, LogRow)))
        self._add_last()

    def _add_last(self) -> None:
        self.totals.add(len(self.log) - 1, BatchMeters(self.log[-1]))

    def _count(self, after: int, before: int) -> Counter[str]:
        return sum(self.log[after + 1 : before], Counter[str]())


@given(script=scripts(), steps=st.lists(STEPS, max_size=40))
def test_totals_are_a_count_over_the_log(script: Script, steps: list[str]) -> None:
    run = Run(script)
    for step in [*steps, "batch", "make up"]:
        run.take(step)

    assert run.totals.counts() == +sum(run.log, Counter[str]())
