"""A driver that was forgotten, or frozen, finds out that another checkpoint has taken over."""

from __future__ import annotations

import logging
import time

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.streaming.checkpoint.ownership import check_still_owner
from group_coordinator.tables.claims import WRITERS
from group_coordinator.tables.delta_errors import in_one_line
from group_coordinator.tables.writer import Writer

_INTERVAL_S = 15
_INTERVAL_ON_S3_S = 60
"""A look is two requests there, also of a job that rests; who appends, or writes a batch, finds out by that."""
_log = logging.getLogger(__name__)


class OwnerWatch:
    """Asks the table writers now and then: who appends nothing would otherwise answer for ever."""

    def __init__(self, spark: SparkSession, writer: Writer) -> None:
        self._spark = spark
        self._writer = writer
        self._folder = writer.catalog.direct(WRITERS.name)
        self._interval_s = _INTERVAL_ON_S3_S if isinstance(self._folder, str) else _INTERVAL_S
        self._seen: DeltaTable | None = None
        self._next_s = time.monotonic() + self._interval_s

    def look(self, _query: StreamingQuery) -> None:
        """Look, if it is time to.

        Raises:
            NotTheWriterError: another checkpoint writes now.
        """
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + self._interval_s
        try:
            if self._is_as_before():
                return
            check_still_owner(self._spark, self._writer)
        except (DeltaError, OSError, PySparkException, Py4JError) as failure:
            self._seen = None
            _log.warning(
                "the table writers cannot be read, and is asked again: %s", in_one_line(failure)
            )

    def _is_as_before(self) -> bool:
        """Whether the table on S3 has no new claim: to read it takes more requests, and few of them are ever new."""
        if not isinstance(self._folder, str):
            return False
        if self._seen is None:
            self._seen = DeltaTable(self._folder)
            return False
        version = self._seen.version()
        self._seen.update_incremental()
        return self._seen.version() == version
