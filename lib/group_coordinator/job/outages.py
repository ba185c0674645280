"""A broker that is away: the job waits for it, and goes on where it was."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event

from pyspark.errors import StreamingQueryException

from group_coordinator.clients.channel_errors import BrokerUnreachableError
from group_coordinator.job.query_failures import outage
from group_coordinator.streaming.retries import keep_trying

_PAUSE_S = 5
_log = logging.getLogger(__name__)


def outlast_outages(run: Callable[[], None], stop: Event) -> None:
    """Run, and run again as often as it ends because no broker answers; `stop` ends the waiting too.

    Kafka's clients wait for a minute or more before they give up. What the query was at is done again: the checkpoint
    has it.
    """
    keep_trying(
        run,
        stop,
        pause_s=_PAUSE_S,
        passes=lambda failure: _outage_in(failure) is not None,
        say=lambda failure, _: _log.warning(
            "the job waits for Kafka, and goes on when it answers: %s", _outage_in(failure)
        ),
    )


def _outage_in(failure: BaseException) -> str | None:
    """How it says that no broker answers; None: it is another failure."""
    match failure:
        case BrokerUnreachableError():
            return str(failure)
        case StreamingQueryException():
            return outage(str(failure))
        case _:
            return None
