"""`group-coordinator` with a function in the coordinator's place that knows no rule: the floor of responses.

Every event is answered and logged; what an answer says is not worked out. Sources, sinks and compaction are the job's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import msgspec
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from group_coordinator.cli.main import main
from group_coordinator.runtime.outputs import HEADER, LogRow, Output, Piece, ResponseRow
from group_coordinator.streaming import coordinator_query
from group_coordinator.streaming.operator.output_rows import OUTPUT, OutputRows

_STATE = b"x" * 200
_TIMEOUT_MS = 600_000


class _Event(msgspec.Struct):
    correlationId: str | None = None  # noqa: N815 - the JSON's name


_decode = msgspec.json.Decoder(_Event).decode


def _answer(
    key: tuple[str], frames: Iterable[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    outputs: list[Output] = []
    if not state.hasTimedOut:
        for frame in frames:
            for packed in frame["event"]:
                correlation_id = _decode(packed[HEADER.size :]).correlationId
                if correlation_id is not None:
                    answer = f'{{"groupId":"{key[0]}","correlationId":"{correlation_id}"}}'
                    outputs += [ResponseRow(None, answer.encode()), _log_row(key[0], len(outputs))]
    state.update((1, _STATE))
    state.setTimeoutDuration(_TIMEOUT_MS)
    if outputs:
        rows = OutputRows()
        rows.add(key[0], Piece(outputs, 0))
        yield pd.DataFrame(rows.take(), columns=OUTPUT.names, dtype=object)


def _log_row(group_id: str, seq: int) -> LogRow:
    """As many bytes as a commit's."""
    key = b'{"type":1,"data":{}}'
    value = b'{"version":4,"data":{"offset":1,"leaderEpoch":-1,"metadata":"","commitTimestamp":1}}'
    return LogRow(
        group_id, 1, key, value, "orders", 0, None, 1, "offset-commit", None, 1, 0, 0, seq
    )


def answer_everything(events: DataFrame, *_: object) -> DataFrame:
    """Takes the place of streaming.stateful.coordinate."""
    return events.groupBy("group_id").applyInPandasWithState(
        _answer,
        OUTPUT,
        "version int, snapshot binary",
        "append",
        GroupStateTimeout.ProcessingTimeTimeout,
    )


if __name__ == "__main__":
    # Workers find this module by its name; as __main__ it would be sent to them by value.
    from tests.benchmarks import identity_job

    coordinator_query.coordinate = identity_job.answer_everything
    main(sys.argv[1:], prog_name="group-coordinator")
