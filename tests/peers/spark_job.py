"""The real job on Spark with a gateway beside it, as `group-coordinator run --with-gateway` starts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.end_to_end.gateway_scene import GatewayBeside
from tests.end_to_end.installation import SETTINGS, Installation, installed
from tests.peers.suite import SuiteError
from tests.support.job_process import JobProcess

_READY_S = 120.0
_DEAD_LETTERS = "SELECT DISTINCT reason FROM dead_letters"


@contextmanager
def gateway_of_spark_job(bootstrap_servers: str, coordinator: Mapping[str, int]) -> Iterator[str]:
    """HOST:PORT of a gateway whose job runs for the time of the block, with tables of its own.

    Raises:
        SuiteError: at the end, if the job did not end well or an event was a dead letter.
    """
    with TemporaryDirectory(prefix="peers-job-") as folder:
        overrides = (*SETTINGS, *(f"{name}={value}" for name, value in coordinator.items()))
        installation = installed(
            Installation.named("peers", bootstrap_servers, Path(folder), overrides)
        )
        gateway = GatewayBeside(installation)
        run = ["run", "--with-compaction", *gateway.options, *installation.options]
        with JobProcess(run, installation.folder) as job:
            job.until(gateway.is_ready, seconds=_READY_S, awaited="the gateway")
            _await_an_answer(installation)
            yield gateway.bootstrap_servers
            _end(job, installation)


def _await_an_answer(installation: Installation) -> None:
    """A job that has just begun needs many seconds for its first batch, which suites do not grant."""
    with installation.admin() as admin:
        admin.list_consumer_group_offsets("nobody")


def _end(job: JobProcess, installation: Installation) -> None:
    if not job.is_alive or job.stop() != 0:
        raise SuiteError(f"the job did not end well: {job.log}")
    reasons = [row["reason"] for row in installation.rows(_DEAD_LETTERS)]
    if reasons:
        raise SuiteError(f"events of the gateway were dead letters: {reasons}")
