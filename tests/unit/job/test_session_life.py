from __future__ import annotations

from typing import NoReturn

import pytest

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.job.session_life import session


def test_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")

    def make() -> NoReturn:
        raise AssertionError("a session was made")

    with pytest.raises(JobRefusedError, match="Spark Connect"), session(make):
        pass
