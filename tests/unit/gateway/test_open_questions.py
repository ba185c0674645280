from __future__ import annotations

import asyncio

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.job_channel import NoAnswerError, PendingRequests
from tests.unit.gateway.stage import in_loop


@in_loop
async def test_an_answer_reaches_the_one_who_asked() -> None:
    questions = PendingRequests("gw")
    first_id, first = questions.add(30)
    second_id, second = questions.add(30)

    assert (first_id, second_id) == ("gw-1", "gw-2")
    assert questions.answer("gw-2", {"errorCode": 0})

    assert await second == {"errorCode": 0}
    assert not first.done()
    assert len(questions) == 1


@in_loop
async def test_answers_that_come_twice_or_to_nobody_are_dropped() -> None:
    questions = PendingRequests("gw")
    _, answer = questions.add(30)

    assert questions.answer("gw-1", {"errorCode": 0})
    assert not questions.answer("gw-1", {"errorCode": 27})
    assert not questions.answer("gw-9", {"errorCode": 0})

    assert await answer == {"errorCode": 0}


@in_loop
async def test_a_question_without_an_answer_fails_in_time() -> None:
    questions = PendingRequests("gw")
    _, late = questions.add(0.01)
    _, patient = questions.add(30)

    with pytest.raises(NoAnswerError) as caught:
        await late

    assert caught.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert not patient.done()
    assert not questions.answer("gw-1", {"errorCode": 0})


@in_loop
async def test_a_question_that_cannot_be_sent_says_why() -> None:
    questions = PendingRequests("gw")
    _, answer = questions.add(30)

    questions.fail("gw-1", NoAnswerError(ErrorCode.INVALID_REQUEST))

    with pytest.raises(NoAnswerError) as caught:
        await answer
    assert caught.value.code == ErrorCode.INVALID_REQUEST


@in_loop
async def test_who_goes_is_forgotten() -> None:
    questions = PendingRequests("gw")
    _, answer = questions.add(30)

    answer.cancel()
    await asyncio.sleep(0)

    assert len(questions) == 0
    assert not questions.answer("gw-1", {"errorCode": 0})
