"""Where the faults happen: one broker, one log of events, and for every run topics and folders of its own.

All runs read the same events, so that even the times in their outcomes must agree. Only the undisturbed run reads them
without a rate limit: the batches of the disturbed ones are others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from kafka import KafkaProducer
from pyspark.sql import SparkSession

from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import session_jars
from group_coordinator.streaming.session import local_session
from tests.end_to_end.installation import Installation, installed
from tests.faults import events
from tests.faults.outcome import Difference, Outcome, difference, outcome_of
from tests.support.job_process import COMMAND, JobProcess
from tests.support.stores import DISK, Store

BATCH_EVENTS = 80
"""Of a disturbed run, so that there is something before and after a fault."""

_EVENTS_TOPIC = "events.topic=events-of-all-runs"

RUN_S = 900
"""Timeouts with one run of the job, on a busy machine."""


@dataclass
class Scene:
    """Made by `open_scene`."""

    bootstrap_servers: str
    folder: Path
    event_count: int
    store: Store
    _resources: ExitStack
    _installed: set[str] = field(default_factory=set)
    _spark: SparkSession | None = None

    def installation(self, name: str, *overrides: str) -> Installation:
        """Tables, checkpoint and responses topic of a run, which begins with the first event."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        places = () if self.store is DISK else self.store.settings(folder)
        given = (*events.SETTINGS, _EVENTS_TOPIC, *places, *overrides)
        made = Installation.named(name, self.bootstrap_servers, folder, given, self.store)
        if name not in self._installed:
            if self.store is not DISK:
                self._session(made)  # before any other, which would not reach the store
            installed(made)
            self._installed.add(name)
        return made

    def disturbed(self, name: str) -> Installation:
        return self.installation(name, f"max.offsets.per.trigger={BATCH_EVENTS}")

    @cached_property
    def undisturbed(self) -> Outcome:
        installation = self.installation("undisturbed")
        drain(installation)
        return outcome_of(installation, self.spark)

    def compare(self, installation: Installation) -> Difference:
        """The outcome beside that of the undisturbed run."""
        return difference(self.undisturbed, outcome_of(installation, self.spark))

    @property
    def spark(self) -> SparkSession:
        """Reads the state out of checkpoints."""
        return self._session(self.installation("undisturbed"))

    def _session(self, installation: Installation) -> SparkSession:
        """The one of this process, with what the scene's store takes."""
        if self._spark is None:
            job = installation.settings.job
            scratch = self._resources.enter_context(scratch_folder())
            self._spark = local_session(job, session_jars(job), scratch)
            self._resources.callback(self._spark.stop)
        return self._spark


@contextmanager
def open_scene(folder: Path, bootstrap_servers: str, store: Store = DISK) -> Iterator[Scene]:
    """Write the events."""
    with ExitStack() as resources:
        scene = Scene(bootstrap_servers, folder, 0, store, resources)
        topic = scene.installation("undisturbed").settings.job.events_topic
        with closing(KafkaProducer(bootstrap_servers=bootstrap_servers)) as producer:
            scene.event_count = events.write(producer, topic)
        yield scene


def run_to_end(
    installation: Installation,
    *arguments: str,
    program: tuple[str, ...] = COMMAND,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> None:
    command = [*arguments, *installation.options]
    with JobProcess(command, installation.folder, program, variables) as job:
        assert job.wait(RUN_S) == 0, job.log


def drain(installation: Installation) -> None:
    """Run the job until it has read all events, and compacted what came of them."""
    run_to_end(installation, "run", "--drain", "--with-compaction")
