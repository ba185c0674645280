"""What all scenes on the cluster share: topics, tables, and how the job is submitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from group_coordinator.local.broker import EmbeddedBroker
from tests.cluster.standalone import Standalone, standalone_cluster
from tests.cluster.wheel import installed_wheel
from tests.end_to_end.commits import await_logged, logged
from tests.end_to_end.installation import SETTINGS, Installation
from tests.support.job_process import JobProcess
from tests.support.stores import DISK, Store

RUN_S = 400
"""Timeouts with one run of the job, on a busy machine."""
_STEP = 60
"""So many records more mean that the job goes on."""
_COORDINATOR = "run_coordinator.py"


@dataclass
class Stage:
    """Made by `open_stage`."""

    cluster: Standalone
    bootstrap_servers: str
    folder: Path
    store: Store
    submitted: int = field(default=0)

    def installation(self, name: str, *overrides: str) -> Installation:
        """Topics of its own, and folders with their whole paths, which driver and executors share."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        settings = (*SETTINGS, *self.store.settings(folder), *overrides)
        return Installation.named(name, self.bootstrap_servers, folder, settings, self.store)

    def installed(self, installation: Installation) -> Installation:
        """Make the topics by the command, and the tables on the cluster."""
        self.make_topics(installation)
        self.run_to_end(installation, script="create_tables.py", cores=1)
        return installation

    def make_topics(self, installation: Installation) -> None:
        with JobProcess(
            ["init", "--topics-only", *installation.options], installation.folder
        ) as init:
            assert init.wait(RUN_S) == 0, init.log

    def submit(
        self,
        installation: Installation,
        *arguments: str,
        script: str = _COORDINATOR,
        cores: int = 2,
        confs: tuple[str, ...] = (),
    ) -> JobProcess:
        """Start spark-submit; its process is the driver's JVM. An application without cores left waits."""
        self.submitted += 1
        limit = ("--conf", f"spark.cores.max={cores}")
        spark = [script, str(self.cluster.packages), self.cluster.master, *limit]
        spark += [*self.store.spark_options, *confs]
        given = [*spark, "--", *installation.options, *arguments]
        return JobProcess(given, installation.folder, program=("tests.cluster.submit",))

    def run_to_end(
        self,
        installation: Installation,
        *arguments: str,
        script: str = _COORDINATOR,
        cores: int = 2,
    ) -> None:
        with self.submit(installation, *arguments, script=script, cores=cores) as job:
            assert job.wait(RUN_S) == 0, job.log


@contextmanager
def open_stage(folder: Path, broker: EmbeddedBroker, store: Store = DISK) -> Iterator[Stage]:
    """A cluster that has the wheel, and nothing of the checkout."""
    packages = installed_wheel(folder)
    with standalone_cluster(folder, packages) as cluster:
        yield Stage(cluster, broker.bootstrap_servers, folder, store)


def await_more(installation: Installation, job: JobProcess) -> None:
    """Wait until the job has written more than it has now."""
    await_logged(installation, logged(installation) + _STEP, job)
