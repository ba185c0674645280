"""How the job is doing: a line a batch that had something to do, and a small file for whoever watches."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

_log = logging.getLogger(__name__)


class ProgressListener(StreamingQueryListener):
    """Logs a query's batches and keeps the last one in a file.

    Args:
        query_name: the query to watch.
        file: where the last batch goes as JSON; None: nowhere.
    """

    def __init__(self, query_name: str, file: Path | None) -> None:
        self._query_name = query_name
        self._file = file

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing to say yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """A batch is done."""
        progress = event.progress
        if progress.name != self._query_name:
            return
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

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Its end is told by the command."""

    def _keep(self, batch: dict[str, Any]) -> None:
        if self._file is not None:
            fresh = self._file.with_suffix(".new")
            fresh.write_text(json.dumps(batch))
            fresh.replace(self._file)
