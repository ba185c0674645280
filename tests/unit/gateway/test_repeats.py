"""Requests that clients repeat while the job is slow; the clock is moved by hand, and the test gives the job's answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.delivery import Deduplication
from group_coordinator.gateway.job.job_channel import GroupRequest, NoAnswerError, PendingRequests
from group_coordinator.gateway.login import Caller
from tests.support.hand_clock import HandClock, by_hand

CALLER = Caller("billing", "/10.0.0.7", "User:billing", 1)
PATIENCE_S = 25.0
MADE: Body = {"topics": [{"name": "orders", "partitions": [{"partitionIndex": 0, "errorCode": 0}]}]}


class SlowJob:
    """Keeps questions until the test lets it answer them."""

    def __init__(self) -> None:
        self.asked: list[GroupRequest] = []
        self._open = PendingRequests("job")

    def ask(self, question: GroupRequest) -> asyncio.Future[Body]:
        self.asked.append(question)
        return self._open.add(question.timeout_s)[1]

    @property
    def log(self) -> list[int]:
        """The offsets in the order in which the job makes them."""
        return [offset_of(asked) for asked in self.asked if asked.api == "OffsetCommit"]

    def answers(self, number: int, body: Body = MADE) -> None:
        """Its `number`th question, from 1."""
        self._open.answer(f"job-{number}", body)

    def refuses(self, number: int, code: ErrorCode) -> None:
        self._open.fail(f"job-{number}", NoAnswerError(code))


class Scene:
    def __init__(self, clock: HandClock) -> None:
        self.clock = clock
        self.job = SlowJob()
        self.answers: list[asyncio.Future[Body]] = []
        self._repeats = Deduplication(self.job)

    def commit(
        self, offset: int, *, member: str = "m1", caller: Caller = CALLER
    ) -> asyncio.Future[Body]:
        partition = {"partitionIndex": 0, "committedOffset": offset}
        topics = [{"name": "orders", "partitions": [partition]}]
        return self._ask("OffsetCommit", {"memberId": member, "topics": topics}, caller)

    def ask(self, api: str, **body: Any) -> asyncio.Future[Body]:
        return self._ask(api, {"memberId": "m1", **body}, CALLER)

    def _ask(self, api: str, body: Body, caller: Caller) -> asyncio.Future[Body]:
        question = GroupRequest(api, 9, "g", {"groupId": "g", **body}, caller, PATIENCE_S)
        self.answers.append(self._repeats.ask(question))
        return self.answers[-1]


def told(test: Callable[[Scene], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    async def play(clock: HandClock) -> None:
        scene = Scene(clock)
        await test(scene)
        await asyncio.gather(*filter(asyncio.Future.done, scene.answers), return_exceptions=True)

    @wraps(test)
    def run() -> None:
        by_hand(play)

    # pytest would take the scene for a fixture.
    del run.__wrapped__  # type: ignore[attr-defined]
    return run


def offset_of(question: GroupRequest) -> int:
    offset: int = question.body["topics"][0]["partitions"][0]["committedOffset"]
    return offset


def is_given_up(answer: asyncio.Future[Body]) -> bool:
    error = answer.exception() if answer.done() else None
    return isinstance(error, NoAnswerError) and error.code == ErrorCode.COORDINATOR_NOT_AVAILABLE


@told
async def test_a_repeat_is_answered_by_what_the_job_says_of_the_first_one(scene: Scene) -> None:
    first = scene.commit(100)
    await scene.clock.passes(PATIENCE_S)
    assert is_given_up(first)

    repeat = scene.commit(100)
    await scene.clock.passes(5)
    scene.job.answers(1)

    assert await repeat == MADE
    assert scene.job.log == [100]


@told
async def test_commits_that_are_repeated_in_order_are_made_in_order_and_once(scene: Scene) -> None:
    scene.commit(100)
    await scene.clock.passes(5)
    # The client hears of the first one alone, hangs up, and repeats both.
    gone = scene.commit(200)
    await scene.clock.passes(20)
    gone.cancel()

    repeats = [scene.commit(100), scene.commit(200)]
    new = scene.commit(300)
    for number in (1, 2, 3):
        scene.job.answers(number)

    assert await asyncio.gather(*repeats, new) == [MADE, MADE, MADE]
    assert scene.job.log == [100, 200, 300]


@told
async def test_a_client_that_gives_up_sooner_finds_its_heartbeat_again(scene: Scene) -> None:
    beat = {"memberEpoch": 4, "topicPartitions": None}
    for _ in range(3):
        answer = scene.ask("ConsumerGroupHeartbeat", **beat)
        await scene.clock.passes(5)
        answer.cancel()
    answer = scene.ask("ConsumerGroupHeartbeat", **beat)

    scene.job.answers(1, {"errorCode": 0, "memberEpoch": 5})

    assert await answer == {"errorCode": 0, "memberEpoch": 5}
    assert len(scene.job.asked) == 1


@told
async def test_a_commit_that_takes_offsets_back_is_made_behind_the_later_one(scene: Scene) -> None:
    scene.commit(100)
    await scene.clock.passes(PATIENCE_S)

    scene.commit(200)
    scene.commit(100)

    assert scene.job.log == [100, 200, 100]


@told
async def test_so_is_one_that_the_client_sends_twice_at_once(scene: Scene) -> None:
    scene.commit(100)
    scene.commit(100)

    assert scene.job.log == [100, 100]


@told
async def test_a_heartbeat_on_a_new_connection_comes_before_no_commit(scene: Scene) -> None:
    scene.commit(100)
    await scene.clock.passes(PATIENCE_S)

    scene.ask("Heartbeat")
    scene.commit(100)

    assert scene.job.log == [100]


@told
async def test_what_another_member_waits_for_came_at_the_same_time(scene: Scene) -> None:
    scene.commit(100)
    await scene.clock.passes(PATIENCE_S)

    scene.commit(7, member="m2")
    scene.commit(100)

    assert scene.job.log == [100, 7]


@told
async def test_only_the_same_request_of_the_same_client_is_a_repeat(scene: Scene) -> None:
    scene.commit(100)
    await scene.clock.passes(PATIENCE_S)
    others = [
        scene.commit(101),
        scene.commit(100, member="m2"),
        scene.commit(100, caller=CALLER._replace(principal="User:audit")),
    ]

    assert scene.job.log == [100, 101, 100, 100]
    assert not any(answer.done() for answer in others)


@told
async def test_a_fetch_must_see_what_was_committed_before_it(scene: Scene) -> None:
    scene.ask("OffsetFetch")
    await scene.clock.passes(PATIENCE_S)
    scene.ask("OffsetFetch")

    assert len(scene.job.asked) == 2


@told
async def test_an_answer_that_came_meanwhile_is_kept_for_its_repeat(scene: Scene) -> None:
    for offset in (100, 200):
        scene.commit(offset)
    await scene.clock.passes(PATIENCE_S)
    for number in (1, 2):
        scene.job.answers(number)
    await scene.clock.passes(2)

    assert [await scene.commit(offset) for offset in (100, 200)] == [MADE, MADE]
    assert scene.job.log == [100, 200]


@told
async def test_but_not_for_one_behind_a_later_one_that_was_heard(scene: Scene) -> None:
    scene.commit(100)
    scene.commit(200)
    await scene.clock.passes(PATIENCE_S)
    for number in (1, 2):
        scene.job.answers(number)
    await scene.clock.passes(0)
    assert await scene.commit(200) == MADE

    scene.commit(100)

    assert scene.job.log == [100, 200, 100]


@told
async def test_nor_for_long(scene: Scene) -> None:
    scene.commit(100)
    await scene.clock.passes(PATIENCE_S)
    scene.job.answers(1)
    await scene.clock.passes(0)
    await scene.clock.passes(2)

    scene.commit(100)

    assert scene.job.log == [100, 100]


@told
async def test_nor_for_who_is_no_member(scene: Scene) -> None:
    scene.commit(100, member="")
    await scene.clock.passes(PATIENCE_S)
    scene.job.answers(1)
    await scene.clock.passes(0)

    scene.commit(100, member="")

    assert scene.job.log == [100, 100]


@told
async def test_what_was_answered_in_time_is_asked_anew(scene: Scene) -> None:
    first = scene.commit(100)
    scene.job.answers(1)
    assert await first == MADE

    scene.commit(100)

    assert scene.job.log == [100, 100]


@told
async def test_what_cannot_be_asked_is_refused_to_who_waits(scene: Scene) -> None:
    scene.commit(100).cancel()
    repeat = scene.commit(100)
    scene.job.refuses(1, ErrorCode.INVALID_REQUEST)

    with pytest.raises(NoAnswerError) as caught:
        await repeat

    assert caught.value.code == ErrorCode.INVALID_REQUEST


@told
async def test_an_answer_that_does_not_come_for_a_minute_is_lost(scene: Scene) -> None:
    for seconds in (25, 25, 10):
        answer = scene.commit(100)
        await scene.clock.passes(seconds)
        assert is_given_up(answer)
    assert scene.job.log == [100]

    scene.commit(100)

    assert scene.job.log == [100, 100]
