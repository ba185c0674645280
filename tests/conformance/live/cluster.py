"""The live cluster of a story with real consumers: a broker, a proxy before it, and one or more groups."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from group_coordinator.local.broker import LOOPBACK
from tests.conformance.kafka.broker_records import lines_of
from tests.conformance.kafka.real_broker import RealBroker, real_broker
from tests.conformance.kafka.witness import GROUP_RESOURCE
from tests.conformance.language.lines import described_topic
from tests.conformance.live.conversation import Conversation, Exchange, TopicsChange, now_ms
from tests.conformance.live.real_consumer import RealConsumer
from tests.conformance.live.recording_proxy import RecordingProxy
from tests.support.until import until

SETTINGS: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.min.session.timeout.ms": "1000",
    "offsets.retention.check.interval.ms": "1000000000000",
}
"""No answer depends on how fast somebody is, or on when a sweep comes, and heartbeats come often; sessions are long where a
story does not shorten them."""

_CLASSIC: Final[Mapping[str, Any]] = {"group_protocol": "classic", "heartbeat_interval_ms": 200}
_TIMEOUT_S: Final = 20.0
_POLL_S: Final = 0.01
_HEARD_S: Final = 0.15
"""Within this time the group coordinator has done all that it does of its own accord at one time."""
_LOOKED_UP_S: Final = 1.0
"""Within this time a regular expression is looked up, or it is too soon after the lookup before."""
_LONE_CONSUMER: Final = Path(__file__).with_name("lone_consumer.py")


class LiveCluster:
    """Members come and go; everything that is said about their groups is noted."""

    def __init__(self, broker: RealBroker, proxy: RecordingProxy, group: str) -> None:
        self.group = group
        self.conversation = proxy.conversation = Conversation()
        self.log_start = broker.end_of_log()
        self._broker = broker
        self._proxy = proxy
        proxy.await_aftermath = self._await_lookup
        self._servers = f"{LOOPBACK}:{proxy.port}"
        self._consumers: list[RealConsumer] = []
        self._pausing: list[RealConsumer] = []

    # ---- the cluster ------------------------------------------------------------------------

    def topics(self, *specs: str) -> None:
        """Let there be these topics, "orders:4", and no others; meanwhile nobody is heard. The broker is in no rack."""
        with self._proxy.held():
            self._broker.have_topics([described_topic(spec) for spec in specs])
            self.conversation.entries.append(TopicsChange(now_ms(), self._broker.known_topics()))

    def configure(self, name: str, value: str) -> None:
        """Give the group a setting of its own."""
        config = {"name": name, "configOperation": 0, "value": value}
        resource = {"resourceType": GROUP_RESOURCE, "resourceName": self.group, "configs": [config]}
        body = {"resources": [resource], "validateOnly": False}
        event = {"api": "IncrementalAlterConfigs", "version": 1, "clientId": "admin", "body": body}
        exchange = Exchange(now_ms(), event)
        exchange.answer = self._broker.ask("IncrementalAlterConfigs", 1, body)
        self.conversation.entries.append(exchange)
        self._broker.witness.await_settings()

    @contextmanager
    def silence(self, name: str | None = None) -> Iterator[None]:
        """Nobody, or this client, is heard of while the block runs."""
        with self._proxy.held(name):
            yield

    def until_log_grows(self) -> None:
        """Let everybody poll until the coordinator has written something of its own accord."""
        end = self._broker.end_of_log()
        self.until(lambda: self._broker.end_of_log() > end)
        time.sleep(_HEARD_S)

    # ---- members ----------------------------------------------------------------------------

    def consumer(
        self, name: str, *topics: str, group: str | None = None, **config: Any
    ) -> RealConsumer:
        """A member that speaks the new protocol."""
        consumer = RealConsumer(self._servers, group or self.group, name, **config)
        self._consumers.append(consumer)
        consumer.subscribe(*topics)
        return consumer

    def classic(self, name: str, *topics: str, **config: Any) -> RealConsumer:
        """A member that speaks the old one."""
        return self.consumer(name, *topics, **_CLASSIC, **config)

    @contextmanager
    def process(self, name: str, topic: str) -> Iterator[subprocess.Popen[bytes]]:
        """A member in a process of its own, to be killed."""
        command = [sys.executable, str(_LONE_CONSUMER), self._servers, self.group, name, topic]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as started:  # noqa: S603 - a fixed program
            try:
                yield started
            finally:
                started.kill()

    # ---- time -------------------------------------------------------------------------------

    def until(self, condition: Callable[[], object]) -> None:
        """Let everybody poll until it is so."""
        until(
            condition,
            seconds=_TIMEOUT_S,
            awaited=lambda: f"members that have {self._shares()}",
            pause=self._poll_and_sleep,
            poll_s=_POLL_S,
        )

    def until_shared(self, *counts: tuple[RealConsumer, int]) -> None:
        """Let everybody poll until each of these consumes so many partitions."""
        self.until(lambda: all(len(one.partitions) == count for one, count in counts))

    def wait(self, seconds: float) -> None:
        """Let everybody poll for a while."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def pause(self, consumer: RealConsumer) -> None:
        """Do not let it poll."""
        self._pausing.append(consumer)

    def resume(self, consumer: RealConsumer) -> None:
        """Let it poll again."""
        self._pausing.remove(consumer)

    def close(self) -> None:
        """Everybody leaves."""
        for consumer in self._consumers:
            consumer.close()

    def _shares(self) -> Mapping[str, list[str]]:
        return {one.name: one.partitions for one in self._consumers if one.is_open}

    def _await_lookup(self, exchange: Exchange) -> None:
        """The broker answers any heartbeat first, then looks up the topics of regular expressions, if that is not too soon.

        It is done when it has logged them all.
        """
        if exchange.event["api"] != "ConsumerGroupHeartbeat":
            return
        group = exchange.event["body"]["groupId"]
        expressions = self.conversation.expressions(group)
        deadline_s = time.monotonic() + _LOOKED_UP_S
        while time.monotonic() < deadline_s:
            if all(self._is_looked_up(group, each) for each in expressions):
                return
            time.sleep(_POLL_S)

    def _is_looked_up(self, group: str, expression: str) -> bool:
        lines = lines_of(self._broker.messages(self.log_start), {group}, {})
        values = [
            line["value"]
            for line in lines
            if line["key"]["data"].get("regularExpression") == expression
        ]
        return bool(values) and values[-1] is not None

    def _poll_and_sleep(self, seconds: float) -> None:
        self._poll()
        time.sleep(seconds)

    def _poll(self) -> None:
        for consumer in self._consumers:
            if consumer.is_open and consumer not in self._pausing:
                consumer.poll()


@contextmanager
def broker_behind_proxy(folder: Path) -> Iterator[tuple[RealBroker, RecordingProxy]]:
    """Run a broker that sends its clients to the proxy."""
    proxy = RecordingProxy()
    advertised = {"advertised.listeners": f"CLIENTS://{LOOPBACK}:{proxy.port}"}
    with real_broker(folder, SETTINGS | advertised) as broker:
        proxy.serve(broker.address[1])
        try:
            yield broker, proxy
        finally:
            proxy.close()
