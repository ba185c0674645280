"""The round of those who look at the cluster beside the query."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event

from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.streaming.retries import keep_trying


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

    def say_once(failure: BaseException, attempt: int) -> None:
        if attempt == 1:
            log.warning("%s again when Kafka answers: %s", said, failure)

    while not stop.wait(interval_s):
        keep_trying(
            look,
            stop,
            pause_s=interval_s,
            passes=lambda failure: isinstance(failure, ChannelError),
            say=say_once,
        )
