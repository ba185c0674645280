"""deploy/yarn on a real YARN, with tables and checkpoint on its HDFS: packed, given to the cluster, asked to stop."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.cluster.stage import Stage
from tests.end_to_end.commits import Commits
from tests.end_to_end.installation import SETTINGS, Installation
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.support.hadoop_cluster import HadoopCluster, hadoop_cluster
from tests.support.job_process import ROOT
from tests.support.until import until

_DEPLOY = ROOT / "deploy" / "yarn"
_ARCHIVE = "/apps/group-coordinator/environment.tar.gz"
_ANSWERS = 60
_PATIENCE_S = 600
_MODES = ("cluster", "client")


def on_yarn(stage: Stage) -> Result:
    """The driver is in a container, then here. SIGTERM lets its batch end; YARN and spark-submit say that all went well."""
    folder = stage.folder / "yarn"
    folder.mkdir()
    with hadoop_cluster(folder) as hadoop:
        hadoop.start_yarn()
        [wheel] = stage.folder.glob("wheels/*.whl")
        return _played(stage, _Yarn.packed(hadoop, wheel))


def _played(stage: Stage, yarn: _Yarn) -> Result:
    folder = yarn.hadoop.folder
    places = ("tables.root=hdfs:///yarn/tables", "checkpoint.location=hdfs:///yarn/state")
    installation = Installation.named("yarn", stage.bootstrap_servers, folder, (*SETTINGS, *places))
    stage.make_topics(installation)
    yarn.run_to_end(installation, "create_tables.py")
    with Commits(installation):
        problems = [problem for mode in _MODES for problem in _stopped(installation, yarn, mode)]
    yarn.run_to_end(installation, "run_coordinator.py", "--drain", "--with-compaction")
    status, _ = yarn.hadoop.dfs("-get", "/yarn/tables", str(folder))
    assert status == 0
    on_disk = replace(installation, overrides=(*installation.overrides, "tables.root=tables"))
    result = judged("yarn", on_disk, 3)
    result.problems += problems
    return result


def _stopped(installation: Installation, yarn: _Yarn, mode: str) -> list[str]:
    wanted = len(installation.answers()) + _ANSWERS
    with yarn.submitted(installation, "run_coordinator.py", mode=mode) as job:
        job.await_answers(installation, wanted)
        job.ask_to_stop()
        status = job.process.wait(_PATIENCE_S)
        problems = [] if status == 0 else [f"{mode} mode, asked to stop: status {status}"]
        return problems + [f"{mode} mode: {minded}" for minded in job.what_yarn_minds()]


@dataclass(frozen=True)
class _Yarn:
    """A cluster that has the packed environment."""

    hadoop: HadoopCluster
    environment: Path

    @property
    def jars(self) -> Path:
        """Spark's and ours, where all nodes have them."""
        [folder] = self.environment.glob("lib/python*/site-packages/pyspark/jars")
        return folder

    @classmethod
    def packed(cls, hadoop: HadoopCluster, wheel: Path) -> _Yarn:
        environment = hadoop.folder / "environment"
        subprocess.run([_DEPLOY / "pack", wheel, environment], check=True)  # noqa: S603 - our own script
        for command in (
            ("-mkdir", "-p", str(Path(_ARCHIVE).parent)),
            ("-put", f"{environment}.tar.gz", _ARCHIVE),
        ):
            status, _ = hadoop.dfs(*command)
            assert status == 0, command
        return cls(hadoop, environment)

    @contextmanager
    def submitted(
        self, installation: Installation, script: str, *arguments: str, mode: str = "cluster"
    ) -> Iterator[_Submitted]:
        """deploy/yarn/submit; it is there as long as the application, and the block."""
        log = self.hadoop.folder / f"{mode}-{script}.log"
        inherited = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK", "SPARK", "PYTHON"))
        }
        options = {
            "spark.driver.memory": "900m",
            "spark.executor.memory": "600m",
            "spark.executor.instances": "2",
            "spark.yarn.jars": f"local:{self.jars}/*",
            "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
            "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
        }
        variables = {
            "HADOOP_CONF_DIR": str(self.hadoop.configuration),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "DEPLOY_MODE": mode,
            "SPARK_OPTIONS": " ".join(f"--conf {key}={value}" for key, value in options.items()),
        }
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - our own script
                [
                    *(_DEPLOY / "submit", self.environment, f"hdfs://{_ARCHIVE}"),
                    *(ROOT / "jobs" / script, *installation.options, *arguments),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=inherited | variables,
            )
        try:
            yield _Submitted(self.hadoop, process, log, mode)
        finally:
            process.kill()
            process.wait()

    def run_to_end(self, installation: Installation, script: str, *arguments: str) -> None:
        with self.submitted(installation, script, *arguments) as job:
            assert job.process.wait(_PATIENCE_S) == 0, job.said


@dataclass(frozen=True)
class _Submitted:
    """An application of YARN."""

    hadoop: HadoopCluster
    process: subprocess.Popen[bytes]
    log: Path
    mode: str

    @property
    def said(self) -> str:
        return self.log.read_text()[-6000:]

    def await_answers(self, installation: Installation, wanted: int) -> None:
        def given() -> bool:
            assert self.process.poll() is None, self.said
            return len(installation.answers()) >= wanted

        until(given, seconds=_PATIENCE_S, awaited=lambda: f"answers\n{self.said}", poll_s=1)

    @property
    def _number(self) -> str:
        [number] = set(re.findall(r"application_(\d+_\d+)", self.log.read_text()))
        return str(number)

    def ask_to_stop(self) -> None:
        """SIGTERM to the driver; in its container as `yarn container -signal` does it, with no SIGKILL after it."""
        if self.mode == "client":
            self.process.terminate()
            return
        first = f"container_{self._number}_01_000001"
        status, printed = self.hadoop.yarn("container", "-signal", first, "GRACEFUL_SHUTDOWN")
        assert status == 0, printed

    def what_yarn_minds(self) -> list[str]:
        _, printed = self.hadoop.yarn("application", "-status", f"application_{self._number}")
        [final] = re.findall(r"Final-State : (\w+)", printed.decode())
        return [] if final == "SUCCEEDED" else [f"YARN says {final}"]
