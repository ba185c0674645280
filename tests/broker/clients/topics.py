from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.local.broker import EmbeddedBroker


class Topics(NamedTuple):
    events: str
    responses: str


NewTopics: TypeAlias = Callable[[], Topics]


def channel_of(broker: EmbeddedBroker, topics: Topics) -> RequestChannel:
    return RequestChannel(
        Connection(broker.bootstrap_servers),
        events_topic=topics.events,
        responses_topic=topics.responses,
        request_timeout_ms=20_000,
    )
