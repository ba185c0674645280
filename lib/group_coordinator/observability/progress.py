"""Progress of the job: a line a second if there were events, and a small file for monitoring.

The query is polled: a StreamingQueryListener would take a tenth of the processor time of a job with short batches, as in Python
each call takes the JVM dozens of searches through its whole class path.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

_log = logging.getLogger(__name__)


class ProgressReport:
    """Logs the latest batch of a query that had events, and keeps the latest batch in a file, if one is given."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
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
            "batch_ms": progress.batchDuration,
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
