"""A checkpoint that was copied: the copy has the identity of the original, and both would write."""

from __future__ import annotations

import logging
from collections.abc import Callable
from secrets import token_hex

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.streaming.checkpoint.folder import CheckpointFolder

_log = logging.getLogger(__name__)


def is_copy(
    spark: SparkSession,
    folder: CheckpointFolder,
    place: str,
    who: Callable[[CheckpointFolder], str | None],
) -> bool:
    """Whether a checkpoint that ran at another place is still there.

    A folder may have several addresses, so what counts is whether a file that is written here is seen there.

    Args:
        spark: the session.
        folder: the checkpoint that is about to run.
        place: its whole address when it ran last.
        who: says who a checkpoint is.
    """
    probe = f".probe-{token_hex(8)}"
    try:
        there = CheckpointFolder(spark, place)
        if who(there) != who(folder):
            return False
        folder.write(probe, "")
        return not there.exists(probe)
    except (Py4JJavaError, PySparkException) as error:
        _log.warning("whether a checkpoint is left at %s cannot be seen: %s", place, error)
        return False
    finally:
        folder.remove(probe)
