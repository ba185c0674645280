"""What was asked and how long each answer took."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from statistics import median
from time import perf_counter
from typing import TypeAlias

from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import ChannelError

Ask: TypeAlias = Callable[[Request], Awaitable[Body]]

TOPIC = "orders"
_NO_EPOCH = -1
_SIMPLE = -1


class ResponseTimes:
    """Of one way to ask."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []
        self.failed = 0
        self.open = 0
        """How many have no answer yet."""

    async def timed(self, ask: Ask, request: Request) -> Body | None:
        """The answer; None, and counted, if there is none or it is an error."""
        begun_s = perf_counter()
        self.open += 1
        try:
            answer = await ask(request)
        except (ConnectionError, ChannelError):
            self.failed += 1
            return None
        finally:
            self.open -= 1
        self.waits_s.append(perf_counter() - begun_s)
        if any(_codes(answer)):
            self.failed += 1
            return None
        return answer

    def later_than(self, wait_s: float) -> int:
        """How many answers took longer."""
        return sum(each > wait_s for each in self.waits_s)

    def ms(self, share: float) -> float:
        """The wait that this share of the answers did not exceed."""
        last = len(self.waits_s) - 1
        return round(sorted(self.waits_s)[int(last * share)] * 1000, 1)

    @property
    def median_ms(self) -> float:
        """Of all answers."""
        return round(median(self.waits_s) * 1000, 1)


async def ask_steadily(
    ask: Ask, requests: Iterable[Request], rate: int, times: ResponseTimes
) -> None:
    """So many a second, each request made when it is sent; return when all are answered."""
    begun_s, asked = perf_counter(), []
    for number, request in enumerate(requests):
        early_s = begun_s + number / rate - perf_counter()
        if early_s > 0:
            await asyncio.sleep(early_s)
        asked.append(asyncio.create_task(times.timed(ask, request)))
    await asyncio.gather(*asked)


def commit(group_id: str, offset: int) -> Request:
    """Of a group without members."""
    partition = {
        "partitionIndex": 0,
        "committedOffset": offset,
        "committedLeaderEpoch": _NO_EPOCH,
        "committedMetadata": "",
    }
    body = {
        "groupId": group_id,
        "generationIdOrMemberEpoch": _SIMPLE,
        "memberId": "",
        "topics": [{"name": TOPIC, "partitions": [partition]}],
    }
    return Request("OffsetCommit", 9, group_id, body)


def heartbeat(group_id: str, member_id: str, epoch: int) -> Request:
    """Of a member that has nothing to say; with epoch 0 it joins."""
    body: Body = {"groupId": group_id, "memberId": member_id, "memberEpoch": epoch}
    if epoch == 0:
        body |= {
            "rebalanceTimeoutMs": 300_000,
            "subscribedTopicNames": [TOPIC],
            "topicPartitions": [],
        }
    return Request("ConsumerGroupHeartbeat", 1, group_id, body)


def _codes(answer: Body) -> Iterator[int]:
    yield answer.get("errorCode", 0)
    for topic in answer.get("topics", ()):
        for partition in topic["partitions"]:
            yield partition["errorCode"]
