"""Fencing: only one checkpoint, the owner, may write a cluster's rows.

Two checkpoints that write the same rows would each be right alone, and together make a log that no group has lived. A lock cannot
prevent it: a driver that was paused for an hour still believes that it holds the lock. So the tables decide, at each append.

1. A checkpoint has an identity, the file writer.json. The table `writers` has its claim, with an epoch that only grows.
2. At a start `check_may_write` compares the two, before the first response.
3. A new checkpoint claims the rows: identity, claim, then the epoch in the identity. After a crash the next start continues there.
4. `take_over`, for a rebuild, claims the next epoch and leaves a mark with it in each table. From then on the tables reject the
   appends of the former owner, even in the middle of its batch (tables/writer.py).
5. A former owner that appends nothing notices the claim by `check_still_owner` (driver/tasks/monitors.py), and ends.

Two drivers on the same checkpoint have the same identity: the file lock (file_lock.py) and Spark's offset log tell these apart.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from secrets import token_hex
from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from msgspec import Struct, json
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import group_coordinator
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    QUERY_NAME,
    checkpoint_of,
    has_begun,
    last_planned_batch,
    read_origin,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import Claim, newest_claim, write_claim
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.failed_events import DEAD_LETTERS, DENIALS
from group_coordinator.tables.storage_errors import storage_named
from group_coordinator.tables.views.definition import in_datafusion
from group_coordinator.tables.writer import NotTheWriterError, Writer

_log = logging.getLogger(__name__)


def is_copy(
    spark: SparkSession,
    folder: CheckpointFolder,
    place: str,
    who: Callable[[CheckpointFolder], str | None],
) -> bool:
    """Return True if a checkpoint that ran at another place still exists there.

    A folder may have several addresses, so the test is whether a file written here appears there. `place` is its whole address
    when it ran last, and `who` returns the identity of a checkpoint.
    """
    probe = f".probe-{token_hex(8)}"
    try:
        there = CheckpointFolder(spark, place)
        if who(there) != who(folder):
            return False
        # Two addresses of the same folder show the same file, two folders do not.
        folder.write(probe, "")
        return not there.exists(probe)
    except (Py4JJavaError, PySparkException) as error:
        _log.warning("cannot see if a checkpoint exists at %s: %s", place, error)
        return False
    finally:
        folder.remove(probe)


WRITTEN = (COORDINATOR_LOG, DEAD_LETTERS, DENIALS)
"""Tables to which a batch is appended, in this order: a batch with dead letters or denials there has its records too."""

_IDENTITY = "writer.json"


class CheckpointError(RuntimeError):
    """The checkpoint does not fit the tables, is missing, or exists where none may be."""


class Claimant(NamedTuple):
    """A query that claims a cluster's rows, and the remedies of its start-up errors: ends of sentences."""

    query_name: str
    to_read_another_topic: str
    to_take_over: str
    """Next to a cluster.id of its own; may be empty."""
    where_it_is_older: str
    where_it_is_lost: str

    def folder(self, spark: SparkSession, job: JobSettings) -> CheckpointFolder:
        return CheckpointFolder(spark, checkpoint_of(job, self.query_name))


COORDINATOR = Claimant(
    QUERY_NAME,
    "move it away and run `group-coordinator rebuild`",
    "; or, if that checkpoint is lost or must not write any more, end its run, move this checkpoint away "
    "and run `group-coordinator rebuild`",
    "Move it away, and run `group-coordinator rebuild` with the same settings",
    "run `group-coordinator rebuild` with the same settings first",
)


class Identity(Struct, frozen=True):
    """The identity of a checkpoint and its place: `epoch` is None until the table writers has its claim."""

    writer_id: str
    epoch: int | None = None
    place: str | None = None
    """The address in full of the checkpoint when it ran last."""


def checked_writer(
    spark: SparkSession,
    job: JobSettings,
    before_the_first_event: Callable[[], None],
    claimant: Claimant = COORDINATOR,
) -> Writer:
    """Return the writer of the checkpoint. A new checkpoint claims the cluster's rows. Args and raises: see `check_may_write`."""
    identity = check_may_write(spark, job, before_the_first_event, claimant)
    if identity.epoch is None:
        return _claimed(spark, job, identity, 1, claimant)
    folder = claimant.folder(spark, job)
    _log.debug("ownership: checkpoint=%s epoch=%d", folder.location, identity.epoch)
    # The checkpoint was moved: the next start compares with the new place.
    if identity.place != folder.address_in_full:
        _write(folder, identity)
    return _writer(job, identity.epoch)


def check_may_write(
    spark: SparkSession,
    job: JobSettings,
    before_the_first_event: Callable[[], None],
    claimant: Claimant = COORDINATOR,
) -> Identity:
    """Return the identity of the checkpoint, without epoch if it has yet to claim the rows. Writes nothing that stays.

    `before_the_first_event` is called before a checkpoint that has never run claims anything; it may raise.

    Raises:
        CheckpointError: the checkpoint must not write the tables.
    """
    folder, catalog = claimant.folder(spark, job), TableCatalog(job.tables_root)
    # The age first: an old copy of a checkpoint has the right identity.
    _check_age(spark, job, folder, claimant)
    identity = _read(folder) or Identity(token_hex(8))
    _check_place(spark, folder, identity)
    owner = newest_claim(spark, catalog, job.cluster_id)
    # A crash between the claim and the note of its epoch leaves the identity without epoch.
    if identity.epoch is None and (owner is None or owner.writer_id == identity.writer_id):
        if not has_begun(folder) and read_origin(folder) is None:
            before_the_first_event()
        return identity
    if owner is None:
        raise CheckpointError(
            f"tables.root = {job.tables_root} has no rows of cluster.id = {job.cluster_id}, but checkpoint "
            f"{folder.location} has written before: set the tables.root and the cluster.id that it had"
        )
    if owner.writer_id != identity.writer_id:
        raise CheckpointError(_owned_by(owner, job, folder, claimant))
    if owner.events_topic != job.events_topic:
        raise CheckpointError(
            f"checkpoint {folder.location} reads topic {owner.events_topic}, not {job.events_topic}: to continue "
            f"with another topic, {claimant.to_read_another_topic}"
        )
    return Identity(identity.writer_id, owner.epoch, identity.place)


def is_lost(spark: SparkSession, job: JobSettings, claimant: Claimant) -> bool:
    """Return True if the checkpoint that owns the cluster's rows is missing from its place. For a run without a checkpoint.

    Raises CheckpointError: it is there, or its batches are of another topic.
    """
    folder, catalog = claimant.folder(spark, job), TableCatalog(job.tables_root)
    owner = newest_claim(spark, catalog, job.cluster_id)
    if owner is None:
        return False
    if owner.events_topic != job.events_topic or _is_there(spark, owner, folder):
        raise CheckpointError(_owned_by(owner, job, folder, claimant))
    return True


def _is_there(spark: SparkSession, owner: Claim, folder: CheckpointFolder) -> bool:
    # An unreachable place counts as empty: otherwise a lost store could never be replaced.
    if owner.checkpoint == folder.location:
        return False
    try:
        return _who(CheckpointFolder(spark, owner.checkpoint)) == owner.writer_id
    except Py4JJavaError as error:
        _log.warning("cannot see if checkpoint %s exists: %s", owner.checkpoint, error)
        return False


def take_over(spark: SparkSession, job: JobSettings, claimant: Claimant = COORDINATOR) -> Writer:
    """Make a checkpoint the owner of the cluster's rows in place of the present owner.

    Raises CheckpointError: another process took over at the same time.
    """
    catalog = TableCatalog(job.tables_root)
    owner = newest_claim(spark, catalog, job.cluster_id)
    epoch = 1 if owner is None else owner.epoch + 1
    _log.debug("ownership: take_over=%d from=%s", epoch, owner)
    writer = _claimed(spark, job, Identity(token_hex(8)), epoch, claimant)
    for table in WRITTEN:
        # A mark with the new epoch in each table fences the former owner, even in the middle of its batch.
        writer.shut_out_earlier_ones(spark, table)
    return writer


def check_still_owner(spark: SparkSession, writer: Writer) -> None:
    """Raise NotTheWriterError once another checkpoint has taken over."""
    owner = newest_claim(spark, writer.catalog, writer.cluster_id)
    if owner is not None and owner.epoch > writer.epoch:
        raise NotTheWriterError(
            f"checkpoint {owner.checkpoint} has taken over cluster.id = {writer.cluster_id}: this run ends"
        )


def _claimed(
    spark: SparkSession, job: JobSettings, identity: Identity, epoch: int, claimant: Claimant
) -> Writer:
    folder, catalog = claimant.folder(spark, job), TableCatalog(job.tables_root)
    # The identity is written first, without epoch: after a crash the next start finds its claim, or claims again.
    _write(folder, identity)
    claim = Claim(
        cluster_id=job.cluster_id,
        epoch=epoch,
        writer_id=identity.writer_id,
        checkpoint=folder.location,
        events_topic=job.events_topic,
        program_version=group_coordinator.__version__,
    )
    # Two starts may claim at the same time: the newest claim wins, so it is read again.
    write_claim(spark, catalog, claim)
    _log.debug("ownership: claim=%s", claim)
    owner = newest_claim(spark, catalog, job.cluster_id)
    if owner is None or owner.writer_id != identity.writer_id:
        raise CheckpointError(_owned_by(owner or claim, job, folder, claimant))
    _write(folder, Identity(identity.writer_id, owner.epoch))
    return _writer(job, owner.epoch)


def _writer(job: JobSettings, epoch: int) -> Writer:
    return Writer(TableCatalog(job.tables_root), job.cluster_id, epoch)


def _owned_by(owner: Claim, job: JobSettings, folder: CheckpointFolder, claimant: Claimant) -> str:
    return (
        f"cluster.id = {job.cluster_id} in tables.root = {job.tables_root} is written by checkpoint "
        f"{owner.checkpoint}, from topic {owner.events_topic}, and not by {folder.location}: set another "
        f"cluster.id{claimant.to_take_over}"
    )


def _check_age(
    spark: SparkSession, job: JobSettings, folder: CheckpointFolder, claimant: Claimant
) -> None:
    origin = read_origin(folder)
    # Rows of a later batch come from an earlier life of the checkpoint, so the checkpoint is an old copy.
    last_batch_id = last_planned_batch(folder) + (origin.first_batch_id if origin else 0)
    if not any(_is_ahead(spark, job, table.name, last_batch_id) for table in WRITTEN):
        return
    if has_begun(folder) or origin is not None:
        raise CheckpointError(
            f"checkpoint {folder.location} is older than the tables in tables.root = {job.tables_root}: it is at "
            f"batch {last_batch_id}, and they have later batches. {claimant.where_it_is_older}"
        )
    raise CheckpointError(
        f"{folder.location} has no checkpoint, but tables.root = {job.tables_root} has records of cluster.id = "
        f"{job.cluster_id}: {claimant.where_it_is_lost}"
    )


def _is_ahead(spark: SparkSession, job: JobSettings, table: str, batch_id: int) -> bool:
    catalog = TableCatalog(job.tables_root)
    # Without Spark where possible: Spark's first look at a table takes long.
    folder = catalog.direct(table)
    if folder is not None:
        later = f"cluster_id = {in_datafusion(job.cluster_id)} AND batch_id > {batch_id}"
        rows = QueryBuilder().register("written", DeltaTable(folder))
        found = rows.execute(f"SELECT batch_id FROM written WHERE {later} LIMIT 1")  # noqa: S608 - numbers and escaped names
        return bool(pa.table(found).num_rows)
    in_spark = (F.col("cluster_id") == job.cluster_id) & (F.col("batch_id") > batch_id)
    return not catalog.read(spark, table).where(in_spark).select("batch_id").isEmpty()


def _check_place(spark: SparkSession, folder: CheckpointFolder, identity: Identity) -> None:
    place = identity.place
    if place in {None, folder.address_in_full} or not is_copy(spark, folder, place, _who):
        return
    raise CheckpointError(
        f"{folder.location} is a copy of checkpoint {place}, which still exists, and only one of them may run: "
        "run the original, or move it away first"
    )


def _who(folder: CheckpointFolder) -> str | None:
    identity = _read(folder)
    return None if identity is None else identity.writer_id


def _read(folder: CheckpointFolder) -> Identity | None:
    return folder.read_as(_IDENTITY, Identity)


def _write(folder: CheckpointFolder, identity: Identity) -> None:
    here = Identity(identity.writer_id, identity.epoch, folder.address_in_full)
    with storage_named("checkpoint.location", folder.location):
        folder.write(_IDENTITY, json.encode(here).decode())
