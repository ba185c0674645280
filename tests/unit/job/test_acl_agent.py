from __future__ import annotations

import logging

import pytest

from group_coordinator.clients.channel_errors import BrokerUnreachableError
from group_coordinator.clients.cluster.cluster_acls import AclsUnreadableError
from group_coordinator.core.acls.rule import Acls
from group_coordinator.job.acl_agent import AclAgent
from tests.support.acls import rules

READER = Acls(rules("ALLOW User:a READ GROUP billing"))
NOBODY = Acls(())


class Source:
    """Gives what it is told, or fails."""

    def __init__(self, *found: Acls | Exception) -> None:
        self._found = list(found)

    def __call__(self) -> Acls:
        found = self._found.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def test_rules_are_given_as_they_change() -> None:
    taken: list[Acls] = []
    agent = AclAgent(Source(READER, NOBODY), taken.append)

    agent.begin()
    agent.look()

    assert taken == [READER, NOBODY]


@pytest.mark.parametrize(("later_s", "times"), [(3599.0, 2), (3600.0, 3)])
def test_rules_that_cannot_be_read_any_more_stay_and_that_is_said_once_an_hour(
    caplog: pytest.LogCaptureFixture, later_s: float, times: int
) -> None:
    broken = AclsUnreadableError("acls.file = rules.json: not JSON")
    taken: list[Acls] = []
    now_s = iter([50.0, 50.0 + later_s, 9_000.0])
    found = Source(READER, broken, broken, NOBODY, broken)
    agent = AclAgent(found, taken.append, lambda: next(now_s))
    agent.begin()

    with caplog.at_level(logging.WARNING):
        for _ in range(4):
            agent.look()

    assert taken == [READER, NOBODY]
    said = "the ACLs stay as they were: acls.file = rules.json: not JSON"
    assert caplog.messages == [said] * times


@pytest.mark.parametrize("failure", [AclsUnreadableError("why"), BrokerUnreachableError("why")])
def test_a_run_does_not_begin_without_rules(failure: Exception) -> None:
    taken: list[Acls] = []

    with pytest.raises(type(failure)):
        AclAgent(Source(failure), taken.append).begin()

    assert taken == []
