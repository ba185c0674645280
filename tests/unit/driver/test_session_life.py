from __future__ import annotations

from typing import NoReturn

import pyspark
import pytest

from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.session import session


def make() -> NoReturn:
    raise AssertionError("a session was made")


def test_an_older_spark_is_refused_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.5.9")

    with pytest.raises(StartUpError) as refused, reported_start_errors(), session(make):
        pass

    assert str(refused.value) == ("PySpark 3.5.9 is not supported: install 4.0 or 4.1 or 4.2")
