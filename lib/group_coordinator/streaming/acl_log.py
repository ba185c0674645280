"""The rules of who may do what that a batch goes by: kept in the checkpoint, and known to every task of the batch.

A batch that is done again goes by the rules that it began with, whatever they are meanwhile. So they are written down
before its tasks begin. Rules are about all groups, and an event is about one: they come to the tasks beside the events.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from threading import Lock

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.core.acls.rule import Acls
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import last_done_batch, last_planned_batch
from group_coordinator.streaming.checkpoint.pinned import began_with_rules

PROPERTY = "group.coordinator.acls"
"""Spark gives such a property of the driver's thread to the tasks that the thread begins."""

_FILE = "acls"


class AclLog:
    """Knows the rules; one thread may give it others while another one begins batches."""

    def __init__(self, spark: SparkSession, folder: CheckpointFolder) -> None:
        self._spark = spark
        self._folder = folder
        self._lock = Lock()
        self._newest: str | None = None
        self._pinned = folder.read_newest(_FILE)
        self._begun = -1

    def take(self, acls: Acls) -> None:
        """These are the rules for the batches that begin from now on."""
        packed = b64encode(zlib.compress(json.encode(acls))).decode()
        with self._lock:
            self._newest = packed

    def before_query(self) -> None:
        """Write down what the query's first batch goes by, unless that has begun before, with rules.

        Called before the settings of the query are written down.

        Raises:
            DamagedFileError: the rules that it began with cannot be read.
        """
        self._begun = last_planned_batch(self._folder)
        is_open = self._begun > last_done_batch(self._folder)
        if is_open and began_with_rules(self._folder):
            self._check_pinned()
        else:
            self._pin()

    def _check_pinned(self) -> None:
        """A task that cannot read them would fail without naming the file."""
        if self._pinned is None:
            return
        try:
            unpacked(self._pinned)
        except (ValueError, zlib.error) as error:
            raise self._folder.damaged(self._folder.newest(_FILE) or _FILE, error) from error

    def begin(self, batch_id: int) -> None:
        """Let the tasks of this batch, by Spark's number, know the rules; this thread begins them next."""
        if batch_id > self._begun:
            self._begun = batch_id
            self._pin()
        self._spark.sparkContext.setLocalProperty(PROPERTY, self._pinned or "")

    def _pin(self) -> None:
        with self._lock:
            newest = self._newest
        if newest == self._pinned:
            return
        if newest is None:
            self._folder.remove(_FILE)
        else:
            self._folder.write_next(_FILE, newest)
        self._pinned = newest


def unpacked(text: str) -> Acls:
    """The rules, from what tasks are told; as they are: a cluster may have some that Kafka 4.4 would not take."""
    return json.decode(zlib.decompress(b64decode(text)), type=Acls)
