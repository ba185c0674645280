"""What `group-coordinator init` and jobs/create_tables.py share."""

from __future__ import annotations

from contextlib import ExitStack

from pyspark.sql import SparkSession

from group_coordinator.job.refusal_causes import refusals_told
from group_coordinator.job.session_life import MakeSession, session
from group_coordinator.job.storage_check import check_storage
from group_coordinator.settings import JobSettings
from group_coordinator.tables.creation import create_tables


@refusals_told()
def create_tables_of(job: JobSettings, make_session: MakeSession) -> list[str]:
    """Make what is missing; the names, or addresses, of all tables. Spark starts only where it is needed."""
    with ExitStack() as opened:

        def make() -> SparkSession:
            spark = opened.enter_context(session(make_session))
            check_storage(spark, job)
            return spark

        return create_tables(job.tables_root, make)
