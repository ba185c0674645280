"""The fleet of all applications: a single thread drives them, a step at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from group_coordinator.clients.channel.channel import Channel
from group_coordinator.clients.errors import ClientError
from group_coordinator.demo.cast import Application
from group_coordinator.demo.consumers import (
    Consumer,
    Records,
    ShopTopics,
    SimpleCommitter,
    start_positions,
)


class Fleet:
    """Consumers and committers, by group.

    Args:
        channel: shared by all of them.
        topics: all topics of the shop.
        records: the records to read.
        tell: receives a sentence about a member that was finally rejected.
        prefix: of the shop's topics on this cluster.
    """

    def __init__(
        self,
        channel: Channel,
        topics: ShopTopics,
        records: Records,
        tell: Callable[[str], None],
        prefix: str = "",
    ) -> None:
        self._channel = channel
        self._topics = topics
        self._records = records
        self._tell = tell
        self._prefix = prefix
        self._consumers: defaultdict[str, list[Consumer]] = defaultdict(list)
        self._committers: dict[str, SimpleCommitter] = {}
        self._now_s = 0.0

    @property
    def group_ids(self) -> list[str]:
        """The ids of all groups so far."""
        return [*self._consumers, *self._committers]

    @property
    def member_count(self) -> int:
        """Members that have joined, or are about to."""
        return sum(len(consumers) for consumers in self._consumers.values())

    def set_start(self, application: Application) -> None:
        """Commit the first offset of every partition for the group."""
        self._channel.send(start_positions(self._here(application), self._topics.partition_counts))

    def join(self, application: Application) -> None:
        consumer = Consumer(
            self._here(application),
            self._channel,
            self._topics,
            self._records,
            clock=lambda: self._now_s,
        )
        self._consumers[application.group_id].append(consumer)

    def start_committing(self, application: Application) -> None:
        """Add a group that only stores offsets."""
        self._committers[application.group_id] = SimpleCommitter(
            self._here(application),
            self._channel,
            self._topics.partition_counts,
            self._records,
        )

    def stop_committing(self, application: Application) -> None:
        """Stop its commits, so that its offsets expire."""
        self._committers[application.group_id].stop()

    def leave(self, application: Application) -> None:
        while self._consumers[application.group_id]:
            self.leave_one(application)

    def leave_one(self, application: Application) -> None:
        """Let the member that joined last leave."""
        self._consumers[application.group_id].pop().leave()

    def leave_eldest(self, application: Application) -> None:
        """Let the member that joined first leave."""
        self._consumers[application.group_id].pop(0).leave()

    def fall_silent(self, application: Application) -> None:
        """Let the member that joined last fall silent."""
        self._consumers[application.group_id].pop()

    def subscribe(self, application: Application, topics: Collection[str]) -> None:
        """Change the topics of all members."""
        for consumer in self._consumers[application.group_id]:
            consumer.subscribe(self._names(topics))

    def tick(self, now_s: float) -> None:
        """Let all applications take a step."""
        self._now_s = now_s
        for group_id, consumer in list(self._all_consumers()):
            try:
                consumer.tick(now_s)
            except ClientError as error:
                self._consumers[group_id].remove(consumer)
                self._tell(f"A member of {group_id} gave up: {error}")
        for committer in self._committers.values():
            committer.tick(now_s)

    def _here(self, application: Application) -> Application:
        return application._replace(topics=self._names(application.topics))

    def _names(self, topics: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._prefix + topic for topic in topics)

    def _all_consumers(self) -> Iterator[tuple[str, Consumer]]:
        for group_id, consumers in self._consumers.items():
            yield from ((group_id, consumer) for consumer in consumers)


class Arrivals:
    """Joins of the members, spread over time, so that no batch has the joins of all."""

    def __init__(self, fleet: Fleet, applications: Collection[Application]) -> None:
        self._applications = applications
        with_members = [one for one in applications if one.member_count]
        self._waiting = [
            *(partial(fleet.set_start, one) for one in with_members),
            *(partial(fleet.join, one) for one in with_members for _ in range(one.member_count)),
            *(partial(fleet.start_committing, one) for one in applications if not one.member_count),
        ]
        self.group_count = len(with_members)
        """Groups that will have members."""
        self._arrived = 0

    @property
    def total(self) -> int:
        """The number of steps: start positions, joins, and first commits."""
        return len(self._waiting)

    @property
    def sentence(self) -> str:
        """The groups in a sentence, for a new user."""
        member_count = sum(application.member_count for application in self._applications)
        return (
            f"{self.group_count} groups get their start positions, and {member_count} members join them. The members of a "
            "classic group meet, and one of them shares out the partitions; in a group of the new protocol (KIP-848) the "
            "coordinator does. Then they read, and commit how far they got."
        )

    def tick(self, arrived: int) -> None:
        """Take steps up to this number."""
        for come in self._waiting[self._arrived : arrived]:
            come()
        self._arrived = max(self._arrived, arrived)


class Shifts:
    """Changes of members: every few seconds an application loses a member, and the last application gets its member back."""

    def __init__(self, fleet: Fleet, applications: Collection[Application]) -> None:
        self._fleet = fleet
        # A group must keep a member, or it would be Empty.
        self._applications = [one for one in applications if one.member_count > 1]
        self._away: Application | None = None

    def change(self) -> None:
        """Let a member return, and another leave."""
        if self._away is not None:
            self._fleet.join(self._away)
            self._applications.append(self._away)
            self._away = None
        if self._applications:
            self._away = self._applications.pop(0)
            self._fleet.leave_one(self._away)
