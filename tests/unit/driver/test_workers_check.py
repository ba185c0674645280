from __future__ import annotations

import pyspark
import pytest

from group_coordinator.driver.checks.workers import (
    Worker,
    check_versions,
    exchange_message,
    worker_here,
)
from group_coordinator.driver.errors import StartUpError
from group_coordinator.streaming.operator.known_pyspark import Wanted

HERE = worker_here()
FORK = Worker(HERE.versions, "0123456789abcdef")


def test_workers_with_the_drivers_versions_are_taken() -> None:
    check_versions(HERE.versions, {HERE, FORK})


def test_another_pyspark_on_the_workers_is_refused() -> None:
    found = f"pyspark {pyspark.__version__}"
    other = Worker(HERE.versions.replace(found, "pyspark 4.1.4"), None)

    with pytest.raises(StartUpError) as refused:
        check_versions(HERE.versions, {HERE, other})

    sentence = str(refused.value)
    assert sentence.startswith("Python on the workers differs from the driver's: Python 3.")
    assert "pyspark 4.1.4, msgspec" in sentence
    assert f"and here {HERE.versions}: give the driver and all workers one environment" in sentence


@pytest.mark.parametrize(
    ("wanted", "workers", "expected"),
    [
        ("auto", {HERE}, "exchange = auto: lean on the workers"),
        ("auto", {FORK}, "exchange = auto: stock on the workers"),
        ("auto", {HERE, FORK}, "exchange = auto: lean or stock on the workers"),
        ("stock", {HERE}, "exchange = stock: stock on the workers"),
        ("lean", {HERE}, "exchange = lean: lean on the workers"),
    ],
)
def test_the_log_says_which_exchange_the_workers_choose(
    wanted: Wanted, workers: set[Worker], expected: str
) -> None:
    digests = ", ".join(sorted(str(worker.pyspark_digest) for worker in workers))
    suffix = f" (PySpark {pyspark.__version__}, sources {digests})"

    assert exchange_message(wanted, workers) == expected + suffix


def test_lean_alone_is_refused_if_one_worker_does_not_know_it() -> None:
    with pytest.raises(StartUpError, match=r"^exchange = lean: .*\(sources 0123456789abcdef\)"):
        exchange_message("lean", {HERE, FORK})
