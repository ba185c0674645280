from __future__ import annotations

from kafka import TopicPartition

from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.options import MemberOptions
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.clients.offset_messages import commit_offsets
from group_coordinator.demo.survey import Survey
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

GROUPS = ["modern", "simple", "gone"]


def test_each_group_is_asked_by_the_api_that_knows_it() -> None:
    coordinator = CoordinatorInProcess()
    offsets = {TopicPartition("orders", 0): 1}
    coordinator.send(commit_offsets(MemberIdentity("simple"), offsets))
    GroupMember(
        coordinator,
        "modern",
        ["orders"],
        topic_ids={},
        options=MemberOptions(group_protocol="consumer"),
        clock=coordinator.clock,
    ).join()
    survey = Survey(coordinator)
    before = len(coordinator.events)

    for now_s in (0.0, 1.0, 2.0):
        survey.tick(now_s, GROUPS)

    assert survey.states == {"Stable": 1, "Empty": 1, "Dead": 1}
    assert (survey.member_count, survey.consumer_group_count) == (1, 1)
    first_round = len(coordinator.events) - before

    for now_s in (3.0, 4.0, 5.0):
        survey.tick(now_s, GROUPS)

    # Of the second round only the group that is gone is asked twice.
    assert (first_round, len(coordinator.events) - before) == (5, 9)
    assert survey.states == {"Stable": 1, "Empty": 1, "Dead": 1}
