from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.clients import AdminClient
from group_coordinator.clients.admin.descriptions import GroupListing
from group_coordinator.clients.errors import TablesUnavailableError
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

BILLING = GroupListing("billing", "consumer", "Stable", "consumer")
REPORTS = GroupListing("reports", "classic", "Empty", "")


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        (None, None, [BILLING, REPORTS]),
        ([], [], [BILLING, REPORTS]),
        ({"STABLE", "empty "}, None, [BILLING, REPORTS]),
        ({"Empty"}, None, [REPORTS]),
        (None, {"Consumer"}, [BILLING]),
        ({"Empty"}, {"consumer"}, []),
        ({"no such state"}, None, []),
    ],
)
def test_states_and_types(admin: Any, states: Any, types: Any, found: list[GroupListing]) -> None:
    assert admin.list_consumer_groups(states, types) == found


def test_a_group_under_the_names_of_others() -> None:
    assert (REPORTS.type, REPORTS.is_simple_consumer_group) == ("classic", True)


def test_groups_of_all_clusters(tables_root: str, stage: CoordinatorInProcess) -> None:
    with AdminClient(channel=stage, tables_root=tables_root) as admin:
        assert [group.group_id for group in admin.list_consumer_groups()] == [
            *("billing", "billing", "reports")
        ]


def test_without_tables(tmp_path: Any, stage: CoordinatorInProcess) -> None:
    with (
        AdminClient(channel=stage, tables_root=str(tmp_path)) as admin,
        pytest.raises(TablesUnavailableError),
    ):
        admin.list_consumer_groups()
