"""The job of the demo: creates the tables of `init` in the same session, as a start takes long, then `run --with-compaction`.

python -m group_coordinator.demo.job_process SETTINGS PROGRESS [--with-gateway]
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.cli.gateway import gateway_command, run_gateway_process
from group_coordinator.driver.coordinator import RunOptions, run_coordinator
from group_coordinator.driver.errors import StartUpError
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.creation import create_tables

WITH_GATEWAY = "--with-gateway"


def main(settings_file: Path, progress_file: Path, *given: str) -> None:
    chosen = settings.load(settings_file)
    gateway = partial(run_gateway_process, gateway_command(settings_file, (), None))
    options = RunOptions(
        drain=False,
        with_compaction=True,
        progress_file=progress_file,
        gateway=gateway if WITH_GATEWAY in given else None,
    )
    with scratch_folder() as scratch:
        run_coordinator(chosen, lambda: _session_with_tables(chosen.job, scratch), options)


def _session_with_tables(job: JobSettings, scratch: Path) -> SparkSession:
    spark = local_session(job, spark_jars(), scratch)
    # `init` would start a Spark of its own for the tables.
    create_tables(job.tables_root, lambda: spark)
    return spark


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
    except StartUpError as error:
        sys.exit(str(error))
