"""What Prometheus would read of a job that runs."""

from __future__ import annotations

import json
import math
import time
from contextlib import closing
from urllib.error import URLError
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.positions import PositionSampler
from group_coordinator.driver.positions import PositionRounds, tables_in_folder
from group_coordinator.local.broker import LOOPBACK, free_ports
from group_coordinator.settings import load
from tests.end_to_end.consume_commands import CONSUMED, TAKEN
from tests.end_to_end.installation import Installation
from tests.end_to_end.ordinary_clients import RECORDS, TOPIC
from tests.support.all_metrics import all_names
from tests.support.dashboard import JOB, filled_in, of_panels, of_variables
from tests.support.job_process import JobProcess
from tests.support.promql import Scrape, Scraped

_DEADLINE_S = 120
_KAFKAS = "kafka_server_group_coordinator_metrics"
_COUNTS = {
    "offset_commit": "record_type = 1 AND reason IN ('offset-commit', 'offset-reset', 'offset-restored')",
    "group_completed_rebalance": "record_type = 2 AND reason = 'sync'",
    "consumer_group_rebalance": "record_type = 3 AND reason IN ('join', 'heartbeat', 'topics-resolved')",
    "offset_deletion": "record_type = 1 AND reason = 'offset-deleted'",
}
"""By meter, the rows of the log that it counts."""
_NOTHING = {
    "Behind the topic A": "all events are answered",
    "Not answered yet A": "all events are answered",
    "Denials A": "there are no rules of who may do what",
    "Dead letters A": "every event was taken",
    "Defects A": "every event was taken",
    "Offsets expired and deleted A": "no offset is an hour old",
    "Offsets expired and deleted B": "nobody deletes one",
    "Consumed A": "whoever committed before the first scrape reads no more",
}
"""Why a panel of the dashboard may show zeros only."""
_ABSENT = {"ACLs read A": "there are no rules of who may do what"}
"""Why a panel may show nothing at all."""


class MetricsBeside:
    """The port of a job."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        [port] = free_ports(1)
        self._address = f"{LOOPBACK}:{port}"

    @property
    def options(self) -> list[str]:
        return ["--metrics", self._address, "--set", "metrics.interval.ms=1000"]

    def scraped(self) -> dict[str, float]:
        """By name and values of the labels."""
        families = text_string_to_metric_families(self._page("/metrics"))
        return {
            " ".join(
                [sample.name, *(sample.labels[name] for name in sorted(sample.labels))]
            ): float(sample.value)
            for family in families
            for sample in family.samples
        }

    def await_series(self, job: JobProcess, expected: dict[str, float]) -> None:
        """Wait until it shows these."""

        def found() -> dict[str, float]:
            shown = self.scraped()
            return {name: shown[name] for name in expected if name in shown}

        job.until(
            lambda: found() == expected,
            seconds=_DEADLINE_S,
            awaited=lambda: f"{expected}, not {found()}",
        )

    def scrape(self) -> Scrape:
        """As Prometheus would keep it."""
        labels = {"job": "group-coordinator", "instance": self._address}
        return Scrape.of(self._page("/metrics"), time.time(), **labels)

    def answers_the_dashboard(self, job: JobProcess, first: Scrape) -> None:
        """From that scrape and one of now, each query of each panel: with numbers, and not only zeros but for a reason."""
        self._sample_positions()
        self.await_series(
            job, {f"kafka_consumergroup_lag_sum {CONSUMED} {TOPIC}": float(RECORDS - TAKEN)}
        )
        scraped = Scraped([first, self.scrape()])
        for title, query in of_panels(JOB):
            numbers = scraped.answer(filled_in(query)).values()
            if title in _ABSENT:
                assert not numbers, title
                continue
            assert numbers, title
            assert all(map(math.isfinite, numbers)), (title, numbers)
            assert any(numbers) or title in _NOTHING, title
        for name, selector, label in of_variables(JOB):
            series = scraped.answer(filled_in(selector))
            assert series, name
            assert all(dict(labels)[label] for labels in series)

    def _sample_positions(self) -> None:
        """As `positions` beside the job does."""
        servers = self._installation.bootstrap_servers
        root = f"tables.root={self._installation.tables_root}"
        job = load(overrides=[*self._installation.overrides, root]).job
        with closing(PositionSampler(Connection(servers), [TOPIC])) as sampler:
            PositionRounds(job, sampler, tables_in_folder(job)).run_alone()

    def take_kept_totals(self) -> dict[str, int]:
        """What the run that has ended kept of its counts; the next one finds nothing, as after a kill."""
        job = self._installation.settings.job
        folder = self._installation.folder / job.checkpoint_location / "coordinator" / "meters"
        kept = {int(file.name): file for file in folder.iterdir() if file.name.isdecimal()}
        counts: dict[str, int] = json.loads(kept[max(kept)].read_text())["counts"]
        for file in kept.values():
            file.unlink()
        return counts

    def agrees_with_the_log(self, job: JobProcess) -> None:
        """Its counts are a count over the log, whichever run wrote that, and it shows nothing unheard of."""

        def logged() -> dict[str, float]:
            sums = ", ".join(
                f"count(*) FILTER (WHERE {rows}) AS {meter}" for meter, rows in _COUNTS.items()
            )
            [counts] = self._installation.rows(f"SELECT {sums} FROM coordinator_log")  # noqa: S608 - our own names
            return {f"{_KAFKAS}_{meter}_count": number for meter, number in counts.items()}

        def shown() -> dict[str, float]:
            page = self.scraped()
            return {name: page[name] for name in logged() if name in page}

        job.until(
            lambda: shown() == logged(),
            seconds=_DEADLINE_S,
            awaited=lambda: f"{logged()}, not {shown()}",
        )
        assert self._page("/healthz") == "alive\n"
        assert self._page("/readyz") == "ready\n"
        # Against these the dashboard and the alerts are checked.
        assert {name.partition(" ")[0] for name in self.scraped()} <= all_names()

    def _page(self, path: str) -> str:
        try:
            with urlopen(f"http://{self._address}{path}", timeout=_DEADLINE_S) as answer:
                return str(answer.read().decode())
        except URLError as error:
            return f"# {error}\n"
