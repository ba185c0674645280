from __future__ import annotations

import pytest

from group_coordinator.clients.channel.pending_replies import PendingReplies
from group_coordinator.clients.channel.request import Request
from group_coordinator.clients.channel_errors import (
    BrokerUnreachableError,
    ChannelClosedError,
    RequestTimedOutError,
)

HEARTBEAT = Request("Heartbeat", 4, "billing", {})


@pytest.fixture
def pending() -> PendingReplies:
    return PendingReplies()


def test_an_answer_reaches_the_one_who_asked(pending: PendingReplies) -> None:
    first = pending.add("c-1", HEARTBEAT, timeout_s=30, now_s=0)
    second = pending.add("c-2", HEARTBEAT, timeout_s=30, now_s=0)

    pending.complete("c-2", {"errorCode": 0})

    assert second.result(timeout=0) == {"errorCode": 0}
    assert not first.done()


def test_a_repeated_answer_is_dropped(pending: PendingReplies) -> None:
    reply = pending.add("c-1", HEARTBEAT, timeout_s=30, now_s=0)

    pending.complete("c-1", {"errorCode": 0})
    pending.complete("c-1", {"errorCode": 27})

    assert reply.result(timeout=0) == {"errorCode": 0}


def test_an_answer_that_nobody_asked_for_is_dropped(pending: PendingReplies) -> None:
    pending.complete("c-1", {"errorCode": 0})


def test_a_late_request_fails_and_names_everything(pending: PendingReplies) -> None:
    reply = pending.add("c-1", HEARTBEAT, timeout_s=1.5, now_s=100)

    pending.expire(now_s=101.4)
    assert not reply.done()
    pending.expire(now_s=101.5)

    with pytest.raises(RequestTimedOutError) as caught:
        reply.result(timeout=0)
    assert str(caught.value) == (
        "no answer to Heartbeat v4 for group 'billing' (correlation id c-1) in 1.5 s; "
        "is the job running, and not older than this client? `group-coordinator run` starts it"
    )


def test_an_answer_after_the_timeout_is_dropped(pending: PendingReplies) -> None:
    reply = pending.add("c-1", HEARTBEAT, timeout_s=1, now_s=0)
    pending.expire(now_s=2)

    pending.complete("c-1", {"errorCode": 0})

    assert isinstance(reply.exception(timeout=0), RequestTimedOutError)


def test_a_request_that_cannot_be_sent_fails(pending: PendingReplies) -> None:
    reply = pending.add("c-1", HEARTBEAT, timeout_s=30, now_s=0)

    pending.fail("c-1", BrokerUnreachableError("gone"))

    assert isinstance(reply.exception(timeout=0), BrokerUnreachableError)


def test_when_the_channel_closes_all_fail_and_nobody_may_ask(pending: PendingReplies) -> None:
    reply = pending.add("c-1", HEARTBEAT, timeout_s=30, now_s=0)

    pending.fail_all(ChannelClosedError("closed"))

    assert isinstance(reply.exception(timeout=0), ChannelClosedError)
    with pytest.raises(ChannelClosedError):
        pending.add("c-2", HEARTBEAT, timeout_s=30, now_s=0)


def test_a_cancelled_request_is_let_go(pending: PendingReplies) -> None:
    reply = pending.add("c-1", HEARTBEAT, timeout_s=1, now_s=0)
    reply.cancel()

    pending.expire(now_s=2)

    assert reply.cancelled()
