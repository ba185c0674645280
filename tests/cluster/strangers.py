"""Programs that reach the ports of master and driver and lack the secret: none of them is taken in."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from psutil import process_iter

from group_coordinator.local.broker import LOOPBACK, free_ports
from tests.cluster.stage import Stage, await_more
from tests.cluster.standalone import AUTHENTICATION, SPARK_HOME, spark_secret
from tests.end_to_end.commits import Commits
from tests.faults.judgement import judged
from tests.faults.result import Result

_PATIENCE_S = 60
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_TAKEN_IN = ("Successfully registered with driver", "successfully submitted")
"""What Spark's programs log when a driver takes an executor, and when a master takes a program."""


def strangers(stage: Stage) -> Result:
    """Executors without the secret and with another one, and a program for the workers, while the job runs."""
    installation = stage.installed(stage.installation("strangers"))
    [port] = free_ports(1)
    confs = ("--conf", f"spark.driver.port={port}")
    problems = []
    with Commits(installation), stage.submit(installation, confs=confs) as job:
        await_more(installation, job)
        for name, (arguments, variables) in _attacks(stage.cluster.master, port).items():
            said = _said(stage, name, arguments, variables)
            problems += [f"{name}: {word}" for word in _TAKEN_IN if word in said]
        problems += _processes_that_show(spark_secret(stage.cluster.packages))
        await_more(installation, job)
        status = job.stop()
        problems += [f"the job ended with status {status}"] if status else []
    stage.run_to_end(installation, "--drain", "--with-compaction")
    result = judged("strangers", installation, 2)
    result.problems += problems
    return result


def _processes_that_show(secret: str) -> list[str]:
    """What every user of a machine may list."""
    processes = process_iter(["name", "cmdline"])
    shown = (
        each.info["name"] for each in processes if secret in " ".join(each.info["cmdline"] or ())
    )
    return [f"the secret is in the command line of {name}" for name in shown]


def _attacks(master: str, driver_port: int) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Name -> a class of Spark with its arguments, and variables for its environment."""
    executor = [
        *(_EXECUTOR, "--driver-url", f"spark://CoarseGrainedScheduler@{LOOPBACK}:{driver_port}"),
        *("--executor-id", "99", "--bind-address", LOOPBACK, "--hostname", LOOPBACK),
        *("--cores", "1", "--app-id", "stranger", "--resourceProfileId", "0"),
    ]
    [jar] = (SPARK_HOME / "jars").glob("spark-core_*.jar")
    program = ["org.apache.spark.deploy.Client", "launch", master, jar.as_uri(), "any.Class"]
    wrong = {"_SPARK_AUTH_SECRET": "guessed", "SPARK_EXECUTOR_OPTS": " ".join(AUTHENTICATION)}
    return {
        "executor without a secret": (executor, {}),
        "executor with another secret": (executor, wrong),
        "program for the workers": (program, {}),
    }


def _said(stage: Stage, name: str, arguments: list[str], variables: dict[str, str]) -> str:
    """The log of a stranger that has ended, or that was killed when patience ended."""
    folder = Path(stage.folder, name.replace(" ", "-"))
    folder.mkdir()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - a fixed program
            [SPARK_HOME / "bin" / "spark-class", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=stage.cluster.environment() | variables,
            start_new_session=True,
        )
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return (folder / "log").read_text()
