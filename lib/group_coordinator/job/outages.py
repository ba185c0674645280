"""A broker that is away: the job waits for it, and goes on where it was."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event

from pyspark.errors import StreamingQueryException

from group_coordinator.background import keep_trying, repeat
from group_coordinator.clients.channel_errors import BrokerUnreachableError, ChannelError
from group_coordinator.job.query_failures import outage

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


def look_again_and_again(
    look: Callable[[], None], stop: Event, interval_s: float, said: str, log: logging.Logger
) -> None:
    """Look until `stop` is set; while no broker answers, say so once and go on trying.

    Args:
        look: raises ChannelError where the cluster does not answer; any other error goes on to the caller.
        stop: ends it.
        interval_s: the pause between two looks, and between two tries.
        said: what is done again when Kafka answers, such as "topics are looked at".
        log: of whom it is that looks.
    """

    def failed(failure: Exception, count: int) -> None:
        if not isinstance(failure, ChannelError):
            raise failure
        if count == 1:
            log.warning("%s again when Kafka answers: %s", said, failure)

    repeat(look, stop, interval_s, failed=failed)


def _outage_in(failure: BaseException) -> str | None:
    """How it says that no broker answers; None: it is another failure."""
    match failure:
        case BrokerUnreachableError():
            return str(failure)
        case StreamingQueryException():
            return outage(str(failure))
        case _:
            return None
