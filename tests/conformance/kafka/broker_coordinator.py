"""The third coordinator: a real broker, in real time, asked in raw requests over loopback."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from selectors import EVENT_READ, DefaultSelector
from typing import Final

from tests.conformance.kafka.broker_records import lines_of
from tests.conformance.kafka.producers import Producers
from tests.conformance.kafka.raw_requests import RawRequest
from tests.conformance.kafka.real_broker import RealBroker
from tests.conformance.language.lines import Json
from tests.conformance.live.for_real_broker import groups_of

_TIMEOUT_S: Final = 5.0
_POLL_S: Final = 0.02
_HANDLED_S: Final = 0.05
"""When a request is not answered yet, the next one follows after this time, on another connection."""

_ASIDE: Final[Json] = {"groupId": "aside", "generationIdOrMemberEpoch": -1, "memberId": ""}
"""A group of no story."""


class BrokerCoordinator:
    """Plays one story to a broker.

    Args:
        broker: the broker, whose other groups it leaves alone.
        awaited: the answers that should be there after each line, by correlation id; time passes until they are.
    """

    def __init__(self, broker: RealBroker, awaited: Sequence[AbstractSet[str]]) -> None:
        self._broker = broker
        self._start = broker.end_of_log()
        self._producers = Producers(broker)
        self._awaited = iter(awaited)
        self._open = DefaultSelector()

    def begin(self, overrides: Mapping[str, str], salt: str | None) -> None:  # noqa: ARG002 - it makes up its own ids
        """Take no other settings than those that the broker has from its start."""
        assert overrides.items() <= self._broker.settings.items()

    def say(self, line: str) -> list[Json]:
        """Do as the line says and collect the answers that come."""
        awaited = next(self._awaited)
        text = json.loads(line)
        if "topics" in text:
            self._broker.have_topics(text["topics"])
        if "event" in text:
            self._send(text["event"])
        outputs = self._answers(0.0)
        deadline = time.monotonic() + _TIMEOUT_S
        while (
            not awaited <= {output["correlationId"] for output in outputs}
            and (left_s := deadline - time.monotonic()) > 0
        ):
            outputs += self._answers(left_s)
        return outputs

    def late_answers(self) -> list[Json]:
        """What is answered after the last line, though time stands still."""
        return self._answers(_HANDLED_S)

    def written(self, groups: AbstractSet[str], at_least: int) -> list[Json]:
        """Read the records of these groups; wait a while until there are so many."""
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            messages = self._broker.messages(self._start)
            found = lines_of(messages, groups, self._producers.told_ids)
            if len(found) >= at_least or time.monotonic() > deadline:
                return [self._broker.as_told(record) for record in found]
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Hang up on what is still parked."""
        for request in [key.fileobj for key in self._open.get_map().values()]:
            request.close()  # type: ignore[union-attr]
        self._open.close()

    def _send(self, told: Json) -> None:
        event = self._producers.really(self._broker.really(told))
        self._await_those_before(told)
        if event["api"] == "DescribeGroups":
            self._await_appends()
        request = self._broker.request(event["api"], event["version"], event["clientId"])
        self._open.register(request, EVENT_READ, told)
        request.send(event["body"])

    def _await_appends(self) -> None:
        """A broker describes what its log has committed; it answers a commit when all before it has been."""
        for topic in list(self._broker.topics)[:1]:
            entry = {"partitionIndex": 0, "committedOffset": 0, "committedLeaderEpoch": -1}
            self._broker.ask(
                "OffsetCommit", 8, _ASIDE | {"topics": [{"name": topic, "partitions": [entry]}]}
            )

    def _await_those_before(self, event: Json) -> None:
        """Let the requests be handled that are parked in the same group; others need no order."""
        asked = [key.data for key in self._open.get_map().values()]
        if any(groups_of(other) & groups_of(event) for other in asked):
            time.sleep(_HANDLED_S)

    def _answers(self, timeout_s: float) -> list[Json]:
        """What is answered now, or soon."""
        return [
            answer
            for key, _ in self._open.select(timeout_s)
            for answer in self._receive(key.fileobj, key.data)  # type: ignore[arg-type]
        ]

    def _receive(self, request: RawRequest, event: Json) -> Iterator[Json]:
        body = request.receive()
        if body is None:
            return
        self._open.unregister(request)
        request.close()
        if event["api"] == "EndTxn":
            self._producers.await_end()
        if event["correlationId"] is not None:
            yield {
                "kind": "response",
                "correlationId": event["correlationId"],
                "api": event["api"],
                "version": event["version"],
                "groupId": min(groups_of(event)),
                "body": self._broker.as_told(body),
            }
