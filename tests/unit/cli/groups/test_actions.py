from __future__ import annotations

import pytest

from group_coordinator.cli.groups.actions import print_failure_of_group
from group_coordinator.clients.errors import ClientError, GroupIdNotFoundError, NonEmptyGroupError

FAILED = "\nError: Executing consumer group command failed due to "


@pytest.mark.parametrize(
    ("group", "error", "said"),
    [
        ("empty", NonEmptyGroupError(), "The group is not empty. (group 'empty')"),
        ("billing", GroupIdNotFoundError("Group billing not found."), "Group billing not found."),
        ("other", GroupIdNotFoundError("No such."), "No such. (group 'other')"),
        ("", NonEmptyGroupError(), "The group is not empty. (group '')"),
    ],
)
def test_a_failure_of_a_group_names_it_once(
    capsys: pytest.CaptureFixture[str], group: str, error: ClientError, said: str
) -> None:
    print_failure_of_group(group, error)

    line = capsys.readouterr().err
    assert line.startswith(FAILED)
    assert line.endswith(f": {said}\n")
