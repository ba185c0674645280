"""How the logs of partitions grew from sample to sample, which says when a record was written."""

from __future__ import annotations

MOMENT = "INTERVAL '0.999' SECOND"
"""SQL for how far apart samples of one moment are at most: less than a second.

Two samplers tell an end by their own clocks, each halfway through its round. So the later row may have the lower end.
"""

SAMPLERS = 3
"""So many of a topic are told from a log that goes back."""

BEGINS = "from_at IS NULL OR log_end_offset < from_offset OR log_start_offset < from_start"
"""SQL for whether a sample is the first one of a log: one that goes back, at its end or its beginning, is another log. The topic
was made again, or an unclean leader cut it."""

_IN_TIME = "PARTITION BY cluster_id, topic, `partition` ORDER BY sampled_at, log_end_offset"
_OF_MOMENTS = "PARTITION BY cluster_id, topic, `partition` ORDER BY sampled_at, sampled_end"
"""The same order, which is sorted for once."""


def reached(offset: str, at: str, in_time: str) -> str:
    """SQL for the largest of the offsets that the samples of one moment have, up to this sample.

    A log that has gone back in fact is lower in the samples that follow, and begins with the first one that is a moment later.

    Args:
        offset: SQL of the offset.
        at: SQL of the sample's time.
        in_time: SQL of a window with a partition's samples in the order of time.
    """
    # max(...) over a RANGE would be exact for any number of samplers, and takes longer than all the rest of a view.
    earlier = (
        f"CASE WHEN lag({at}, {back}) OVER ({in_time}) >= {at} - {MOMENT} THEN lag({offset}, {back}) OVER ({in_time}) END"
        for back in range(1, SAMPLERS)
    )
    return f"greatest({', '.join([offset, *earlier])})"


def position_steps(samples: str = "$topic_positions") -> str:
    """SQL for samples, each with the previous sample: `from_offset` and `from_at`, null if the sample `begins` a log.

    Ends are the highest that were `reached` by then. `from_open`: a transaction was open at the previous sample.

    The end of the log was at an offset g < log_end_offset between from_at and sampled_at, if from_offset <= g.

    Args:
        samples: SQL of the rows of topic_positions, for a FROM clause.
    """
    return f"""
SELECT cluster_id, topic, `partition`, sampled_at, log_end_offset, begins,
  CASE WHEN NOT begins THEN from_offset END AS from_offset,
  CASE WHEN NOT begins THEN from_at END AS from_at,
  CASE WHEN NOT begins THEN from_open END AS from_open
FROM (
  SELECT beside.*, {BEGINS} AS begins
  FROM (
    SELECT moments.*,
      lag(sampled_at) OVER ({_OF_MOMENTS}) AS from_at,
      lag(log_end_offset) OVER ({_OF_MOMENTS}) AS from_offset,
      lag(log_start_offset) OVER ({_OF_MOMENTS}) AS from_start,
      lag(is_open) OVER ({_OF_MOMENTS}) AS from_open
    FROM (
      SELECT cluster_id, topic, `partition`, sampled_at, log_end_offset AS sampled_end,
        last_stable_offset < log_end_offset AS is_open,
        {reached("log_end_offset", "sampled_at", _IN_TIME)} AS log_end_offset,
        {reached("log_start_offset", "sampled_at", _IN_TIME)} AS log_start_offset
      FROM {samples} samples
    ) moments
  ) beside
) marked
"""  # noqa: S608 - texts of our own


def small(side: str) -> str:
    """A hint for Spark, behind SELECT: this side of a join with topic_positions is the small one. DataFusion takes it for a comment.

    Twelve million samples are a file of 9 MB: by its size Spark would send them to all workers, and run out of memory.
    """
    return f"/*+ BROADCAST({side}) */"


def large(side: str) -> str:
    """A hint for Spark likewise: this side of a join is made of samples, and may be larger than it looks."""
    return f"/*+ MERGE({side}) */"


def micros(timestamp: str) -> str:
    """SQL for the microseconds of a timestamp since 1970."""
    return f"CAST($micros({timestamp}) AS BIGINT)"


def seconds_behind(offset: str, at: str) -> str:
    """SQL for the seconds from when the log's end was at an offset until a sample; of a step that the offset is in.

    Where the log did not grow for a while, that is the end of the while: nothing was left to read before.
    """
    return f"""
    CAST({micros(at)} - {micros("coalesce(from_at, step_at)")} AS DOUBLE) / 1000000
    - coalesce(
      CAST({micros("step_at")} - {micros("from_at")} AS DOUBLE) / 1000000
        * CAST({offset} - from_offset AS DOUBLE) / CAST(to_offset - from_offset AS DOUBLE),
      CAST(0 AS DOUBLE)
    )"""


def is_marker(lag: str, held_back: str, from_open: str) -> str:
    """SQL for whether only a transaction marker is left, which consumers that commit the last record's offset + 1 never pass.

    So it is if one offset is left, no transaction is open, and a transaction was open at the sample before the log last grew. The
    last offset is then the marker of that transaction or of a later one, unless a producer writes without transactions.
    """
    return f"({lag} = 1 AND {held_back} = 0 AND coalesce({from_open}, false))"


def how_it_is_known(offset: str) -> str:
    """SQL for how good seconds_behind is."""
    return f"""
    CASE WHEN from_offset IS NULL THEN 'at-least' WHEN from_offset = {offset} THEN 'exact' ELSE 'interpolated' END"""
