"""The growth of partitions' logs from sample to sample, and their newest ends."""

from __future__ import annotations

MOMENT = "INTERVAL '0.999' SECOND"
"""SQL for the largest distance of samples of the same moment: two samplers date an end by their own clocks, each halfway through
its round, so the later row may have the lower end.
"""

SAMPLERS = 3
"""Samplers of a topic whose samples can be distinguished from a log that goes back."""

BEGINS = "from_at IS NULL OR log_end_offset < from_offset OR log_start_offset < from_start"
"""SQL for the condition that a sample is the first of a log: a lower end or beginning belongs to another log. The topic
was created again, or an unclean leader cut it.
"""

_IN_TIME = "PARTITION BY cluster_id, topic, `partition` ORDER BY sampled_at, log_end_offset"
# The same order, which is sorted only once.
_OF_MOMENTS = "PARTITION BY cluster_id, topic, `partition` ORDER BY sampled_at, sampled_end"


def reached(offset: str, at: str, in_time: str) -> str:
    """Return SQL for the largest of the offsets that the samples of the same moment have, up to this sample.

    A log that has really gone back is lower in the later samples, and begins with the first sample a moment later. `in_time` is
    a window with a partition's samples in the order of time.
    """
    # max(...) over a RANGE would be exact for any number of samplers, but takes longer than all the rest of a view.
    earlier = (
        f"CASE WHEN lag({at}, {back}) OVER ({in_time}) >= {at} - {MOMENT} THEN lag({offset}, {back}) OVER ({in_time}) END"
        for back in range(1, SAMPLERS)
    )
    return f"greatest({', '.join([offset, *earlier])})"


def position_steps(samples: str = "$topic_positions") -> str:
    """Return SQL for samples, each with the sample before: `from_offset` and `from_at`, null if the sample `begins` a log.

    Ends are the highest that were `reached` by then. `from_open`: a transaction was open at the sample before.
    The end of the log was at an offset g < log_end_offset between from_at and sampled_at, if from_offset <= g.
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
    """Return a hint for Spark, behind SELECT: this side of a join with topic_positions is small. A comment for DataFusion."""
    # Twelve million samples are a file of 9 MB: by its size Spark would send them to all workers, and run out of memory.
    return f"/*+ BROADCAST({side}) */"


def large(side: str) -> str:
    """Return a hint for Spark: this side of a join is made of samples, and may be larger than it looks."""
    return f"/*+ MERGE({side}) */"


def micros(timestamp: str) -> str:
    return f"CAST($micros({timestamp}) AS BIGINT)"


def seconds_behind(offset: str, at: str) -> str:
    """Return SQL for the seconds since the log's end was at an offset, up to a sample; of the step with the offset."""
    # If the log did not grow for a while, they begin at the end of that while: before, there was nothing to read.
    return f"""
    CAST({micros(at)} - {micros("coalesce(from_at, step_at)")} AS DOUBLE) / 1000000
    - coalesce(
      CAST({micros("step_at")} - {micros("from_at")} AS DOUBLE) / 1000000
        * CAST({offset} - from_offset AS DOUBLE) / CAST(to_offset - from_offset AS DOUBLE),
      CAST(0 AS DOUBLE)
    )"""


FIRST_LEFT = "least(greatest(committed_offset, log_start_offset), log_end_offset - 1)"
"""SQL for the first offset left to read, of a log that ends behind the committed offset; of an empty log, its last offset,
which may be a transaction marker.
"""


def is_marker(lag: str, held_back: str, from_open: str) -> str:
    """Return SQL for the condition that only a transaction marker is left, which commits of the last record's offset + 1 never pass.

    One offset is left, no transaction is open, and one was open at the sample before the log last grew. The last offset is then
    its marker or that of a later transaction, unless a producer writes without transactions.
    """
    return f"({lag} = 1 AND {held_back} = 0 AND coalesce({from_open}, false))"


def how_it_is_known(offset: str) -> str:
    return f"""
    CASE WHEN from_offset IS NULL THEN 'at-least' WHEN from_offset = {offset} THEN 'exact' ELSE 'interpolated' END"""


def _newest(samples: str) -> str:
    return f"""
SELECT cluster_id, max(sampled_at) AS sampled_at FROM {samples} GROUP BY cluster_id
"""  # noqa: S608 - texts of our own


NEWEST_SAMPLES = _newest("$topic_positions")
"""The time of each cluster's newest sample, which is the present time of queries about lag."""


def since(before_newest: str, samples: str = "$topic_positions") -> str:
    """Return SQL for a time an interval before the newest sample, of the cluster whose newest sample is the oldest."""
    # A comparison with one value skips a year of rows in less time than a join.
    # Without LIMIT Spark merges several subqueries, and then does not give its file readers the value.
    return f"""(
      SELECT sampled_at - {before_newest} AS since FROM ({_newest(samples)}) newest_of_clusters ORDER BY since LIMIT 1
    )"""  # noqa: S608 - texts of our own


_FIRST_THAT_COUNTS = since("INTERVAL '5' MINUTE")

# A partition may be missing in one round, as it has no leader for a moment, and several samplers may divide the topics
# among them. A topic without a sample for so long is deleted. Of samples of one moment all rows count: the reader takes
# the largest end.
POSITIONS_NOW = f"""
SELECT cluster_id, topic, `partition`, log_start_offset, log_end_offset, last_stable_offset, sampled_at
FROM (
  SELECT {small("newest")} samples.*,
    max(samples.sampled_at) OVER (PARTITION BY samples.cluster_id, samples.topic, samples.`partition`) AS last_sampled_at
  FROM $topic_positions samples
  JOIN ({NEWEST_SAMPLES}) newest
    ON newest.cluster_id = samples.cluster_id AND samples.sampled_at >= newest.sampled_at - INTERVAL '5' MINUTE
  WHERE samples.sampled_at >= {_FIRST_THAT_COUNTS}
) recent
WHERE sampled_at >= last_sampled_at - {MOMENT}
"""  # noqa: S608 - texts of our own
"""A partition's newest sample, unless it is five minutes older than the newest sample of its cluster."""
