"""Random scripts of classic groups: nobody wrote them, they are drawn from a seed out of the protocol's verbs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from tests.conformance.language.lines import Generation, ScriptDraft, Story, subscription
from tests.conformance.language.script import Script

STEPS = 50
STATIC = {"m4": "i4", "n2": "i2"}
"""Members with an instance id."""
INITIAL_DELAYS_MS = (0, 2_000, 5_000)
SESSIONS_MS = (6_000, 10_000, 30_000)
REBALANCES_MS = (4_000, 12_000)
SHORT_REBALANCES_MS = (1_500, 2_500)
"""None is as long as the time between two sweeps: which of the two ends first is chance then."""
SWEEPS_MS = (1_000, 7_919, 20_000)
TIMERS_MS = (*INITIAL_DELAYS_MS[1:], *SESSIONS_MS, *SHORT_REBALANCES_MS, *REBALANCES_MS)
DELAYS_MS = (0, 1, 500, *(t + step for t in TIMERS_MS for step in (-1, 0, 1)))
CLUSTERS = (
    ("orders:2", "audit:1", "billing:1"),
    ("orders:2", "audit:1"),
    ("orders#2:1", "billing:1"),
    (),
)
PARTITIONS = ("orders-0", "orders-1", "audit-0", "billing-0")
SUBSCRIPTIONS = (
    subscription("orders"),
    subscription("orders", "audit", version=3),
    subscription("billing", version=0),
    b"",
)


class Actors(NamedTuple):
    """A group, its members, and the producers that commit to it in transactions."""

    script: Script
    members: tuple[str, ...]
    producers: tuple[int, ...]


class RandomClassicScript:
    """A script of two groups: of the members m1 to m4, of n1 and n2, the last ones static, and of an administrator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - any script will do
        self._draft = ScriptDraft()
        script = Script(self._draft)
        self._first = Actors(script, ("m1", "m2", "m3", "m4"), (1, 2))
        self._second = Actors(script.other("h"), ("n1", "n2"), (3, 4))
        self._has_second = self._random.random() < 0.5
        self._sweep_ms = self._random.choice(SWEEPS_MS)

    def story(self, name: str) -> Story:
        steps: dict[Callable[[], None], int] = {
            self._pass_time: 3,
            self._await_sweep: 1,
            self._gather: 4,
            self._join: 4,
            self._sync: 4,
            self._heartbeat: 5,
            self._leave: 2,
            self._commit: 5,
            self._commit_in_transaction: self._random.choice((0, 0, 3)),
            self._fetch: 2,
            self._administer: 4,
            self._change_topics: self._random.choice((0, 0, 1)),
        }
        for step in self._random.choices(list(steps), list(steps.values()), k=STEPS):
            step()
        for actors in (self._first, self._second):
            actors.script.describe()
            actors.script.look()
        settings = {
            "group.initial.rebalance.delay.ms": str(self._random.choice(INITIAL_DELAYS_MS)),
            "group.max.size": self._random.choice(("2", "3", "100")),
            "offsets.retention.ms": self._random.choice(("0", "8000", "30000")),
            "offsets.retention.check.interval.ms": str(self._sweep_ms),
        }
        return Story(name, "drawn from a seed", settings, tuple(self._draft.lines))

    def _actors(self) -> Actors:
        is_second = self._has_second and self._random.random() < 0.25
        return self._second if is_second else self._first

    def _generation_of(self, name: str) -> Generation:
        return f"#{name}" if self._random.random() < 0.9 else self._random.randrange(4)

    def _version(self, first: int, last: int) -> int:
        """Mostly the newest."""
        return last if self._random.random() < 0.5 else self._random.randint(first, last)

    def _gather(self) -> None:
        """Let some members join and, mostly after a while, sync."""
        actors = self._actors()
        count = self._random.randint(1, len(actors.members) - 1)
        gathered = self._random.sample(actors.members, k=count)
        for name in gathered * self._random.choice((1, 2, 2)):
            self._join_as(actors, name)
        if self._random.random() < 0.8:
            self._wait(self._random.choice((0, 2_000, 4_000)))
        for name in gathered:
            self._sync_as(actors, name)

    def _wait(self, delay_ms: int) -> None:
        self._first.script.at(self._draft.now_ms + delay_ms)

    def _pass_time(self) -> None:
        self._wait(self._random.choice(DELAYS_MS))

    def _await_sweep(self) -> None:
        """To a sweep of expired offsets, to just before one, or to just behind it."""
        now_ms = self._draft.now_ms
        sweep_ms = (now_ms // self._sweep_ms + 1) * self._sweep_ms + self._random.choice((-1, 0, 1))
        self._first.script.at(max(now_ms, sweep_ms))

    def _join(self) -> None:
        actors = self._actors()
        self._join_as(actors, self._random.choice(actors.members))

    def _join_as(self, actors: Actors, name: str) -> None:
        actors.script.join(
            name,
            version=9 if name in STATIC else self._version(0, 9),
            protocols={"range": self._random.choice(SUBSCRIPTIONS)},
            protocol_type="connect" if self._random.random() < 0.02 else "consumer",
            session=self._random.choice(SESSIONS_MS),
            rebalance=self._random.choice(
                SHORT_REBALANCES_MS if self._random.random() < 0.15 else REBALANCES_MS
            ),
            instance=STATIC.get(name),
            member="" if self._random.random() < 0.05 else None,
        )

    def _sync(self) -> None:
        actors = self._actors()
        self._sync_as(actors, self._random.choice(actors.members))

    def _sync_as(self, actors: Actors, name: str) -> None:
        everybody = {member: f"for {member}".encode() for member in actors.members}
        actors.script.sync(
            name,
            self._generation_of(name),
            everybody,
            version=self._version(0, 5),
            instance=STATIC.get(name),
        )

    def _heartbeat(self) -> None:
        actors = self._actors()
        name = self._random.choice(actors.members)
        actors.script.heartbeat(
            name,
            self._generation_of(name),
            version=self._version(0, 4),
            instance=STATIC.get(name),
        )

    def _leave(self) -> None:
        actors = self._actors()
        name = self._random.choice(actors.members)
        if name in STATIC:
            actors.script.leave(f"{name}@{STATIC[name]}", version=self._version(3, 5))
        else:
            actors.script.leave(name, version=self._version(0, 5))

    def _commit(self) -> None:
        actors, partition = self._actors(), self._random.choice(PARTITIONS)
        if self._random.random() < 0.3:
            version, retention = self._random.choice(((2, 9_000), (4, 50_000), (8, None)))
            actors.script.commit(f"{partition}=1", version=version, retention=retention)
            return
        name = self._random.choice(actors.members)
        actors.script.commit(
            f"{partition}=2",
            member=name,
            generation=self._generation_of(name),
            version=self._version(2, 10),
            instance=STATIC.get(name),
        )

    def _commit_in_transaction(self) -> None:
        actors = self._actors()
        producer = self._random.choice(actors.producers)
        if self._random.random() < 0.4:
            actors.script.end_txn(producer=producer, commit=self._random.random() < 0.7)
            return
        name = self._random.choice(actors.members)
        is_member = self._random.random() < 0.5
        actors.script.txn_commit(
            f"{self._random.choice(PARTITIONS)}={len(self._draft.lines)}",
            producer=producer,
            member=name if is_member else "",
            generation=self._generation_of(name) if is_member else -1,
            version=self._version(0, 6),
            instance=STATIC.get(name) if is_member else None,
        )

    def _fetch(self) -> None:
        script, version = self._actors().script, self._version(1, 10)
        is_stable = self._random.choice((None, True, False))
        if version == 1 or self._random.random() < 0.5:
            script.fetch(*PARTITIONS, version=version, stable=is_stable)
        else:
            script.fetch(version=version, stable=is_stable)

    def _change_topics(self) -> None:
        self._first.script.cluster(*self._random.choice(CLUSTERS))

    def _administer(self) -> None:
        script = self._actors().script
        self._random.choice(
            (
                lambda: script.describe(version=self._version(0, 6)),
                script.look,
                lambda: script.delete(version=self._version(0, 3)),
                lambda: script.delete_offsets("orders-0", "audit-0"),
                lambda: script.delete_offsets("billing-0"),
            )
        )()
