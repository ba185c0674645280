from __future__ import annotations

import pytest

from group_coordinator.clients.channel import PendingReply, Request, TimedReplies
from group_coordinator.clients.errors import ChannelClosedError, RequestTimedOutError

HEARTBEAT = Request("Heartbeat", 4, "billing", {})


@pytest.fixture
def pending() -> TimedReplies:
    return TimedReplies("c")


def test_a_late_request_fails_and_names_everything(pending: TimedReplies) -> None:
    reply = PendingReply(HEARTBEAT, timeout_s=1.5, now_s=100)
    pending.put(reply)

    pending.expire(now_s=101.4)
    assert not reply.done()
    pending.expire(now_s=101.5)

    with pytest.raises(RequestTimedOutError) as caught:
        reply.result(timeout=0)
    assert str(caught.value) == (
        "no response to Heartbeat v4 for group 'billing' (correlation id c-1) in 1.5 s: check that the job "
        "runs (`group-coordinator run`) and is not older than this client"
    )


def test_when_the_channel_closes_all_fail_and_nobody_may_ask(pending: TimedReplies) -> None:
    reply = PendingReply(HEARTBEAT, timeout_s=30, now_s=0)
    pending.put(reply)

    pending.fail_all(ChannelClosedError("closed"))

    assert isinstance(reply.exception(timeout=0), ChannelClosedError)
    with pytest.raises(ChannelClosedError):
        pending.put(PendingReply(HEARTBEAT, timeout_s=30, now_s=0))


def test_a_cancelled_request_is_let_go(pending: TimedReplies) -> None:
    reply = PendingReply(HEARTBEAT, timeout_s=1, now_s=0)
    pending.put(reply)
    reply.cancel()

    assert not pending.answer("c-1", {"errorCode": 0})

    assert reply.cancelled()
