"""The two clients have the same methods, and the examples in their documentation are true for both."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

import pytest

from group_coordinator.clients import AdminClient, AsyncAdminClient
from group_coordinator.clients.admin.descriptions import GroupListing
from group_coordinator.clients.errors import TablesUnavailableError
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

METHODS = [
    name
    for name, _ in inspect.getmembers(AdminClient, inspect.isroutine)
    if not name.startswith("_")
]


def test_all_that_an_administrator_does_is_there() -> None:
    assert METHODS == [
        "alter_consumer_group_offsets",
        "alter_group_configs",
        "close",
        "commit_reset",
        "commit_restore",
        "delete_consumer_group_offsets",
        "delete_consumer_groups",
        "describe_consumer_groups",
        "describe_group_configs",
        "list_consumer_group_offsets",
        "list_consumer_groups",
        "list_offsets_of_groups",
        "remove_members_from_consumer_group",
        "reset_consumer_group_offsets",
    ]


def test_the_twin_has_the_same_methods() -> None:
    twins = inspect.getmembers(AsyncAdminClient, inspect.isroutine)

    assert [name for name, _ in twins if not name.startswith("_")] == METHODS


@pytest.mark.parametrize("name", METHODS)
def test_a_method_and_its_twin(name: str) -> None:
    method, twin = getattr(AdminClient, name), getattr(AsyncAdminClient, name)

    assert inspect.signature(method) == inspect.signature(twin)
    assert inspect.getdoc(method) == inspect.getdoc(twin)
    assert not inspect.iscoroutinefunction(method)
    assert inspect.iscoroutinefunction(twin)


@pytest.mark.parametrize("name", METHODS)
def test_the_example_of_a_method(admin: Any, name: str) -> None:
    text = inspect.getdoc(getattr(AdminClient, name)) or ""
    example = doctest.DocTestParser().get_doctest(text, {"admin": admin}, name, None, None)
    said: list[str] = []

    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)

    assert outcome.attempted > 0, "every public method is shown in use"
    assert outcome.failed == 0, "".join(said)


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
