"""The yardstick: a stateful function that does nothing, in workers as Spark makes them.

This module must not import the operator, which makes the worker it is imported in cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

_STATE = b"x" * 200
_TIMEOUT_MS = 600_000
_WORKERS = "GROUP_COORDINATOR_BENCHMARK"


def identity(events: DataFrame) -> DataFrame:
    """The floor: give back a group's events as they came, keep 200 bytes."""
    # Spark shares workers between functions of equal environment: another one keeps these apart from the job's.
    environment = events.sparkSession.sparkContext.environment
    environment[_WORKERS] = "identity"
    try:
        return events.groupBy("group_id").applyInPandasWithState(
            _return,
            "event binary",
            "version int, snapshot binary",
            "append",
            GroupStateTimeout.ProcessingTimeTimeout,
        )
    finally:
        del environment[_WORKERS]


def _return(
    _: tuple[str], frames: Iterable[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    state.update((1, _STATE))
    state.setTimeoutDuration(_TIMEOUT_MS)
    for frame in frames:
        yield frame[["event"]]
