"""What made a streaming query fail, where it is not a mistake of ours.

It is found by the texts that Kafka's client, the operating system and Delta leave: the failure passes through Java,
Python and Java again, and only its text comes through whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import StreamingQueryException

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.settings import JobSettings

_KAFKA = r"org\.apache\.kafka\.common\.errors\."
_OUTAGE = re.compile(
    rf"{_KAFKA}(?:Timeout|Disconnect|Network|BrokerNotAvailable|LeaderNotAvailable|NotLeaderOrFollower"
    r"|NotEnoughReplicas\w*)Exception[^\n]*|Cannot fetch record for offset[^\n]*|BrokerUnreachableError: [^\n]*"
)
_REFUSAL = re.compile(rf"{_KAFKA}\w*(?:Authorization|Authentication)Exception: ([^\n]*)")
_LOST = re.compile(
    r"KAFKA_DATA_LOSS|Some data may have been lost because they are not available in Kafka"
)
_OURS = re.compile(
    r"(?:TableWriteError|NotTheWriterError|AccessDeniedError|LoginRefusedError): ([^\n]*)"
)
"""Errors of this program that say it all."""
_DISK = re.compile(
    r"[^\n]*(?:No space left on device|Disk quota exceeded|Read-only file system|Permission denied"
    r"|Not a directory|Input/output error)[^\n]*"
)


@contextmanager
def query_failures_told(job: JobSettings) -> Iterator[None]:
    """Turn a query's failure that a user can mend into JobRefusedError."""
    try:
        yield
    except StreamingQueryException as failure:
        told = sentence(str(failure), job)
        if told is None:
            raise
        raise JobRefusedError(told) from failure


def outage(text: str) -> str | None:
    """What Kafka's client said if the query failed because no broker answered in time."""
    return _found(_OUTAGE, text)


def has_lost_records(text: str) -> bool:
    """Whether the query failed because records are gone that it had not read."""
    return _LOST.search(text) is not None


def sentence(text: str, job: JobSettings) -> str | None:
    """What the user can mend, and where; None: not known."""
    refusal = _REFUSAL.search(text)
    if refusal is not None:
        user = job.security.sasl_username or "ANONYMOUS"
        return f"Kafka at {job.bootstrap_servers} refuses user {user}: {refusal[1]}"
    told = _OURS.search(text)
    if told is not None:
        return told[1]
    broken = _found(_DISK, text)
    if broken is not None:
        folders = (
            f"tables.root = {job.tables_root}, checkpoint.location = {job.checkpoint_location}"
        )
        return f"a folder of the job cannot be written ({folders}): {broken.strip()}"
    if has_lost_records(text):
        return (
            f"topic {job.events_topic} at {job.bootstrap_servers} has lost records that were not read yet: they are older "
            "than its retention, or the topic was made anew. What they said is not in the tables, so this run cannot go "
            "on; a run with another cluster.id, and a checkpoint of its own, begins with what the topic has now"
        )
    waited = outage(text)
    return None if waited is None else f"Kafka at {job.bootstrap_servers} does not answer: {waited}"


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else found[0]
