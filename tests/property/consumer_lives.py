"""Random lives of one consumer group, with clients that do what the protocol asks of them, or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from group_coordinator.core.model.records import Record
from group_coordinator.core.model.requests import Topic
from group_coordinator.testing import GroupDriver

IDS = {name: f"{number:021d}A" for number, name in enumerate(("orders", "bills", "carts"))}
DELAYS_MS = st.sampled_from([0, 1, 999, 1_000, 1_001, 5_000, 10_001, 44_999, 45_000, 60_000])
MEMBERS = st.sampled_from(["m1", "m2", "m3", "m4"])
NAMES = st.lists(st.sampled_from(list(IDS)), unique=True, max_size=3)
PATTERNS = st.sampled_from(["o.*", "b.*|c.*", ".*", ""])
SIZES = st.dictionaries(st.sampled_from(list(IDS)), st.integers(1, 6), min_size=1)
INSTANCES = {"m1": None, "m2": None, "m3": "i", "m4": "i"}
"""m3 and m4 are the same static member under two ids."""


@dataclass
class Life:
    """A group, and what its clients have."""

    driver: GroupDriver = field(default_factory=lambda: GroupDriver(start_ms=1_000))
    owned: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    told: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    """What they were told to have."""
    check: Callable[[GroupDriver], None] = lambda _driver: None
    sizes: dict[str, int] = field(default_factory=dict)

    def learn(self, sizes: dict[str, int]) -> None:
        """The cluster's topics change; partitions never get fewer."""
        for name, size in sizes.items():
            self.sizes[name] = max(size, self.sizes.get(name, 0))
        self.driver.learn_topics(*(Topic(n, IDS[n], s) for n, s in self.sizes.items()))
        self.check(self.driver)

    def sleep(self, delay_ms: int) -> None:
        self.driver.sleep(delay_ms)
        self.check(self.driver)

    def join(self, member_id: str, names: list[str], pattern: str) -> None:
        outcome = self.driver.consumers.join(
            member_id, names, topic_regex=pattern, instance_id=INSTANCES[member_id]
        )
        self.owned[member_id] = self.told[member_id] = {}
        self._hear(member_id, outcome)

    def beat(self, member_id: str, *, says_all: bool = True, lets_go: bool = True) -> None:
        """A heartbeat; a client that does not let go yet reports what it had beside what it was told to have."""
        if member_id not in self.driver.consumers.epochs:
            return
        told = self.told.get(member_id, {})
        if not lets_go:
            had = self.owned.get(member_id, {})
            told = {
                topic_id: tuple(sorted({*told.get(topic_id, ()), *had.get(topic_id, ())}))
                for topic_id in told.keys() | had.keys()
            }
        self.owned[member_id] = told
        outcome = self.driver.consumers.beat(member_id, told if says_all else None)
        self._hear(member_id, outcome)

    def leave(self, member_id: str, *, for_a_while: bool) -> None:
        outcome = self.driver.consumers.leave(member_id, for_a_while=for_a_while)
        if not outcome.response.error:
            self._forget(member_id)
        self.check(self.driver)

    def _hear(self, member_id: str, outcome: object) -> None:
        answer = outcome.response  # type: ignore[attr-defined]
        if answer.error:
            self._forget(member_id)
        elif answer.assignment is not None:
            self.told[member_id] = answer.assignment
        self.check(self.driver)

    def _forget(self, member_id: str) -> None:
        self.owned.pop(member_id, None)
        self.told.pop(member_id, None)
        self.driver.consumers.epochs.pop(member_id, None)

    def settle(self) -> None:
        """Undisturbed heartbeats of every member; a pattern may have to wait ten seconds for its topics."""
        for _ in range(20):
            for member_id in list(self.driver.consumers.epochs):
                self.beat(member_id)
            self.sleep(1_001)


STEPS = st.one_of(
    st.builds(lambda sizes: lambda life: life.learn(sizes), SIZES),
    st.builds(lambda delay: lambda life: life.sleep(delay), DELAYS_MS),
    st.builds(lambda m, n, p: lambda life: life.join(m, n, p), MEMBERS, NAMES, PATTERNS),
    st.builds(
        lambda m, a, b: lambda life: life.beat(m, says_all=a, lets_go=b),
        MEMBERS,
        st.booleans(),
        st.booleans(),
    ),
    st.builds(lambda m: lambda life: life.beat(m), MEMBERS),
    st.builds(lambda m, w: lambda life: life.leave(m, for_a_while=w), MEMBERS, st.booleans()),
)
Steps = list[Callable[[Life], None]]


def life_of(steps: Steps, check: Callable[[GroupDriver], None] = lambda _driver: None) -> Life:
    life = Life(check=check)
    life.learn({"orders": 3, "bills": 2})
    for step in steps:
        step(life)
    return life


def compacted(log: list[Record], upto: int) -> list[Record]:
    """What a log cleaner leaves of the first `upto` records: the last one of every key, where it was."""
    last = {_key(record): place for place, record in enumerate(log[:upto])}
    kept = [record for place, record in enumerate(log[:upto]) if last[_key(record)] == place]
    return kept + log[upto:]


def _key(record: Record) -> tuple[str, str]:
    return type(record).__name__, getattr(record, "member_id", getattr(record, "regex", ""))
