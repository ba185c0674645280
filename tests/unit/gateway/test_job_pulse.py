from __future__ import annotations

import asyncio

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.delivery import JobPulse
from group_coordinator.gateway.job.job_channel import GroupRequest, NoAnswerError
from group_coordinator.gateway.login import Caller
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
