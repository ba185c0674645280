from __future__ import annotations

from typing import NoReturn

import pyspark
import pytest

from group_coordinator.job.refusal_causes import refusals_told
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.job.session_life import session


def make() -> NoReturn:
    raise AssertionError("a session was made")


@pytest.mark.parametrize("version", ["3.5.9", "4.3.0", "5.0.0"])
def test_a_spark_that_nobody_has_tried_is_refused(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)

    with pytest.raises(JobRefusedError) as refused, refusals_told(), session(make):
        pass

    assert str(refused.value) == (
        f"PySpark {version} is none of those that the job was seen to run on: "
        "it needs 4.0 or 4.1 or 4.2"
    )
