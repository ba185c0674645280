"""Executors as the image starts them for Kubernetes: by deploy/docker/entrypoint, with Spark's class for a pod."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from group_coordinator.local.broker import LOOPBACK, free_ports
from tests.cluster.stage import RUN_S, Stage, await_more
from tests.cluster.standalone import AUTHENTICATION, spark_secret
from tests.end_to_end.commits import Commits
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.support.job_process import ROOT
from tests.support.until import until

_ENTRYPOINT = ROOT / "deploy" / "docker" / "entrypoint"
_OPENED = (
    *("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent"),
    "util.concurrent.atomic",
)
"""Packages of Java that Spark gives every executor."""


def executors_of_the_image(stage: Stage) -> Result:
    """One executor is killed, another one comes; the job is asked to stop."""
    installation = stage.installed(stage.installation("image"))
    [port] = free_ports(1)
    # More cores than a worker of the cluster has: it starts no executor.
    confs = ("--conf", f"spark.driver.port={port}", "--conf", "spark.executor.cores=4")
    others = len(stage.cluster.applications())
    with Commits(installation), stage.submit(installation, cores=4, confs=confs) as job:
        [application] = until(
            lambda: stage.cluster.applications()[others:], seconds=RUN_S, awaited="the driver"
        )
        with _container(stage, 1, port, application):
            await_more(installation, job)
        with _container(stage, 2, port, application):
            await_more(installation, job)
            status = job.stop()
    stage.run_to_end(installation, "--drain", "--with-compaction")
    result = judged("image", installation, 2)
    result.problems += [f"the job ended with status {status}"] if status else []
    return result


@contextmanager
def _container(stage: Stage, number: int, port: int, application: str) -> Iterator[None]:
    """What Kubernetes would run in a pod; it is killed at the end of the block."""
    folder = stage.folder / f"executor-{number}"
    folder.mkdir()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - a fixed program
            [_ENTRYPOINT, "executor"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=stage.cluster.environment()
            | _variables(number, port, folder)
            | {
                "SPARK_APPLICATION_ID": application,  # blocks are for executors of the application
                "_SPARK_AUTH_SECRET": spark_secret(stage.cluster.packages),
            },
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _variables(number: int, port: int, folder: Path) -> dict[str, str]:
    """By which Spark on Kubernetes tells a container what it is."""
    opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED]
    options = [
        *opened,
        *AUTHENTICATION,
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "-XX:+UseSerialGC",
    ]
    return {
        **{f"SPARK_JAVA_OPT_{place}": option for place, option in enumerate(options)},
        "SPARK_DRIVER_URL": f"spark://CoarseGrainedScheduler@{LOOPBACK}:{port}",
        "SPARK_EXECUTOR_ID": str(number),
        "SPARK_EXECUTOR_CORES": "2",
        "SPARK_EXECUTOR_MEMORY": "800m",
        "SPARK_EXECUTOR_POD_IP": LOOPBACK,
        "SPARK_EXECUTOR_POD_NAME": f"executor-{number}",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_LOCAL_DIRS": str(folder),
    }
