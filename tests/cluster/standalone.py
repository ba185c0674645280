"""A standalone Spark cluster on this machine: a master and two workers, processes as on three machines."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

import psutil
import pyspark

from group_coordinator.local.broker import LOOPBACK, free_ports
from tests.support.job_process import ROOT
from tests.support.short_lived_java import OPTIONS
from tests.support.until import until

SPARK_HOME = Path(pyspark.__file__).parent
_DEPLOY = "org.apache.spark.deploy"
_EXECUTOR = "CoarseGrainedExecutorBackend"
_START_S = 120

AUTHENTICATION = (
    "-Dspark.authenticate=true",
    "-Dspark.network.crypto.enabled=true",
    "-Dspark.network.crypto.authEngineVersion=2",
)
"""What Spark tells an executor before it can ask the driver."""


@dataclass
class Standalone:
    """Made by `standalone_cluster`."""

    folder: Path
    packages: Path
    port: int
    web_port: int
    _workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def master(self) -> str:
        return f"spark://{LOOPBACK}:{self.port}"

    def environment(self) -> dict[str, str]:
        """Of a machine where the wheel is installed and the checkout is not."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK", "SPARK"))}
        return {
            **inherited,
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_JAVA_OPTS": OPTIONS,
            "PYTHONPATH": str(self.packages),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }

    def start_worker(self) -> None:
        name = f"worker-{len(self._workers)}"
        worker = self._start(
            name,
            f"{_DEPLOY}.worker.Worker",
            "--cores",
            "1",
            "--memory",
            "1g",
            "--host",
            LOOPBACK,
            "--webui-port",
            "0",
            "--work-dir",
            str(self.folder / name),
            "--properties-file",
            str(configuration(self.packages)),
            self.master,
        )
        self._workers.append(worker)

    def start_master(self) -> None:
        self._start(
            "master",
            f"{_DEPLOY}.master.Master",
            "--host",
            LOOPBACK,
            "--port",
            str(self.port),
            "--webui-port",
            str(self.web_port),
            "--properties-file",
            str(configuration(self.packages)),
        )

    def applications(self) -> list[str]:
        """The ids of all that the master has taken, as they came."""
        log = (self.folder / "master.log").read_text()
        return re.findall(r"Registered app \S+ with ID (\S+)", log)

    def kill_worker(self) -> None:
        """The daemon of a machine, and with it the executor that it started."""
        worker = self._workers[0]
        executors = psutil.Process(worker.pid).children(recursive=True)
        worker.kill()
        for executor in executors:
            executor.kill()
        worker.wait()

    def executors(self) -> list[psutil.Process]:
        """Of all applications."""
        running = (worker for worker in self._workers if worker.poll() is None)
        children = (
            child
            for worker in running
            for child in psutil.Process(worker.pid).children(recursive=True)
        )
        return [child for child in children if _is_executor(child)]

    def python_workers(self) -> list[psutil.Process]:
        """The processes that call the coordinator's function: children of the executors' daemons."""
        daemons = [child for executor in self.executors() for child in executor.children()]
        return [worker for daemon in daemons for worker in daemon.children()]

    def stop(self) -> None:
        for process in reversed(self._started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _start(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - a fixed program
                [SPARK_HOME / "bin" / "spark-class", main, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=self.environment(),
                start_new_session=True,
            )
        self._started.append(process)
        return process


def configuration(packages: Path) -> Path:
    """Of master, workers and drivers: that of deploy, with a secret."""
    return packages.with_name("spark.conf")


def spark_secret(packages: Path) -> str:
    """What master, workers and drivers share."""
    return configuration(packages).read_text().split()[-1]


def _write_configuration(file: Path) -> None:
    file.touch(mode=0o600)
    secret = f"spark.authenticate.secret {token_hex(32)}\n"
    file.write_text((ROOT / "deploy" / "standalone" / "spark.conf").read_text() + secret)


def _is_executor(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):  # it may just have ended
        return any(_EXECUTOR in argument for argument in process.cmdline())
    return False


@contextmanager
def standalone_cluster(folder: Path, packages: Path) -> Iterator[Standalone]:
    """A master and two workers with one core each."""
    port, web_port = free_ports(2)
    _write_configuration(configuration(packages))
    cluster = Standalone(folder, packages, port, web_port)
    with ExitStack() as stopping:
        stopping.callback(cluster.stop)
        cluster.start_master()
        for _ in range(2):
            cluster.start_worker()
        log = folder / "master.log"
        until(
            lambda: log.read_text().count("Registering worker") >= 2,
            seconds=_START_S,
            awaited=lambda: f"two workers\n{log.read_text()[-2000:]}",
        )
        yield cluster
