"""The ACLs of a batch, kept in the checkpoint and given to every task of the batch.

A batch that is repeated uses the ACLs of its first attempt, even if they have changed since. So they are written before
its tasks begin. ACLs concern all groups and an event only one group: tasks get them apart from the events.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from threading import Lock

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.core.acls import Acls
from group_coordinator.streaming.checkpoint.batch_settings import began_with_rules
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import last_done_batch, last_planned_batch

PROPERTY = "group.coordinator.acls"
"""Name of a local property of the driver's thread. Spark copies it to the tasks that the thread starts."""

_FILE = "acls"


class AclLog:
    """Current ACLs and the ACLs of the open batch. A thread may set them while another begins batches."""

    def __init__(self, spark: SparkSession, folder: CheckpointFolder) -> None:
        self._spark = spark
        self._folder = folder
        self._lock = Lock()
        self._newest: str | None = None
        self._pinned = folder.read_newest(_FILE)
        self._begun = -1

    def take(self, acls: Acls) -> None:
        """Use these ACLs for the batches that begin from now on."""
        # A local property is a text, and Spark sends it with every task: compressed, it stays small.
        packed = b64encode(zlib.compress(json.encode(acls))).decode()
        with self._lock:
            self._newest = packed

    def before_query(self) -> None:
        """Write the ACLs of the query's first batch, unless that batch is open and has ACLs. Before the query's settings.

        Raises DamagedFileError: the ACLs of the open batch cannot be read.
        """
        # The open batch has started with the ACLs in the file, so its repeat must use them too.
        self._begun = last_planned_batch(self._folder)
        is_open = self._begun > last_done_batch(self._folder)
        if is_open and began_with_rules(self._folder):
            self._check_pinned()
        else:
            self._pin()

    def _check_pinned(self) -> None:
        if self._pinned is None:
            return
        try:
            # A task that cannot read the ACLs would fail without naming the file.
            unpacked(self._pinned)
        except (ValueError, zlib.error) as error:
            raise self._folder.damaged(self._folder.newest(_FILE) or _FILE, error) from error

    def begin(self, batch_id: int) -> None:
        """Pass the ACLs to the tasks of this batch, by Spark's number. The calling thread starts these tasks next."""
        # A repeated batch keeps its ACLs: only a new batch gets the newest.
        if batch_id > self._begun:
            self._begun = batch_id
            self._pin()
        self._spark.sparkContext.setLocalProperty(PROPERTY, self._pinned or "")

    def _pin(self) -> None:
        with self._lock:
            newest = self._newest
        if newest == self._pinned:
            return
        # Without ACLs a file of an earlier run must not count.
        if newest is None:
            self._folder.remove(_FILE)
        else:
            self._folder.write_next(_FILE, newest)
        self._pinned = newest


def unpacked(text: str) -> Acls:
    """Decode the ACLs of a task. Values that Kafka 4.4 would reject are kept, as a cluster may have them."""
    return json.decode(zlib.decompress(b64decode(text)), type=Acls)
