"""Heartbeats of consumer groups: each goes to the job with the topic metadata of its subscription."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial

from group_coordinator.clients.channel.channel import Body
from group_coordinator.codecs.apis.topic_metadata import known_topic
from group_coordinator.gateway.groups.offset_apis import Ask
from group_coordinator.gateway.groups.offset_topics import KnownTopics
from group_coordinator.gateway.groups.turns import Turns
from group_coordinator.gateway.login.caller import Caller

_API = "ConsumerGroupHeartbeat"


class Subscriptions:
    """Forwards heartbeats with topic metadata.

    The job sends topic metadata to a new group after its first heartbeat, so the first member would get its partitions
    with the next heartbeat, five seconds later. A broker knows the topics, and so does the gateway.
    """

    def __init__(self, ask: Ask, topics: KnownTopics) -> None:
        self._ask = ask
        self._topics = topics
        self._turns = Turns()

    def heartbeat(self, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """Answer a ConsumerGroupHeartbeat. An unknown topic may be new, so it is looked up once."""
        names = dict.fromkeys(body["subscribedTopicNames"] or ())
        unknown = [name for name in names if self._topics.topic(name) is None]

        def hand_over() -> Awaitable[Body]:
            # Read again after the look-up.
            found = [topic for name in names if (topic := self._topics.topic(name))]
            known = {"knownTopics": [known_topic(topic) for topic in found]} if found else {}
            return self._ask(_API, version, body["groupId"], body | known, caller)

        look_up = partial(self._topics.look_for, unknown) if unknown else None
        return self._turns.take(body["groupId"], hand_over, look_up)
