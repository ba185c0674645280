from __future__ import annotations

import asyncio
from typing import Any

import pytest

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.delivery import JobPulse, RecentEntries, RequestTimeouts
from group_coordinator.gateway.job.job_channel import GroupRequest, NoAnswerError
from group_coordinator.gateway.login import Caller
from tests.unit.gateway.groups_driver import join_body
from tests.unit.gateway.stage import in_loop

SOMEBODY = Caller("", "/127.0.0.1", "User:ANONYMOUS", None)


class Job:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.answers: list[asyncio.Future[Body]] = []

    def ask(self, question: GroupRequest) -> asyncio.Future[Body]:  # noqa: ARG002 - the answer is the test's
        self.answers.append(asyncio.get_running_loop().create_future())
        return self.answers[-1]


def question(api: str) -> GroupRequest:
    return GroupRequest(api, 0, "billing", {}, SOMEBODY, 9.0)


@in_loop
async def test_a_job_that_answers_nothing_for_longer_than_it_may_is_told() -> None:
    job, now_s = Job(), 100.0
    pulse = JobPulse(job, 9_000, lambda: now_s)
    assert pulse.why_not_ready() is None
    pulse.ask(question("Heartbeat"))
    now_s = 105.0
    pulse.ask(question("Heartbeat"))
    now_s = 109.0
    assert pulse.why_not_ready() is None
    now_s = 109.5
    assert pulse.why_not_ready() == "the job has not responded for 10 seconds"
    # The gateway's own refusal in the place of an answer is none of the job's.
    job.answers[0].set_exception(NoAnswerError(ErrorCode.COORDINATOR_NOT_AVAILABLE))
    await asyncio.sleep(0)
    assert pulse.why_not_ready() is not None
    job.answers[1].set_result({"errorCode": 0})
    await asyncio.sleep(0)
    assert pulse.why_not_ready() is None
    now_s = 200.0
    pulse.ask(question("OffsetCommit"))
    assert pulse.why_not_ready() is None


@in_loop
async def test_joins_and_syncs_may_take_long() -> None:
    now_s = 100.0
    pulse = JobPulse(Job(), 9_000, lambda: now_s)
    pulse.ask(question("JoinGroup"))
    pulse.ask(question("SyncGroup"))
    now_s = 300.0

    assert pulse.why_not_ready() is None


@in_loop
async def test_a_job_that_was_silent_is_asked_until_it_answers() -> None:
    job, now_s = Job(), 100.0
    pulse = JobPulse(job, 9_000, lambda: now_s)
    pulse.ask(question("Heartbeat")).cancel()
    now_s = 110.0
    assert pulse.why_not_ready() is not None
    assert pulse.why_not_ready() is not None
    assert len(job.answers) == 2
    now_s = 120.0
    assert pulse.why_not_ready() is not None
    assert len(job.answers) == 3

    job.answers[2].set_result({"groups": []})
    await asyncio.sleep(0)

    assert pulse.why_not_ready() is None


CALLER = Caller("billing", "/10.0.0.7", "User:billing", None)


@pytest.fixture
def timeouts() -> RequestTimeouts:
    return RequestTimeouts(9_000)


def join(version: int = 9, **body: Any) -> GroupRequest:
    return GroupRequest("JoinGroup", version, "g", join_body("g") | body, CALLER, 0)


def sync(member_id: str) -> dict[str, Any]:
    return {"groupId": "g", "memberId": member_id}


def test_most_answers_come_soon(timeouts: RequestTimeouts) -> None:
    assert timeouts.timeout_s("Heartbeat", 4, {}) == 9
    assert timeouts.timeout_s("OffsetCommit", 9, {}) == 9


def test_a_join_may_take_as_long_as_its_group_may_wait(timeouts: RequestTimeouts) -> None:
    assert timeouts.timeout_s("JoinGroup", 9, join_body("g")) == 70
    assert timeouts.timeout_s("JoinGroup", 1, join_body("g")) == 70


def test_the_oldest_joins_have_only_a_session_timeout(timeouts: RequestTimeouts) -> None:
    body = join_body("g")
    del body["rebalanceTimeoutMs"]

    assert timeouts.timeout_s("JoinGroup", 0, body) == 40


def test_a_timeout_below_zero_is_none(timeouts: RequestTimeouts) -> None:
    assert timeouts.timeout_s("JoinGroup", 9, join_body("g") | {"rebalanceTimeoutMs": -5}) == 10


def test_a_sync_may_take_as_long_as_its_members_join(timeouts: RequestTimeouts) -> None:
    timeouts.learn(join(rebalanceTimeoutMs=20_000), {"errorCode": 0, "memberId": "a"})
    timeouts.learn(join(rebalanceTimeoutMs=1), {"errorCode": 79, "memberId": "b"})

    assert timeouts.timeout_s("SyncGroup", 5, sync("a")) == 30
    assert timeouts.timeout_s("SyncGroup", 5, sync("b")) == 310
    assert timeouts.timeout_s("SyncGroup", 5, sync("somebody elses")) == 310


def test_of_many_members_the_oldest_are_forgotten(timeouts: RequestTimeouts) -> None:
    ids = [f"m{number}" for number in range(4_000)]
    for each in ids:
        timeouts.learn(join(rebalanceTimeoutMs=0), {"errorCode": 0, "memberId": each.ljust(30_000)})

    waits = [timeouts.timeout_s("SyncGroup", 5, sync(each.ljust(30_000))) for each in ids]
    assert waits == [310] * (4_000 - 138) + [10] * 138


def kept(cache: RecentEntries[str, int]) -> list[int]:
    return [value for _, value in cache.items()]


def test_names_of_any_length_take_as_many_bytes_as_there_may_be() -> None:
    short, long = RecentEntries[str, int](1_000_000), RecentEntries[str, int](1_000_000)
    for number in range(20_000):
        short[f"{number:06}"] = number
        long[f"{number:06}".ljust(32_000)] = number

    assert kept(short) == list(range(20_000 - 4_854, 20_000))
    assert kept(long) == list(range(20_000 - 31, 20_000))


def test_one_that_is_set_anew_counts_once_and_is_the_newest() -> None:
    cache = RecentEntries[str, int](3 * 201)
    for number, name in enumerate("abcab"):
        cache[name] = number
    cache["d"] = 5

    assert kept(cache) == [3, 4, 5]
    assert (cache.get("c"), cache.pop("a"), cache.pop("a"), len(cache)) == (None, 3, None, 2)


def test_one_that_is_larger_than_all_that_may_be_is_kept_alone() -> None:
    cache = RecentEntries[str, int](1_000)
    cache["a"], cache["x" * 5_000] = 1, 2

    assert kept(cache) == [2]


def test_what_is_not_ascii_is_weighed_as_what_python_may_take_for_it() -> None:
    cache = RecentEntries[tuple[str, str], int](2_000)
    cache["group", "\U0001f600" * 200] = 1
    cache["group", "\U0001f601" * 200] = 2

    assert [value for _, value in cache.items()] == [2]
