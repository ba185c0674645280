"""The members in a random script of a consumer group: each with a protocol, wishes, and a millisecond of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Final

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import Json, ScriptDraft, partitions

SUBSCRIPTIONS: Final = (
    "orders",
    "orders",
    "orders audit",
    "audit billing",
    "billing orders",
    "nothing",
    "",
)
EXPRESSIONS: Final = ("or.*", "or.*", "audit|billing", "nothing.*")
REBALANCES_MS: Final = (5_000, 12_000, 60_000)
SESSIONS_MS: Final = (6_000, 10_000, 30_000)
TIMERS_MS: Final = (1_000, 2_000, 5_000, 6_000, 10_000, 12_000, 30_000, 45_000, 55_000)
"""Every timer of a group: intervals, rebalances, sessions, refreshes."""
OWNED: Final = (
    "",
    "orders#1:0",
    "orders#1:01",
    "orders#1:0123",
    "audit#1:0",
    "orders#1:01 audit#1:0",
    "orders#2:01",
)
SLOT_MS: Final = 100
"""Each member acts at its own time within a slot, so that no two timers end together."""
SPACE_MS: Final = 14
DRIFT_MS: Final = 5


@dataclass
class Client:
    """A member, what it wishes, and when it acts."""

    name: str
    is_classic: bool
    instance: str | None
    offset_ms: int
    acted_ms: int = 0
    topics: str | None = "orders"
    regex: str | None = None
    rebalance_ms: int = 60_000
    session_ms: int = 10_000
    assignor: str | None = None
    rack: str | None = None
    embedded_version: int = 3
    version: int = 5


CAST: Final = (
    ("m1", False, None),
    ("m2", False, None),
    ("m3", False, None),
    ("s1", False, "i1"),
    ("t1", False, "i1"),
    ("c1", True, None),
    ("c2", True, None),
    ("d1", True, "i1"),
    ("e1", True, "i2"),
)
"""Who may play: s1, t1 and d1 are copies of one static member."""


class ConsumerClients:
    """Up to five members, and their ways."""

    def __init__(self, script: ConsumerScript, draft: ScriptDraft, chance: random.Random) -> None:
        self._script, self._draft, self._random = script, draft, chance
        cast = chance.sample(CAST, k=chance.randint(1, 5))
        self._clients = {
            name: Client(name, is_classic, instance, 20 + SPACE_MS * number)
            for number, (name, is_classic, instance) in enumerate(cast)
        }
        for client in self._clients.values():
            self._draw_wishes(client)

    @property
    def names(self) -> list[str]:
        return list(self._clients)

    def somebody(self) -> str:
        return self._random.choice(self.names)

    def committer(self, name: str) -> str:
        return name if self._random.random() < 0.95 else "stranger"

    def _client(self) -> Client:
        return self._clients[self.somebody()]

    # ---- time -------------------------------------------------------------------------------

    def at_the_time_of(self, name: str) -> None:
        self._take_time(self._clients[name])

    def _take_time(self, client: Client) -> None:
        """Move on to the next time that is this member's own."""
        start = self._draft.now_ms - self._draft.now_ms % SLOT_MS + client.offset_ms
        self._script.jump(start if start > self._draft.now_ms else start + SLOT_MS)
        client.acted_ms = self._draft.now_ms

    def wait(self) -> None:
        """To the end of a timer that somebody may have started, to just before or just behind it."""
        client, step_ms = self._client(), self._random.choice((-1, 0, 0, 1))
        then_ms = client.acted_ms + self._random.choice(TIMERS_MS) + step_ms
        if client.acted_ms == 0 or then_ms <= self._draft.now_ms:
            self._script.at(self._draft.now_ms + self._random.choice((0, 500, 3_000)))
            return
        if self._random.random() < 0.5:
            self._script.at(then_ms)
            return
        drifted_ms = then_ms % SLOT_MS
        if abs(drifted_ms - client.offset_ms) <= DRIFT_MS:
            self._script.jump(then_ms)
            client.acted_ms = then_ms
            self._act(client)

    # ---- ways -------------------------------------------------------------------------------

    def behave(self) -> None:
        """Do what a client does: acknowledge what it was given, or say all again where it is none any more."""
        client = self._client()
        self._take_time(client)
        self._act(client)

    def settle(self) -> None:
        """Let everybody behave, twice."""
        for client in list(self._clients.values()) * 2:
            self._take_time(client)
            self._act(client)

    def _act(self, client: Client) -> None:
        if client.is_classic:
            self._act_classic(client)
        elif self._random.random() < 0.15:
            self._script.beat(client.name, rejoin=self._all_of(client))
        elif self._random.random() < 0.15:
            self._say_all(client, f"@{client.name}", rejoin=self._all_of(client))
        else:
            self._script.ack(client.name, rejoin=self._all_of(client))

    def _act_classic(self, client: Client) -> None:
        way = self._random.random()
        if way < 0.4:
            self._script.heartbeat(client.name, f"#{client.name}", instance=client.instance)
        elif way < 0.8:
            self._join(client)
            self._sync(client)
        else:
            self._sync(client)

    def enter(self) -> None:
        client = self._client()
        self._take_time(client)
        if client.is_classic:
            self._join(client)
        else:
            self._say_all(client, "", sent_epoch=0)

    def change(self) -> None:
        """Wish something else, and say so."""
        client = self._client()
        self._draw_wishes(client)
        self._take_time(client)
        if client.is_classic:
            self._join(client)
        else:
            self._say_all(client, self._random.choice((None, f"@{client.name}")))

    def leave(self) -> None:
        client = self._client()
        self._take_time(client)
        if client.is_classic:
            self._script.leave(
                f"{client.name}@{client.instance}" if client.instance else client.name
            )
        elif client.instance and self._random.random() < 0.7:
            self._script.pause(client.name, instance=client.instance)
        else:
            self._script.quit(client.name, instance=client.instance)

    def lie(self) -> None:
        """Say another epoch, or that one owns what one does not, or nothing of what one was given."""
        client = self._client()
        self._take_time(client)
        epoch = self._random.choice((f"#{client.name}", self._random.randrange(1, 7)))
        owned = self._random.choice((None, *OWNED))
        if client.is_classic:
            self._join(client, owned=self._random.choice(OWNED))
        elif self._random.random() < 0.3:
            self._say_all(client, owned, sent_epoch=epoch)
        else:
            instance = client.instance if self._random.random() < 0.9 else "i9"
            self._script.beat(client.name, sent_epoch=epoch, owns=owned, instance=instance)
            self._draft.instances.pop(client.name, None)

    def borrow(self) -> None:
        """Let a static member leave for a while, and come under another one's member id in its place."""
        static = [c for c in self._clients.values() if c.instance and not c.is_classic]
        if not static:
            return
        client, other = self._random.choice(static), self._client()
        self._take_time(client)
        self._script.pause(client.name, instance=client.instance)
        self._take_time(client)
        member = f"${other.name}" if other.is_classic else other.name
        self._say_all(client, "", sent_epoch=0, member=member)

    def _draw_wishes(self, client: Client) -> None:
        choice = self._random.choice
        client.topics = choice(SUBSCRIPTIONS)
        client.regex = (
            choice(EXPRESSIONS) if self._random.random() < 0.25 else choice((None, None, ""))
        )
        client.rebalance_ms = choice(REBALANCES_MS)
        client.session_ms = choice(SESSIONS_MS)
        client.assignor = choice((None, None, "uniform", "range"))
        client.rack = choice((None, None, "r1"))
        client.embedded_version = choice((0, 1, 2, 3, 3))
        client.version = choice((3, 5, 5, 9))

    # ---- requests ---------------------------------------------------------------------------

    def _wishes(self, client: Client) -> dict[str, object]:
        return {
            "topics": client.topics,
            "regex": client.regex,
            "rebalance": client.rebalance_ms,
            "instance": client.instance,
            "assignor": client.assignor,
            "rack": client.rack,
        }

    def _say_all(self, client: Client, owned: str | None, **others: object) -> None:
        self._script.beat(client.name, owns=owned, **self._wishes(client), **others)  # type: ignore[arg-type]

    def _all_of(self, client: Client) -> Json:
        """The body of the heartbeat with which the member comes again."""
        body = {
            "groupId": "g",
            "memberId": client.name,
            "memberEpoch": 0,
            "instanceId": client.instance,
            "rackId": client.rack,
            "rebalanceTimeoutMs": client.rebalance_ms,
            "subscribedTopicNames": None if client.topics is None else client.topics.split(),
            "subscribedTopicRegex": client.regex,
            "serverAssignor": client.assignor,
        }
        given = {name: value for name, value in body.items() if value is not None}
        return given | {"topicPartitions": partitions("")}

    def _join(self, client: Client, owned: str | None = None) -> None:
        has_owned = client.embedded_version > 0 and self._random.random() < 0.8
        self._script.classic(
            client.name,
            client.topics or "",
            chosen_id=False,
            owned=owned if owned is not None else f"@{client.name}" if has_owned else "",
            metadata_version=client.embedded_version,
            protocols=self._random.choice(("range", "range", "range sticky")),
            version=client.version,
            session=client.session_ms,
            rebalance=client.rebalance_ms,
            instance=client.instance,
        )
        line = self._draft.lines.pop()
        anew = line.text["event"]["body"] | {"memberId": ""}
        self._draft.lines.append(replace(line, rejoin=anew, asks_for_id=True))

    def _sync(self, client: Client) -> None:
        everybody = {
            name: spec
            for name, spec in zip(
                self._clients, ("orders:01", "orders:2 audit:0", ""), strict=False
            )
            if self._clients[name].is_classic
        }
        self._script.lead(client.name, everybody, instance=client.instance)
