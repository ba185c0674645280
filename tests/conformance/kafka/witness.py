"""What the group coordinator has heard of: it hears of topics and of settings later than the broker tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Final

from tests.conformance.language.lines import Json
from tests.support.until import until

_GROUP: Final = "witness"
_MEMBER: Final = "witness"
GROUP_RESOURCE: Final = 32
"""Groups as those that have settings, by number (ConfigResource.Type)."""
_INTERVAL: Final = "consumer.heartbeat.interval.ms"
_JOINING: Final = 0
_LEAVING: Final = -1
_SET: Final = 0
_POLL_S: Final = 0.01
_TIMEOUT_S: Final = 20.0


@dataclass
class Witness:
    """The only member of a group of its own, which is gone before anything else is asked.

    All groups are in one partition of the offsets topic, so what this group is told holds for all of them.

    Args:
        ask: an API, a version and a request's body; it returns the answer's.
    """

    ask: Callable[[str, int, Json], Json]

    def __post_init__(self) -> None:
        self._intervals_ms = cycle((5_001, 5_002))

    def await_topics(self, names: Iterable[str], sizes: Mapping[str, int]) -> None:
        """Wait until the coordinator knows these topics.

        Args:
            names: of the topics that there are, and of those that there were.
            sizes: the number of partitions by topic id, of those that there are.
        """
        if subscribed := sorted(names):
            _await(lambda: self._assigned(subscribed) == sizes)
            self._leave()

    def await_settings(self) -> None:
        """Wait until the coordinator has all settings of groups that were given before this call."""
        interval_ms = next(self._intervals_ms)
        self._configure(interval_ms)
        _await(lambda: self._heartbeat([_GROUP])["heartbeatIntervalMs"] == interval_ms)
        self._leave()

    def _assigned(self, topics: list[str]) -> dict[str, int]:
        assignment = self._heartbeat(topics)["assignment"]
        return {one["topicId"]: len(one["partitions"]) for one in assignment["topicPartitions"]}

    def _heartbeat(self, topics: list[str]) -> Json:
        """Join, or join again: whoever does is told the whole assignment."""
        full = {"rebalanceTimeoutMs": 60_000, "subscribedTopicNames": topics, "topicPartitions": []}
        return self._say(_JOINING, full)

    def _leave(self) -> None:
        self._say(_LEAVING, {})
        deleted = self.ask("DeleteGroups", 2, {"groupsNames": [_GROUP]})
        assert deleted["results"][0]["errorCode"] == 0, deleted

    def _say(self, epoch: int, more: Json) -> Json:
        body = {"groupId": _GROUP, "memberId": _MEMBER, "memberEpoch": epoch, **more}
        answer = self.ask("ConsumerGroupHeartbeat", 1, body)
        assert answer["errorCode"] == 0, answer
        return answer

    def _configure(self, interval_ms: int) -> None:
        config = {"name": _INTERVAL, "configOperation": _SET, "value": str(interval_ms)}
        resource = {"resourceType": GROUP_RESOURCE, "resourceName": _GROUP, "configs": [config]}
        body = {"resources": [resource], "validateOnly": False}
        answer = self.ask("IncrementalAlterConfigs", 1, body)
        assert answer["responses"][0]["errorCode"] == 0, answer


def _await(condition: Callable[[], bool]) -> None:
    until(condition, seconds=_TIMEOUT_S, awaited="the group coordinator", poll_s=_POLL_S)
