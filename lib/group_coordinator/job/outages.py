"""A broker that is away: the job waits for it, and goes on where it was."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event

from pyspark.errors import StreamingQueryException

from group_coordinator.clients.channel_errors import BrokerUnreachableError
from group_coordinator.job.query_failures import outage

_PAUSE_S = 5
_log = logging.getLogger(__name__)


def outlast_outages(run: Callable[[], None], stop: Event) -> None:
    """Run, and run again as often as it ends because no broker answers; `stop` ends the waiting too.

    Kafka's clients wait for a minute or more before they give up. What the query was at is done again: the checkpoint
    has it.
    """
    while not stop.is_set():
        try:
            run()
        except (StreamingQueryException, BrokerUnreachableError) as failure:
            cause = (
                outage(str(failure)) if isinstance(failure, StreamingQueryException) else failure
            )
            if cause is None:
                raise
            _log.warning("the job waits for Kafka, and goes on when it answers: %s", cause)
            stop.wait(_PAUSE_S)
        else:
            return
