"""What a mirror shows, which has no batches of a coordinator; a whole run is shown by tests/end_to_end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.core.acls import Acls
from group_coordinator.driver.metrics import collector as module
from group_coordinator.driver.metrics.collector import Endpoint, measuring, tables_read
from group_coordinator.driver.tasks.acls import AclTask
from tests.support.files import FilesInMemory
from tests.support.group_history import GroupHistory, tables_of
from tests.support.until import until
from tests.unit.driver.metrics.scraped import in_text, scraped

MEMBERS = 'kafka_consumergroup_members{consumergroup="billing"}'
AGE = "group_coordinator_acls_age_seconds"
SPARK: Any = None
"""Tables on a disk are read without it."""


def test_tables_are_read_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A slow first look would delay the second one.
    monkeypatch.setattr(module, "MOST_OF_THE_TIME", 1.0)
    root = tables_of(tmp_path)
    job = replace(
        settings.load().job, tables_root=str(root), cluster_id="test", metrics_interval_ms=50
    )
    endpoint, stop = Endpoint(CollectorRegistry()), Event()
    with tables_read(endpoint, SPARK, job, dict, stop):
        until(lambda: len(scraped(endpoint.registry)) > 1, seconds=20, awaited="a look")
        assert MEMBERS not in in_text(endpoint.text())
        billing = GroupHistory("billing")
        billing.commit({"orders": {0: 42}})
        tables_of(tmp_path, billing)
        until(lambda: MEMBERS in in_text(endpoint.text()), seconds=20, awaited="the group")

    assert not stop.is_set()


def test_who_has_no_endpoint_measures_nothing() -> None:
    job = settings.load().job
    with measuring(
        None, SPARK, Connection("127.0.0.1:1"), job=job, acls=None, stop=Event()
    ) as measured:
        assert measured is None


@pytest.mark.parametrize("has_rules", [True, False])
def test_a_job_that_goes_by_rules_shows_how_old_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_rules: bool
) -> None:
    monkeypatch.setattr(module, "coordinator_folder", lambda *_: FilesInMemory())
    job = replace(settings.load().job, tables_root=str(tables_of(tmp_path)), cluster_id="test")
    agent = AclTask(lambda: Acls(()), lambda _: None)
    agent.begin()
    endpoint, nobody = Endpoint(CollectorRegistry()), Connection("127.0.0.1:1")

    with measuring(
        endpoint, SPARK, nobody, job=job, acls=agent if has_rules else None, stop=Event()
    ):
        assert (AGE in scraped(endpoint.registry)) is has_rules
