from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from group_coordinator.local.broker import EmbeddedBroker
from tests.support.short_lived_java import classes_taken_from

# Nothing here is about speed, and a machine may be busy.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", max_examples=50, **PATIENT)
settings.register_profile("ci", max_examples=100, derandomize=True, **PATIENT)
settings.register_profile("nightly", max_examples=200, **PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

if "SPARK_SUBMIT_OPTS" not in os.environ:
    os.environ.update(classes_taken_from(os.environ.get("CLASS_ARCHIVES", "")))

NIGHTLY = (
    "tests/end_to_end/test_faults.py",
    "tests/end_to_end/test_cluster.py",
    "tests/end_to_end/test_demo.py",
    "tests/end_to_end/test_rebuild.py",
    "tests/end_to_end/test_rights.py",
    "tests/end_to_end/test_topics.py",
    "tests/end_to_end/test_security.py",
    "tests/end_to_end/test_scheduled_runs.py",
    "tests/end_to_end/test_disk_faults.py",
    "tests/spark/test_views.py",
    "tests/spark/test_compaction.py",
    "tests/spark/test_rebuild.py",
    "tests/spark/test_ask_tables.py",
    "tests/spark/test_compaction_by_spark.py",
    "tests/spark/test_query_check.py",
    "tests/spark/test_compaction_of_clusters.py",
    "tests/spark/test_mirror_breaks.py",
    "tests/spark/test_mirror_like_kafkas_tool.py",
    "tests/broker/clients/test_older_brokers.py",
    "tests/peers/test_fast_part.py",
)
"""Files that take more than a minute, the longest first, so that two processes end at about the same time. `test nightly` runs them."""
LONG = (
    *NIGHTLY,
    "tests/end_to_end/test_end_to_end.py",
    "tests/end_to_end/test_object_store.py",
)
_RANKS = {file: rank for rank, file in enumerate(LONG)}


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _RANKS.get(_file(item), len(_RANKS)))
    for item in items:
        if _file(item) in NIGHTLY:
            item.add_marker(pytest.mark.nightly)


@pytest.fixture(scope="session")
def broker() -> Iterator[EmbeddedBroker]:
    """One broker for all tests of a process that bring no settings of their own: each names its topics after itself."""
    with EmbeddedBroker() as embedded:
        yield embedded
