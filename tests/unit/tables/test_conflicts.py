from __future__ import annotations

from delta import exceptions
from deltalake.exceptions import CommitFailedError

from group_coordinator.tables.storage_errors import CONFLICTS


def test_all_of_delta_are_known() -> None:
    of_delta = {each for each in vars(exceptions).values() if isinstance(each, type)}

    assert len(of_delta) == 8
    assert {CommitFailedError, *of_delta} == set(CONFLICTS)
