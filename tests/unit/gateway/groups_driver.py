"""Group requests as the moving of bytes hands them over; the job is the state machine in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import replace
from typing import Any

from group_coordinator import settings
from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.core.model.requests import Topic
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.group_part import GroupPart
from group_coordinator.gateway.groups.group_apis import GroupApis
from group_coordinator.gateway.groups.group_listing import AllGroups
from group_coordinator.gateway.groups.group_tables import FreshTables, GroupSettings
from group_coordinator.gateway.groups.offset_topics import TopicCache
from group_coordinator.gateway.job.delivery import Deduplication, RequestTimeouts
from group_coordinator.gateway.job.sightings import Sighting, SightingKind
from group_coordinator.gateway.job.transaction_ends import TransactionEnds
from group_coordinator.gateway.login import Caller
from group_coordinator.gateway.rights.checked_groups import CheckedGroups
from group_coordinator.gateway.rights.rights import ClientRights
from tests.peers.in_process_job import InProcessJob

ORDERS = "AAAAAAAAAAAAAAAAAAAAAg"
PAYMENTS = "AAAAAAAAAAAAAAAAAAAAAw"
START_MS = 1_700_000_000_000


class Topics:
    """The cluster's topics; those in `hidden` are found at the next look."""

    def __init__(self) -> None:
        self.there = {"orders": (ORDERS, 3), "payments": (PAYMENTS, 1)}
        self.hidden: dict[str, tuple[str, int]] = {}
        self.looks = 0
        self.leader: Address | None = None
        """Of all partitions of __consumer_offsets."""
        self.brokers: Sequence[Address] = ()

    def name_of(self, topic_id: str) -> str | None:
        return next((name for name, (found, _) in self.there.items() if found == topic_id), None)

    def id_of(self, name: str) -> str | None:
        return self.there[name][0] if name in self.there else None

    def partition_count(self, name: str) -> int:
        if name == "__consumer_offsets":
            return 50
        return self.there[name][1] if name in self.there else 0

    def topic(self, name: str) -> Topic | None:
        return Topic(name, *self.there[name]) if name in self.there else None

    def leader_of(self, topic: str, partition: int) -> Address | None:  # noqa: ARG002
        return self.leader

    def addresses_of(self, node_id: int | None) -> Sequence[Address]:  # noqa: ARG002
        return self.brokers

    async def look_for(
        self,
        names: Collection[str] = (),  # noqa: ARG002
        topic_ids: Collection[str] = (),  # noqa: ARG002
    ) -> None:
        self.looks += 1
        await asyncio.sleep(0)
        self.there |= self.hidden


class Everybody:
    """A client of brokers without an authorizer."""

    def __init__(self) -> None:
        self.rights = ClientRights(_nobody_is_asked, lambda: False)

    def hold_requests(self) -> None:
        pass

    def take_requests(self) -> None:
        pass


def _nobody_is_asked(api: str, version: int, body: Body) -> Awaitable[Body]:
    raise AssertionError((api, version, body))


def answered(
    groups: GroupPart, topics: TopicCache, api: str, version: int, body: Body, caller: Caller
) -> asyncio.Future[Body]:
    """The answer to a client that may do everything."""
    checked = CheckedGroups(groups.answer, topics)
    return asyncio.ensure_future(checked.answer(api, version, body, caller, Everybody()))


class Groups:
    """Requests as dicts; each goes through the bytes of its version, and so does its answer."""

    def __init__(
        self,
        topics: Topics | None = None,
        *,
        tables: FreshTables | None = None,
        answer_timeout_ms: int = 9_000,
        delay_s: tuple[float, float] = (0.0, 0.0),
        **overrides: Any,
    ) -> None:
        config = replace(
            settings.load().coordinator, group_initial_rebalance_delay_ms=0, **overrides
        )
        self.now_ms = START_MS
        self.with_open_transactions: set[str] = set()
        """Groups that wait for markers."""
        self.topics = topics or Topics()
        self.job = InProcessJob(
            config, on_sighting=self._see, delay_s=delay_s, now_ms=lambda: self.now_ms
        )
        self._listing = AllGroups(self.job, tables, answer_timeout_ms)
        self._settings = GroupSettings(self.job, tables, answer_timeout_ms)
        self.ends = TransactionEnds(self.topics)
        self.apis = GroupApis(
            job=Deduplication(self.job),
            topics=self.topics,
            ends=self.ends,
            listing=self._listing,
            settings=self._settings,
            timeouts=RequestTimeouts(answer_timeout_ms),
            has_open_transactions=self.with_open_transactions.__contains__,
        )
        self.job.learn(
            [
                {"name": name, "topicId": topic_id, "numPartitions": count}
                for name, (topic_id, count) in (self.topics.there | self.topics.hidden).items()
            ]
        )

    def send(
        self, api: str, version: int, *, node_id: int | None = None, **body: Any
    ) -> asyncio.Future[Body]:
        """What will be the answer."""
        sent = wire.encode(f"{api}Request", version, body)
        caller = Caller("billing", "/10.0.0.7", "User:billing", node_id)
        read = wire.decode(f"{api}Request", version, sent)
        return answered(self.apis, self.topics, api, version, read, caller)

    async def ask(self, api: str, version: int, *, node_id: int | None = None, **body: Any) -> Body:
        """The answer, without the time for which the client is held back."""
        answer = await self.send(api, version, node_id=node_id, **body)
        frame = wire.encode(f"{api}Response", version, answer)
        read = wire.decode(f"{api}Response", version, frame)
        read.pop("throttleTimeMs", None)
        return read

    async def joined(self, group_id: str, version: int = 9, member_id: str = "") -> Body:
        """A member alone in its group, which waits for its assignment."""
        answer = await self.ask("JoinGroup", version, **join_body(group_id, member_id))
        if answer["errorCode"] == 79:
            return await self.joined(group_id, version, answer["memberId"])
        return answer

    async def stable(self, group_id: str) -> str:
        """A member with an assignment; gives its id."""
        member_id: str = (await self.joined(group_id))["memberId"]
        await self.ask(
            "SyncGroup",
            5,
            groupId=group_id,
            generationId=1,
            memberId=member_id,
            protocolType="consumer",
            protocolName="range",
            assignments=[{"memberId": member_id, "assignment": "AAAA"}],
        )
        return member_id

    def _see(self, sighting: Sighting) -> None:
        if sighting.kind is SightingKind.SETTINGS:
            self._settings.note_altered(sighting.group_id)
        else:
            self._listing.see(sighting)


def join_body(group_id: str, member_id: str = "") -> Body:
    """A JoinGroup of a consumer of the topic orders."""
    return {
        "groupId": group_id,
        "sessionTimeoutMs": 30_000,
        "rebalanceTimeoutMs": 60_000,
        "memberId": member_id,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": "AAAAAAABAAZvcmRlcnP/////"}],
    }
