"""Monitors of a run: its progress, outages of Kafka or of this process, a new owner of the tables, and a wrong clock of this machine."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.background import repeat
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.deadlines import Outage
from group_coordinator.driver.errors import StartUpError
from group_coordinator.streaming.checkpoint.ownership import check_still_owner
from group_coordinator.tables.claims import WRITERS
from group_coordinator.tables.delta_errors import in_one_line
from group_coordinator.tables.writer import Writer

_LOOK_S = 2.0
_WAIT_S = 0.1

OUTAGE_MS = 6_000
"""Shorter silence is no outage: no session is shorter (Kafka's default of group.min.session.timeout.ms)."""

_log = logging.getLogger(__name__)


class KafkaMonitor:
    """Asks Kafka every other second, in a thread of its own; `ask` returns when the leaders of the events topic have responded."""

    def __init__(
        self, ask: Callable[[], None], note: Callable[[Outage], None], stop: Event
    ) -> None:
        self._ask = ask
        self._note = note
        self._stop = stop
        self._heard_s = time.monotonic()
        self._is_away = False

    def run(self, ended: Event) -> None:
        repeat(self.look, ended, _LOOK_S)

    def look(self) -> None:
        try:
            self._ask()
        except BrokerUnreachableError as failure:
            # Once per outage: the look is repeated every other second.
            if not self._is_away:
                _log.warning("batches wait for Kafka: %s", failure)
            self._is_away = True
            return
        self._is_away = False
        silent_ms = self._silent_ms
        # Noted at its end, as only then is its length known; batches wait meanwhile (await_contact).
        if silent_ms > OUTAGE_MS:
            _log.warning("no response of Kafka for %d s: sessions start again", silent_ms // 1000)
            now_ms = time.time_ns() // 1_000_000
            self._note(Outage(now_ms - silent_ms, now_ms, was_heard=False))
        self._heard_s = time.monotonic()

    def await_contact(self) -> None:
        """Return once an outage has ended and is noted, or at the end of the run; at once if there is none."""
        if self._silent_ms > OUTAGE_MS:
            _log.debug("batch waits for Kafka: silent_ms=%d", self._silent_ms)
        while self._silent_ms > OUTAGE_MS and not self._stop.wait(_WAIT_S):
            pass

    @property
    def _silent_ms(self) -> int:
        return round((time.monotonic() - self._heard_s) * 1000)


_INTERVAL_S = 15
# A look is two requests there, even while the job is idle. A process that writes notices a new owner by that.
_INTERVAL_ON_S3_S = 60


class OwnerMonitor:
    """Reads the table writers now and then: a former owner that appends nothing would otherwise respond forever."""

    def __init__(self, spark: SparkSession, writer: Writer) -> None:
        self._spark = spark
        self._writer = writer
        self._folder = writer.catalog.direct(WRITERS.name)
        self._interval_s = _INTERVAL_ON_S3_S if isinstance(self._folder, str) else _INTERVAL_S
        self._seen: DeltaTable | None = None
        self._next_s = time.monotonic() + self._interval_s

    def look(self, _query: StreamingQuery) -> None:
        """Look, if it is due. Raises NotTheWriterError if another checkpoint is the owner."""
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + self._interval_s
        try:
            if self._is_as_before():
                return
            check_still_owner(self._spark, self._writer)
        except (DeltaError, OSError, PySparkException, Py4JError) as failure:
            # A table object may be inconsistent after a failure, so the next look opens the table again.
            self._seen = None
            _log.warning(
                "the table writers cannot be read, and is read again later: %s",
                in_one_line(failure),
            )

    def _is_as_before(self) -> bool:
        # A read of the table takes more requests than a look at its version, and claims are rare.
        if not isinstance(self._folder, str):
            return False
        if self._seen is None:
            self._seen = DeltaTable(self._folder)
            return False
        version = self._seen.version()
        self._seen.update_incremental()
        return self._seen.version() == version


_CLOCK_LOOK_S = 60.0


def check_clock(ahead_ms: int, slack_ms: int) -> None:
    """Refuse a clock that is too far ahead of, or behind, the brokers' clocks, with StartUpError."""
    if abs(ahead_ms) > slack_ms:
        raise StartUpError(
            f"the clock of this machine is {abs(ahead_ms)} ms {'ahead of' if ahead_ms > 0 else 'behind'} the "
            f"brokers', more than timer.slack.ms = {slack_ms}: sessions would be too short or too long. Set the "
            "clock (NTP) of this machine or of the brokers"
        )


class Clock:
    """Compares the clocks at a start, and again after this machine's clock was set; `measure` returns by how much it is ahead."""

    def __init__(self, measure: Callable[[], int], slack_ms: int) -> None:
        self._measure = measure
        self._slack_ms = slack_ms
        self._lock = Lock()
        self._offset_ms = _offset_ms()
        self._next_s = time.monotonic() + _CLOCK_LOOK_S

    def check(self, ahead_ms: int) -> None:
        self._offset_ms = _offset_ms()
        check_clock(ahead_ms, self._slack_ms)

    def look(self, _query: StreamingQuery) -> None:
        """Log a warning once a minute if the clock has drifted."""
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + _CLOCK_LOOK_S
        ahead_ms = self._measured()
        if ahead_ms is not None and abs(ahead_ms) > self._slack_ms:
            _log.warning("the clock of this machine is %d ms ahead of the brokers'", ahead_ms)

    def is_wrong(self) -> bool:
        """Return True if the clock was set, and is not known to be right again."""
        with self._lock:
            # The difference to the monotonic clock changes only when the wall clock is set: no request is needed.
            if abs(_offset_ms() - self._offset_ms) <= self._slack_ms:
                return False
            ahead_ms = self._measured()
            if ahead_ms is None or abs(ahead_ms) > self._slack_ms:
                _log.debug("clock: ahead_ms=%s slack_ms=%d batches=held", ahead_ms, self._slack_ms)
                # The next batch measures again.
                return True
            self._offset_ms = _offset_ms()
        _log.warning("the clock of this machine was set, and agrees with the brokers'")
        return False

    def _measured(self) -> int | None:
        try:
            return self._measure()
        except BrokerUnreachableError:
            # Another monitor reports that no broker responds.
            return None


def _offset_ms() -> int:
    # Only the wall clock may be set, so a change of the difference shows it.
    return (time.time_ns() - time.monotonic_ns()) // 1_000_000


class ProgressReport:
    """Logs the latest batch of a query that had events, a line a second, and keeps the latest batch in a file, if one is given.

    The query is polled: a StreamingQueryListener would take a tenth of the processor time of a job with short batches, as in Python
    each call takes the JVM dozens of searches through its whole class path.
    """

    def __init__(self, file: Path | None, idle_ms: Callable[[int], int]) -> None:
        """Take the function that returns the pause of an idle job within a batch, which is no part of its work."""
        self._file = file
        self._idle_ms = idle_ms
        self._reported = -1

    def look(self, query: StreamingQuery) -> None:
        progress = query.lastProgress
        if progress is None or progress.batchId == self._reported:
            return
        self._reported = progress.batchId
        batch = {
            "batch_id": progress.batchId,
            "events": progress.numInputRows,
            "groups": sum(operator.numRowsTotal for operator in progress.stateOperators),
            "batch_ms": progress.batchDuration - self._idle_ms(progress.batchId),
            "started_at": progress.timestamp,
        }
        if batch["events"]:
            _log.info(
                "batch %(batch_id)d: %(events)d events, %(groups)d groups, %(batch_ms)d ms", batch
            )
        self._keep(batch)

    def _keep(self, batch: dict[str, Any]) -> None:
        if self._file is not None:
            # Renamed, so that a reader never sees half a file.
            fresh = self._file.with_suffix(".new")
            fresh.write_text(json.dumps(batch))
            fresh.replace(self._file)
