"""The wait for the job: its longest duration, the state of the job, and repeated requests, which get the first one's response.

A client repeats what had no answer within its own time, or within the gateway's. The job makes the first one all the same. Asked
again, it would do twice what it was too slow to do once; and a commit that is made again behind a later one takes offsets back.

The job answers a group's events in order, so while it owes an answer, nobody has heard of anything that came behind, and a
repeat has its effect between its own coming and its answer. A commit that the same member waits for, or has heard of, came before
its repeat: behind that, the repeat is asked anew. So it is with heartbeats; between the two, order says nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TypeAlias

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.requests import (
    ASKER,
    Job,
    NoAnswerError,
    OpenQuestions,
    Question,
)
from group_coordinator.gateway.remembered import Remembered
from group_coordinator.gateway.served import PARKED_APIS

GRACE_S = 10.0
"""How much longer than its rebalance timeout a join may take."""
_MOST_BYTES = 4 * 1024 * 1024
"""Of the members whose rebalance timeouts are kept, about 15,000; those that joined first are forgotten."""
_UNKNOWN_TIMEOUT_MS = 300_000
"""max.poll.interval.ms of nearly all clients, which they send as their rebalance timeout."""
_REBALANCE_TIMEOUT_SINCE = 1
"""Of JoinGroup."""


class Patience:
    """Timeouts of questions. A join is answered when its group has met, a sync when its leader has assigned."""

    def __init__(self, answer_timeout_ms: int) -> None:
        self._answer_timeout_s = answer_timeout_ms / 1000
        self._rebalance_timeouts_ms: Remembered[tuple[str, str], int] = Remembered(_MOST_BYTES)

    def timeout_s(self, api: str, version: int, body: Body) -> float:
        """How long to wait for the answer to this request."""
        if api == "JoinGroup":
            return _rebalance_timeout_ms(version, body) / 1000 + GRACE_S
        if api == "SyncGroup":
            member = (body["groupId"], body["memberId"])
            timeout_ms = self._rebalance_timeouts_ms.get(member)
            known_ms = _UNKNOWN_TIMEOUT_MS if timeout_ms is None else timeout_ms
            return known_ms / 1000 + GRACE_S
        return self._answer_timeout_s

    def learn(self, question: Question, answer: Body) -> None:
        """Remember what a member that has joined may take until its sync is answered."""
        if question.api != "JoinGroup" or answer.get("errorCode") != ErrorCode.NONE:
            return
        member = (question.group_id, answer["memberId"])
        self._rebalance_timeouts_ms[member] = _rebalance_timeout_ms(question.version, question.body)


def _rebalance_timeout_ms(version: int, body: Body) -> int:
    known = version >= _REBALANCE_TIMEOUT_SINCE
    timeout_ms: int = body["rebalanceTimeoutMs" if known else "sessionTimeoutMs"]
    return max(0, timeout_ms)


_PROBED = "gateway"
"""A group that need not exist."""


class JobPulse:
    """Passes questions on to the job, and watches the answers."""

    def __init__(
        self, job: Job, answer_timeout_ms: int, clock_s: Callable[[], float] = monotonic
    ) -> None:
        self._job = job
        self._answer_timeout_s = answer_timeout_ms / 1000
        self._clock_s = clock_s
        self._waiting_since_s: float | None = None
        """When the first question was asked that came after the last answer."""
        self._probed_s = -inf

    def ask(self, question: Question) -> asyncio.Future[Body]:
        """As the job does."""
        if self._waiting_since_s is None and question.api not in PARKED_APIS:
            self._waiting_since_s = self._clock_s()
        answer = self._job.ask(question)
        answer.add_done_callback(self._answered)
        return answer

    def why_not_ready(self) -> str | None:
        """None: it has answered since it was asked, or it still has time.

        A job that was silent is asked from here: nobody sends clients to a gateway that is not ready.
        """
        since_s, now_s = self._waiting_since_s, self._clock_s()
        if since_s is None or now_s - since_s <= self._answer_timeout_s:
            return None
        if now_s - self._probed_s > self._answer_timeout_s:
            self._probed_s = now_s
            self._job.ask(_probe(self._answer_timeout_s)).add_done_callback(self._answered)
        return f"the job has answered nothing for {now_s - since_s:.0f} seconds"

    def _answered(self, answer: asyncio.Future[Body]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._waiting_since_s = None


def _probe(timeout_s: float) -> Question:
    """A question that changes nothing."""
    return Question("DescribeGroups", 5, _PROBED, {"groups": [_PROBED]}, ASKER, timeout_s)


_REPEATED = frozenset({"OffsetCommit", "Heartbeat", "ConsumerGroupHeartbeat"})
"""Made twice in a row they say what they say once. A fetch is not among them: it must see what was made before the repeat."""
_OWED_S = 60.0
"""The job's answer is waited for so long, whoever gives up meanwhile; later it counts as lost, and a repeat is asked anew."""
_LATE_S = 2.0
"""An answer that comes when nobody waits is kept so long: clients wait 0.1 to 1 s before they repeat.

Meanwhile others may have heard of later commits, but not of any to a partition of that member, while it is one. Who is no
member shares its partitions with anybody, so its answers are not kept.
"""

_Line: TypeAlias = tuple[str, str, str]
"""API, group id and member id: requests whose order counts. Who is no member of its group has the id ""."""


class _Asked:
    """A question that the job got, its answer, and who waits for that."""

    __slots__ = ("answer", "late", "question", "waiting_id")

    def __init__(self, question: Question, waiting_id: str, answer: asyncio.Future[Body]) -> None:
        self.question = question
        self.waiting_id = waiting_id
        self.answer = answer
        self.late: Body | None = None
        """What the job said when nobody waited."""

    @property
    def is_waited_for(self) -> bool:
        """False: the gateway gave it up, or its client is gone."""
        return not self.answer.done()


class Repeats:
    """Passes questions on to the job, but for repeats."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._waiting = OpenQuestions("waiting")
        self._asked: dict[_Line, list[_Asked]] = {}
        """In the order of their events."""

    def ask(self, question: Question) -> asyncio.Future[Body]:
        """As the job does."""
        if question.api not in _REPEATED:
            return self._job.ask(question)
        waiting_id, answer = self._waiting.add(question.timeout_s)
        asked = self._first_of(question)
        if asked is None:
            self._ask_job(_Asked(question, waiting_id, answer))
            return answer
        asked.waiting_id, asked.answer = waiting_id, answer
        if asked.late is not None:
            self._give(asked, asked.late)
        return answer

    def _first_of(self, question: Question) -> _Asked | None:
        """What this question repeats; None: nothing, or it must come behind what the member has asked since."""
        first = None
        for asked in self._asked.get(_line(question), ()):
            if asked.is_waited_for:
                first = None
            elif first is None and _is_same(asked.question, question):
                first = asked
        return first

    def _ask_job(self, asked: _Asked) -> None:
        self._asked.setdefault(_line(asked.question), []).append(asked)
        told = self._job.ask(asked.question._replace(timeout_s=_OWED_S))
        told.add_done_callback(lambda _: self._settle(asked, told))

    def _settle(self, asked: _Asked, told: asyncio.Future[Body]) -> None:
        try:
            body = told.result()
        except NoAnswerError as error:
            self._forget(asked)
            self._waiting.fail(asked.waiting_id, error)
            return
        if asked.is_waited_for:
            self._give(asked, body)
        elif asked.question.body["memberId"]:
            asked.late = body
            asyncio.get_running_loop().call_later(_LATE_S, self._forget, asked)
        else:
            self._forget(asked)

    def _give(self, asked: _Asked, body: Body) -> None:
        """What the member has not heard of before, it will not hear of: a repeat of it comes behind this answer."""
        line = self._asked[_line(asked.question)]
        unheard = [each for each in line[: line.index(asked)] if each.late is not None]
        for each in (*unheard, asked):
            self._forget(each)
        self._waiting.answer(asked.waiting_id, body)

    def _forget(self, asked: _Asked) -> None:
        line = _line(asked.question)
        left = [each for each in self._asked.get(line, ()) if each is not asked]
        if left:
            self._asked[line] = left
        else:
            self._asked.pop(line, None)


def _line(question: Question) -> _Line:
    return question.api, question.group_id, question.body["memberId"]


def _is_same(one: Question, other: Question) -> bool:
    return one == other._replace(timeout_s=one.timeout_s)
