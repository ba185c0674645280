"""How long the job may take for an answer."""

from __future__ import annotations

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job.requests import Question
from group_coordinator.gateway.remembered import Remembered

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
