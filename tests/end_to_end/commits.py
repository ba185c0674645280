"""Commits without a pause, and whether each was answered."""

from __future__ import annotations

import json
from threading import Event, Thread
from typing import Self

from kafka import KafkaProducer

from tests.end_to_end.installation import Installation
from tests.support.job_process import JobProcess


def logged(installation: Installation) -> int:
    """Records of the installation's cluster."""
    ours = f"cluster_id = '{installation.settings.job.cluster_id}'"
    [row] = installation.rows(f"SELECT count(*) AS records FROM coordinator_log WHERE {ours}")  # noqa: S608 - a test's name
    return int(row["records"])


def await_logged(installation: Installation, records: int, job: JobProcess) -> None:
    job.until(
        lambda: logged(installation) >= records,
        seconds=600,
        awaited=f"{records} records in the log",
    )


class Commits:
    """Ten simple groups commit without a pause while the block runs: offsets that only grow, from `first` on.

    `next_offset` is, after the block, the first one that was not sent.
    """

    def __init__(
        self, installation: Installation, first: int = 0, metadata: str | None = None
    ) -> None:
        self._metadata = metadata
        self._topic = installation.settings.job.events_topic
        self._producer = KafkaProducer(bootstrap_servers=installation.bootstrap_servers)
        self._over = Event()
        self._thread = Thread(target=self._send)
        self.next_offset = first

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._producer.close()

    def _send(self) -> None:
        while not self._over.wait(0.02):
            group = f"kill-{self.next_offset % 10}"
            partition = {
                "partitionIndex": 0,
                "committedOffset": self.next_offset,
                "committedMetadata": self._metadata,
            }
            body = {"groupId": group, "topics": [{"name": "orders", "partitions": [partition]}]}
            event = {
                "api": "OffsetCommit",
                "version": 8,
                "correlationId": str(self.next_offset),
                "body": body,
            }
            self._producer.send(self._topic, key=group.encode(), value=json.dumps(event).encode())
            self.next_offset += 1
