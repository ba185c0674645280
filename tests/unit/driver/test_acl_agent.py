from __future__ import annotations

import logging

import pytest

from group_coordinator.clients.cluster.held_rights import AclsUnreadableError
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.acls import Acls
from group_coordinator.driver.tasks.acls import AclTask
from tests.support.acls import rules
from tests.unit.driver.metrics.scraped import shown

AGE = "group_coordinator_acls_age_seconds"
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


class Hours:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.now_s = 5_000.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def test_rules_are_given_as_they_change() -> None:
    taken: list[Acls] = []
    agent = AclTask(Source(READER, NOBODY), taken.append)

    agent.begin()
    agent.look()

    assert taken == [READER, NOBODY]


@pytest.mark.parametrize(("later_s", "times"), [(3599.0, 2), (3600.0, 3)])
def test_rules_that_cannot_be_read_any_more_stay_and_that_is_said_once_an_hour(
    caplog: pytest.LogCaptureFixture, later_s: float, times: int
) -> None:
    broken = AclsUnreadableError("acls.file = rules.json: not JSON")
    taken: list[Acls] = []
    clock = Hours()
    agent = AclTask(Source(READER, broken, broken, NOBODY, broken), taken.append, clock)
    agent.begin()

    with caplog.at_level(logging.WARNING):
        agent.look()
        clock.sleep(later_s)
        for _ in range(3):
            agent.look()

    assert taken == [READER, NOBODY]
    said = "the last ACLs stay in force: acls.file = rules.json: not JSON"
    assert caplog.messages == [said] * times


@pytest.mark.parametrize("failure", [AclsUnreadableError("why"), BrokerUnreachableError("why")])
def test_a_run_does_not_begin_without_rules(failure: Exception) -> None:
    taken: list[Acls] = []

    with pytest.raises(type(failure)):
        AclTask(Source(failure), taken.append).begin()

    assert taken == []


def test_the_age_of_the_rules_is_that_of_the_last_look_that_found_some() -> None:
    """A look that finds the same rules counts; one at a file that is damaged, or at a cluster that is away, does not."""
    clock = Hours()
    broken, away = AclsUnreadableError("not JSON"), BrokerUnreachableError("no broker answers")
    found = Source(READER, READER, broken, away, NOBODY)
    agent = AclTask(found, lambda _: None, clock)
    agent.begin()

    clock.sleep(10)
    assert shown(agent.families()) == {AGE: 10}
    agent.look()
    assert shown(agent.families()) == {AGE: 0}
    clock.sleep(20)
    agent.look()
    assert shown(agent.families()) == {AGE: 20}
    clock.sleep(30)
    with pytest.raises(BrokerUnreachableError):
        agent.look()
    assert shown(agent.families()) == {AGE: 50}
    clock.sleep(1)
    agent.look()
    assert shown(agent.families()) == {AGE: 0}


def test_rules_that_were_never_read_have_no_age() -> None:
    agent = AclTask(Source(AclsUnreadableError("why")), lambda _: None)
    with pytest.raises(AclsUnreadableError):
        agent.begin()

    assert shown(agent.families()) == {}
