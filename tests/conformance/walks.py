"""Walks: scripts that nobody wrote, drawn from a seed out of the protocol's verbs."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.conformance.lines import Generation, Story, Tape, subscription
from tests.conformance.script import Script

STEPS = 50
DELAYS_MS = (0, 1, 500, 999, 1_999, 2_000, 3_999, 4_000, 5_999, 6_000, 10_000, 31_000)
STATIC = "m4"
SETTINGS = {
    "group.initial.rebalance.delay.ms": ("0", "2000", "2000", "5000"),
    "group.max.size": ("2", "3", "100"),
    "offsets.retention.ms": ("0", "8000", "30000"),
    "offsets.retention.check.interval.ms": ("1000", "7919", "20000"),
}
CLUSTERS = (
    ("orders:2", "audit:1", "billing:1"),
    ("orders:2", "audit:1"),
    ("orders#2:1", "billing:1"),
    (),
)
SUBSCRIPTIONS = (
    subscription("orders"),
    subscription("orders", "audit", version=3),
    subscription("billing", version=0),
    b"",
)


class Walk:
    """A script of the members m1 to m4, the last one static, and of an administrator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - any walk will do
        self._tape = Tape()
        self._script = Script(self._tape)

    def story(self, name: str) -> Story:
        steps: dict[Callable[[], None], int] = {
            self._pass_time: 4,
            self._gather: 4,
            self._join: 4,
            self._sync: 4,
            self._heartbeat: 5,
            self._leave: 2,
            self._commit: 6,
            self._administer: 4,
            self._change_topics: self._random.choice((0, 0, 1)),
        }
        for step in self._random.choices(list(steps), list(steps.values()), k=STEPS):
            step()
        self._script.describe()
        self._script.look()
        settings = {key: self._random.choice(values) for key, values in SETTINGS.items()}
        return Story(name, "drawn from a seed", settings, tuple(self._tape.lines))

    def _member(self) -> str:
        return self._random.choice(("m1", "m1", "m2", "m2", "m3", "m4"))

    def _generation_of(self, name: str) -> Generation:
        return f"#{name}" if self._random.random() < 0.9 else self._random.randrange(4)

    def _gather(self) -> None:
        """Let some members join and, mostly after a while, sync."""
        gathered = self._random.sample(("m1", "m2", "m3", "m4"), k=self._random.choice((1, 2, 3)))
        for name in gathered * self._random.choice((1, 2, 2)):
            self._join_as(name)
        if self._random.random() < 0.8:
            self._script.at(self._tape.now_ms + self._random.choice((0, 2_000, 4_000)))
        for name in gathered:
            self._sync_as(name)

    def _pass_time(self) -> None:
        self._script.at(self._tape.now_ms + self._random.choice(DELAYS_MS))

    def _join(self) -> None:
        self._join_as(self._member())

    def _join_as(self, name: str) -> None:
        self._script.join(
            name,
            version=9 if name == STATIC else self._random.choice((3, 4, 5, 7, 9)),
            protocols={"range": self._random.choice(SUBSCRIPTIONS)},
            protocol_type="connect" if self._random.random() < 0.02 else "consumer",
            session=self._random.choice((6_000, 10_000, 30_000)),
            rebalance=self._random.choice((4_000, 12_000)),
            instance=_instance(name),
            member="" if self._random.random() < 0.05 else None,
        )

    def _sync(self) -> None:
        self._sync_as(self._member())

    def _sync_as(self, name: str) -> None:
        everybody = {member: f"for {member}".encode() for member in ("m1", "m2", "m3", "m4")}
        generation = self._generation_of(name)
        self._script.sync(name, generation, everybody, instance=_instance(name))

    def _heartbeat(self) -> None:
        name = self._member()
        self._script.heartbeat(name, self._generation_of(name), instance=_instance(name))

    def _leave(self) -> None:
        name = self._member()
        self._script.leave(f"{name}@{_instance(name)}" if name == STATIC else name)

    def _commit(self) -> None:
        partition = self._random.choice(("orders-0", "orders-1", "audit-0", "billing-0"))
        if self._random.random() < 0.3:
            version, retention = self._random.choice(((2, 9_000), (4, 50_000), (8, None)))
            self._script.commit(f"{partition}=1", version=version, retention=retention)
            return
        name = self._member()
        self._script.commit(
            f"{partition}=2",
            member=name,
            generation=self._generation_of(name),
            instance=_instance(name),
        )

    def _change_topics(self) -> None:
        self._script.cluster(*self._random.choice(CLUSTERS))

    def _administer(self) -> None:
        script = self._script
        self._random.choice(
            (
                script.describe,
                script.look,
                script.fetch,
                script.delete,
                lambda: script.delete_offsets("orders-0", "audit-0"),
                lambda: script.delete_offsets("billing-0"),
            )
        )()


def _instance(name: str) -> str | None:
    return "i4" if name == STATIC else None
