"""Groups that live at random, for the assignors: members join, leave, return and change their minds; topics come, grow and go."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

REGEXES = ("a.*", "b.*")


@dataclass(frozen=True)
class Size:
    """The most that a group has."""

    members: int
    topics: int
    partitions: int
    unknown_names: bool


SMALL = Size(members=6, topics=6, partitions=12, unknown_names=True)
WIDE = Size(members=40, topics=40, partitions=100, unknown_names=False)
"""Tables of all sizes. From a dozen names on, Kafka's table also grows by those of unknown topics; ours does not."""


@dataclass(frozen=True)
class Member:
    """A member and what it wants."""

    id: str
    instance: str | None
    rack: str | None
    names: tuple[str, ...]
    regex: str | None


@dataclass(frozen=True)
class Topic:
    """A topic of the cluster."""

    id: str
    name: str
    partitions: int


@dataclass(frozen=True)
class Moment:
    """A group that needs a new assignment: `updated` asks, and may take the place of `replaced`.

    `members` are there already, in the order in which they joined.
    """

    assignor: str
    members: tuple[Member, ...]
    updated: Member
    replaced: str | None
    topics: tuple[Topic, ...]
    subscription_type: str | None
    """HOMOGENEOUS or HETEROGENEOUS where Kafka goes by what the members wanted before (a regex is not resolved yet)."""

    def resolved(self) -> Mapping[str, Sequence[str]]:
        """The topics by the regex that finds them."""
        return {
            regex: sorted(topic.name for topic in self.topics if topic.name[0] == regex[0])
            for regex in REGEXES
        }

    def after(self) -> tuple[Member, ...]:
        """The members once the request is done."""
        stay = [member for member in self.members if member.id != self.replaced]
        if self.updated.id in {member.id for member in stay}:
            return tuple(self.updated if m.id == self.updated.id else m for m in stay)
        return (*stay, self.updated)


class GroupLife:
    """The life of one group, drawn from a seed."""

    def __init__(self, seed: int, size: Size) -> None:
        self._draw = Random(seed)  # noqa: S311 - the same every time, no secret
        self._size = size
        self._names = [f"{'ab'[n % 2]}-{n}" for n in range(size.topics)]
        self._one_taste = self._draw.random() < 0.5
        self._taste = self._any_names()
        self._members: tuple[Member, ...] = ()
        self._topics = {name: self._new_topic(name) for name in self._names}
        self._assignor = self._draw.choice(["uniform", "uniform", "uniform", "range"])

    def next_moment(self) -> Moment:
        """What happens next, up to the request that brings a new assignment."""
        draw = self._draw
        if draw.random() < 0.3:
            self._change_topics()
        if self._members and draw.random() < 0.3:
            gone = draw.choice(self._members)
            self._members = tuple(member for member in self._members if member != gone)
        if draw.random() < 0.05:
            self._assignor = draw.choice(["uniform", "range"])
        updated, replaced = self._asking()
        topics = tuple(self._topics.values())
        stale = draw.choice(["HOMOGENEOUS", "HETEROGENEOUS"]) if draw.random() < 0.1 else None
        moment = Moment(self._assignor, self._members, updated, replaced, topics, stale)
        # Who asks tells topics in an order of its own; in a record they are sorted.
        self._members = tuple(
            replace(member, names=tuple(sorted(member.names))) for member in moment.after()
        )
        return moment

    def _asking(self) -> tuple[Member, str | None]:
        draw = self._draw
        if not self._members or (len(self._members) < self._size.members and draw.random() < 0.5):
            return self._new_member(), None
        member = draw.choice(self._members)
        if member.instance is not None and draw.random() < 0.5:
            return replace(member, id=self._member_id()), member.id
        if draw.random() < 0.5:
            names, regex = self._wish()
            return replace(member, names=names, regex=regex), None
        return member, None

    def _new_member(self) -> Member:
        draw = self._draw
        taken = {member.instance for member in self._members}
        free = [name for name in map("i-{}".format, range(99)) if name not in taken]
        instance = draw.choice(free) if draw.random() < 0.3 else None
        rack = draw.choice([None, "rack-0", "rack-1"])
        return Member(self._member_id(), instance, rack, *self._wish())

    def _member_id(self) -> str:
        draw = self._draw
        long = base64.urlsafe_b64encode(draw.randbytes(16)).decode()[:22]
        return draw.choice([long, f"m{draw.randrange(10_000)}", f"é-{draw.randrange(10_000)}-🐟"])

    def _wish(self) -> tuple[tuple[str, ...], str | None]:
        draw = self._draw
        if self._one_taste and draw.random() < 0.9:
            return self._taste, None
        if draw.random() < 0.2:
            return draw.choice([(), (), self._any_names()]), draw.choice(REGEXES)
        return self._any_names(), None

    def _any_names(self) -> tuple[str, ...]:
        unknown = self._size.unknown_names and self._draw.random() < 0.1
        names = [*self._names, "unknown"] if unknown else self._names
        return tuple(self._draw.sample(names, self._draw.randint(0, len(names))))

    def _change_topics(self) -> None:
        draw = self._draw
        name = draw.choice(self._names)
        topic = self._topics.pop(name, None)
        happens = draw.choice(["grows", "grows", "grows", "is made anew", "vanishes"])
        if topic is None or happens == "is made anew":
            self._topics[name] = self._new_topic(name)
        elif happens == "grows" or not self._size.unknown_names:
            grown = draw.randint(topic.partitions, self._size.partitions)
            self._topics[name] = replace(topic, partitions=grown)

    def _new_topic(self, name: str) -> Topic:
        topic_id = base64.urlsafe_b64encode(self._draw.randbytes(16)).decode()[:22]
        return Topic(topic_id, name, self._draw.randint(1, self._size.partitions))
