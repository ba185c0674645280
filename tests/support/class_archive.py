"""The classes of a job and of a broker as Java has read and checked them: JVMs that begin with them have less to do.

`python -m tests.support.class_archive FOLDER` writes them there, and fetches all jars that tests need.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.jars import broker_jars, fetch, s3_jars, spark_jars, tools_jars
from tests.broker.clients.kafka_tool import ALL_TOOLS, CLIENTS, CSV
from tests.end_to_end.commits import Commits
from tests.end_to_end.installation import Installation, installed
from tests.support.job_process import JobProcess
from tests.support.short_lived_java import classes_kept_in
from tests.support.until import until

_PATIENCE_S = 300


def main(archives: Path) -> None:
    """Let a job take commits and compact them."""
    tools = (partial(tools_jars, CLIENTS), partial(tools_jars, ALL_TOOLS, CSV))
    fetch(spark_jars, s3_jars, broker_jars, tools_jars, *tools)
    archives.mkdir(exist_ok=True)
    os.environ |= classes_kept_in(archives)
    with TemporaryDirectory() as folder, EmbeddedBroker() as broker:
        installation = installed(Installation(broker.bootstrap_servers, Path(folder)))
        with Commits(installation) as commits:
            until(lambda: commits.next_offset > 0, seconds=_PATIENCE_S, awaited="a commit")
        drain = ["run", "--drain", "--with-compaction", *installation.options]
        with JobProcess(drain, installation.folder) as job:
            [jvm] = until(lambda: _jvms_of(job), seconds=_PATIENCE_S, awaited="a JVM")
            assert job.wait(_PATIENCE_S) == 0, job.log
            # It writes when the driver, which started it, is gone.
            until(lambda: _has_ended(jvm), seconds=_PATIENCE_S, awaited="the JVM's end")


def _has_ended(process: psutil.Process) -> bool:
    # The init process of a container may never collect what has ended.
    with suppress(psutil.NoSuchProcess):
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def _jvms_of(job: JobProcess) -> list[psutil.Process]:
    return [child for child in psutil.Process(job.pid).children() if child.name() == "java"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
