from __future__ import annotations

import pytest

from group_coordinator.report.page import Report, ask
from group_coordinator.report.section import Scope
from tests.support.busy_day import DAY, END, busy_day


@pytest.fixture(scope="session")
def day(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return ask(str(busy_day(tmp_path_factory.mktemp("day"))), Scope(DAY, END))
