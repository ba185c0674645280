"""Causes of failures in other layers and of a streaming query, as a sentence that ends the run.

The cause is found by the texts of Kafka's client, the operating system and Delta: the failure passes through Java, Python and Java
again, and only its text arrives complete. A timestamp that Spark cannot read is such a cause, too: a client may set any number of
64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from pyspark.errors import StreamingQueryException

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import TopicsError
from group_coordinator.clients.errors import ClientError
from group_coordinator.driver.errors import StartUpError
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.file_lock import (
    CheckpointInUseError,
    UnwritableCheckpointError,
)
from group_coordinator.streaming.checkpoint.folder import DamagedFileError
from group_coordinator.streaming.checkpoint.ownership import CheckpointError
from group_coordinator.streaming.rebuild.rebuild import ForeignLogError
from group_coordinator.streaming.spark_lines import UnknownSparkError
from group_coordinator.tables.append import TableWriteError
from group_coordinator.tables.catalog import TablesRootError
from group_coordinator.tables.creation import MissingTablesError
from group_coordinator.tables.storage_errors import StorageError, root_cause
from group_coordinator.tables.writer import NotTheWriterError

LAST_MS = (2**63 - 1) // 1000
"""Latest time of Spark, which counts microseconds in 64 bits; the earliest is -LAST_MS."""
_PATIENCE_MS = 10_000


class UnreadableTime(NamedTuple):
    partition: int
    offset: int
    timestamp_ms: int


def unreadable_time(
    connection: Connection, topic: str, stretches: Iterable[tuple[int, range]]
) -> UnreadableTime | None:
    """Find the first such record in these offsets of partitions; None: there is no committed record. Raises ChannelError."""
    with connection.opened(
        KafkaConsumer,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        # The query reads committed records only.
        isolation_level="read_committed",
    ) as consumer:
        for partition, offsets in stretches:
            for record in _records(consumer, TopicPartition(topic, partition), offsets):
                if abs(record.timestamp) > LAST_MS:
                    return UnreadableTime(partition, record.offset, record.timestamp)
    return None


def _records(consumer: KafkaConsumer, partition: TopicPartition, offsets: range) -> Iterator[Any]:
    """Yield records up to an open transaction at most."""
    consumer.assign([partition])
    consumer.seek(partition, offsets.start)
    position = offsets.start
    while position < offsets.stop:
        found = consumer.poll(timeout_ms=_PATIENCE_MS)
        yield from found.get(partition, ())
        # No progress: the rest belongs to an open transaction.
        if consumer.position(partition) == position:
            return
        position = consumer.position(partition)


_CAUSES = (
    ClientError,
    CheckpointError,
    CheckpointInUseError,
    DamagedFileError,
    ForeignLogError,
    MissingTablesError,
    NotTheWriterError,
    StorageError,
    TableWriteError,
    TablesRootError,
    TopicsError,
    UnknownSparkError,
    UnwritableCheckpointError,
)


@contextmanager
def reported_start_errors() -> Iterator[None]:
    """Turn errors that a user can fix into StartUpError."""
    try:
        yield
    except _CAUSES as error:
        raise StartUpError(str(error)) from error


_KAFKA = r"org\.apache\.kafka\.common\.errors\."
_OUTAGE = re.compile(
    rf"{_KAFKA}(?:Timeout|Disconnect|Network|BrokerNotAvailable|LeaderNotAvailable|NotLeaderOrFollower"
    r"|NotEnoughReplicas\w*|RecordTooLarge)Exception[^\n]*|Cannot fetch record for offset[^\n]*|BrokerUnreachableError: [^\n]*"
)
_DENIAL = re.compile(rf"{_KAFKA}\w*(?:Authorization|Authentication)Exception: ([^\n]*)")
_LOST = re.compile(
    r"KAFKA_DATA_LOSS|Some data may have been lost because they are not available in Kafka"
)
_DELETED = "kafka.common.errors.UnknownTopicOrPartitionException"
_UNREADABLE_TIME = re.compile(
    r"ArithmeticException: long overflow(?:\s+at [^\n]*){1,20}KafkaRecordToRowConverter"
)
_OURS = re.compile(
    r"(?:TableWriteError|NotTheWriterError|AccessDeniedError|LoginRefusedError): ([^\n]*)"
)
"""Errors of this program with a complete message."""
_DISK = re.compile(
    r"[^\n]*(?:No space left on device|Disk quota exceeded|Read-only file system|Permission denied"
    r"|Not a directory|Input/output error)[^\n]*"
)

_SECOND_RUN = "CONCURRENT_STREAM_LOG_UPDATE"
"""Spark's error class if a checkpoint file that it wants to write exists."""
_HDFS = re.compile(
    r"(?:Call From|No Route to Host from|End of File Exception between|Invalid host name:|DestHost:destPort) "
    r"[^\n]*?(?=; For more details see:|$)",
    re.MULTILINE,
)
"""Hadoop's messages about a server that does not respond."""
_SLOW_WORKER = "Python worker failed to connect back"
_S3 = re.compile(r"org\.apache\.hadoop\.fs\.s3a\.|software\.amazon\.awssdk\.")


@contextmanager
def reported_query_failures(job: JobSettings) -> Iterator[None]:
    """Turn a query's failure that a user can fix into StartUpError."""
    try:
        yield
    except StreamingQueryException as failure:
        message = sentence(str(failure), job)
        if message is None:
            raise
        raise StartUpError(message) from failure


def outage(text: str) -> str | None:
    """Return the message of Kafka's client if the query failed because no broker responded in time."""
    return _found(_OUTAGE, text)


def has_lost_records(text: str) -> bool:
    """Return True if the query failed because unread records were removed."""
    return _LOST.search(text) is not None


def has_unreadable_time(text: str) -> bool:
    """Return True if the query failed at a timestamp that Spark's Kafka source cannot read, although it is unused."""
    return _UNREADABLE_TIME.search(text) is not None


def has_slow_worker(text: str) -> bool:
    """Return True if the query failed because a Python process of Spark took longer to start than Spark waits."""
    return _SLOW_WORKER in text


def unreadable_time_message(job: JobSettings, where: str) -> str:
    """Return the remedy for such a record; `where` is its position, with a space behind it."""
    return (
        f"topic {job.events_topic} at {job.bootstrap_servers} has a record {where}whose timestamp Spark cannot "
        f"read: it is not within {LAST_MS} ms of 1970. Write a newer record with its key, or a tombstone, and "
        "start again when the log cleaner has removed the record; or mirror a copy of the topic without the "
        "record, under another name. The settings message.timestamp.before.max.ms and "
        "message.timestamp.after.max.ms of the topic prevent such records"
    )


def sentence(text: str, job: JobSettings) -> str | None:
    """Return the fault and the remedy for the user; None: unknown."""
    denial = _DENIAL.search(text)
    # The most specific cause first, as its text may also match a later pattern.
    if denial is not None:
        # A login may be in other settings than these, or have no name.
        name = job.security.sasl_username
        user = f"user {name}" if name else "this user"
        return f"Kafka at {job.bootstrap_servers} denies {user}: {denial[1]}"
    message = _OURS.search(text)
    if message is not None:
        return message[1]
    if _SECOND_RUN in text:
        return (
            f"checkpoint.location = {job.checkpoint_location}: another run works on this checkpoint, and has "
            "written a batch before this run: this run ends, and nothing is lost"
        )
    about = _about_machine(text) or _about_storage(text, job) or _about_topic(text, job)
    if about is not None:
        return about
    # Last, as nearly every failure of Kafka has a timeout in its text.
    waited = outage(text)
    return (
        None if waited is None else f"Kafka at {job.bootstrap_servers} does not respond: {waited}"
    )


def _about_machine(text: str) -> str | None:
    if not has_slow_worker(text):
        return None
    return (
        "a Python process of Spark did not start within 10 s: this machine has too much other work. Start "
        "again when its load is lower, or on another machine; nothing is lost"
    )


def _about_storage(text: str, job: JobSettings) -> str | None:
    folders = f"tables.root = {job.tables_root}, checkpoint.location = {job.checkpoint_location}"
    silent = _found(_HDFS, text)
    if silent is not None:
        return f"HDFS does not respond ({folders}): {silent}"
    if _S3.search(text):
        return f"a request to S3 failed ({folders}): {root_cause(text)}"
    broken = _found(_DISK, text)
    if broken is None:
        return None
    return f"a folder of the job cannot be written ({folders}): {broken.strip().lstrip(': ')}"


def _about_topic(text: str, job: JobSettings) -> str | None:
    if has_lost_records(text) or _DELETED in text:
        return (
            f"topic {job.events_topic} at {job.bootstrap_servers} has lost records that were not read yet: they "
            "are older than its retention, or the topic was deleted or created again. Their events are missing in "
            "the tables, so this run cannot continue. To begin with the topic's present records, set another "
            "cluster.id and another checkpoint.location"
        )
    return unreadable_time_message(job, "") if has_unreadable_time(text) else None


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else found[0]
