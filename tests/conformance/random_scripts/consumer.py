"""Random scripts of consumer groups, mixed groups and migrations, drawn from a seed: of clients that behave and of some that lie."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import Generation, ScriptDraft, Story
from tests.conformance.random_scripts.members import ConsumerClients

STEPS: Final = 45
TOPICS: Final = {"orders": 4, "audit": 2, "billing": 3, "oranges": 2}
"""Topics and the most partitions that they have."""
PARTITIONS: Final = ("orders-0", "orders-1", "orders-2", "orders-3", "audit-0", "billing-1")
POLICIES: Final = ("bidirectional",) * 5 + ("upgrade", "downgrade", "disabled")


class RandomConsumerScript:
    """A script of one group: of up to five members of both protocols, and of an administrator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - any script will do
        self._has_borrowers = seed % 4 == 1
        self._draft = ScriptDraft(now_ms=1_000)
        self._script = ConsumerScript(self._draft)
        self._clients = ConsumerClients(self._script, self._draft, self._random)
        self._counts: dict[str, int] = {}
        self._incarnations: Counter[str] = Counter()

    def story(self, name: str) -> Story:
        clients = self._clients
        steps: dict[Callable[[], None], int] = {
            clients.behave: 20,
            clients.settle: 2,
            clients.enter: 6,
            clients.change: 3,
            clients.leave: 3,
            clients.lie: self._random.choice((0, 2, 5)),
            clients.wait: 3,
            self._commit: 3,
            self._fetch: 1,
            self._administer: 2,
            self._change_topics: self._random.choice((0, 1, 3)),
            clients.borrow: 4 if self._has_borrowers else 0,
        }
        if self._random.random() < 0.9:
            self._change_topics()
        for step in self._random.choices(list(steps), list(steps.values()), k=STEPS):
            step()
        self._script.describe_consumers()
        self._script.describe()
        self._script.look()
        return Story(name, "drawn from a seed", self._settings(), tuple(self._draft.lines), "")

    def _settings(self) -> dict[str, str]:
        return {
            "group.consumer.assignment.interval.ms": self._random.choice(
                ("0", "0", "1000", "5000")
            ),
            "group.consumer.max.size": self._random.choice(("2", "3", "100", "100")),
            "group.consumer.migration.policy": self._random.choice(POLICIES),
            "group.consumer.assignors": self._random.choice(("uniform,range", "range,uniform")),
            "group.initial.rebalance.delay.ms": self._random.choice(("0", "2000")),
            "group.max.size": self._random.choice(("1", "2", "100", "100")),
            "offsets.retention.ms": self._random.choice(("8000", "30000", "600000")),
            "offsets.retention.check.interval.ms": self._random.choice(("1000", "20000")),
        }

    def _commit(self) -> None:
        name = self._clients.somebody()
        by, is_member = self._clients.committer(name), self._random.random() < 0.8
        self._clients.at_the_time_of(name)
        partition = self._as_of_now(self._random.choice(PARTITIONS))
        generation = f"#{name}" if self._random.random() < 0.7 else self._random.randrange(-1, 6)
        if self._random.random() < 0.2:
            self._commit_in_transaction(name, partition, generation, is_member=is_member)
            return
        self._script.commit(
            f"{partition}={len(self._draft.lines)}",
            member=by if is_member else "",
            generation=generation if is_member else -1,
            version=self._random.choice((8, 9, 9, 10)),
        )

    def _commit_in_transaction(
        self, name: str, partition: str, generation: Generation, *, is_member: bool
    ) -> None:
        if self._random.random() < 0.4:
            self._script.end_txn(commit=self._random.random() < 0.7)
            return
        self._script.txn_commit(
            f"{partition}={len(self._draft.lines)}",
            member=name if is_member else "",
            generation=generation if is_member else -1,
            version=self._random.choice((3, 5, 6, 6)),
        )

    def _as_of_now(self, partition: str) -> str:
        """Of the topic that there is now, or was last."""
        name, _, index = partition.rpartition("-")
        return f"{name}#{self._incarnations[name]}-{index}"

    def _fetch(self) -> None:
        name, is_member = self._clients.somebody(), self._random.random() < 0.5
        self._script.fetch(
            *map(self._as_of_now, self._random.choice((PARTITIONS, ()))),
            version=self._random.choice((8, 9, 10)),
            member=name if is_member else None,
            sent_epoch=self._random.randrange(6) if is_member else None,
            stable=self._random.choice((None, True)),
        )

    def _administer(self) -> None:
        script = self._script
        self._random.choice(
            (
                script.describe_consumers,
                script.describe,
                script.look,
                lambda: script.delete_offsets("orders-0", "audit-0"),
                lambda: script.delete(version=self._random.choice((2, 3))),
                lambda: script.leave(self._clients.somebody()),
                lambda: script.leave(*self._clients.names[:2], "@i1"),
                self._configure,
            )
        )()

    def _configure(self) -> None:
        self._script.configure(
            consumer_session_timeout_ms=self._random.choice((None, 45_000, 55_000)),
            consumer_assignment_interval_ms=self._random.choice((None, 0, 2_000)),
        )

    def _change_topics(self) -> None:
        """Let topics come, grow and go; one that comes again is another topic."""
        there = self._random.sample(list(TOPICS), k=self._random.randint(0, len(TOPICS)))
        made_again = self._random.random() < 0.15
        counts = {name: self._random.randint(1, TOPICS[name]) for name in there}
        new = {name for name in there if name not in self._counts or made_again}
        self._incarnations.update(new)
        counts |= {name: max(counts[name], self._counts[name]) for name in {*there} - new}
        self._counts = counts
        self._script.cluster(
            *(f"{name}#{self._incarnations[name]}:{count}" for name, count in counts.items())
        )
