"""Group APIs: a client's request becomes requests to the job, and the job's responses a response to the client.

`groups_by_job` assembles what they need: the channel to the job, its topics, and the tables.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from group_coordinator.clients.channel import Body
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.codecs import wire
from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import PENDING_APIS
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.group_part import GroupService, OpenGroups
from group_coordinator.gateway.groups import error_responses
from group_coordinator.gateway.groups.error_responses import OfOneGroup, error_response, together
from group_coordinator.gateway.groups.group_listing import AllGroups
from group_coordinator.gateway.groups.group_tables import FreshTables, GroupSettings, GroupTables
from group_coordinator.gateway.groups.offset_apis import OffsetApis, Subscriptions
from group_coordinator.gateway.groups.offset_topics import TopicCache
from group_coordinator.gateway.job.delivery import Deduplication, JobPulse, RequestTimeouts
from group_coordinator.gateway.job.job_channel import (
    ChannelTopics,
    GroupRequest,
    JobChannel,
    JobClient,
    NoAnswerError,
)
from group_coordinator.gateway.job.replica import Replica
from group_coordinator.gateway.job.sightings import Sighting, SightingKind
from group_coordinator.gateway.job.transaction_ends import TransactionEnds
from group_coordinator.gateway.login import Caller
from group_coordinator.settings import Settings
from group_coordinator.tables.roots import is_folder

_REFUSAL = frozenset({"errorCode", "errorMessage"})
"""Fields of the job's response to an invalid event; no response of Kafka has just these fields."""

_MARKERS_S = 1.0
"""Longest wait of an OffsetFetch without requireStable for the markers of open transactions."""
_LOOK_S = 0.02

_log = logging.getLogger(__name__)


class GroupApis:
    def __init__(  # noqa: PLR0913 - its parts
        self,
        *,
        job: JobClient,
        topics: TopicCache,
        ends: TransactionEnds,
        listing: AllGroups,
        settings: GroupSettings,
        timeouts: RequestTimeouts,
        expect: Callable[[str, Caller], None] = lambda _group_id, _caller: None,
        has_open_transactions: Callable[[str], bool] = lambda _group_id: False,
    ) -> None:
        self.expect = expect
        self._has_open_transactions = has_open_transactions
        self._job = job
        self._listing = listing
        self._settings = settings
        self._timeouts = timeouts
        self._offsets = OffsetApis(self._ask, topics, ends)
        self._subscriptions = Subscriptions(self._ask, topics)

    def answer(self, api: str, version: int, body: Body, caller: Caller) -> asyncio.Future[Body]:
        """Return the response body. Errors are in the fields of the API; no request of a client raises an error.

        The requests to the job are sent before this returns, so a group's events keep the order of the calls. (Commits
        with a look-up keep their place among the commits and fetches of their group.)
        """
        return asyncio.ensure_future(self._begun(api, version, body, caller))

    async def groups_with_settings(self) -> Sequence[str]:
        return await self._settings.groups()

    def _begun(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        fields = error_responses.fields_of(api, version)
        if fields is not None:
            split = error_responses.split(fields, body)
            return together(fields, [self._about(api, version, one, caller) for one in split])
        if api == "ListGroups":
            return self._listing.answer(body)
        return self._about(api, version, OfOneGroup(body["groupId"], body), caller)

    def _about(  # noqa: PLR0911 - one line an API
        self, api: str, version: int, one: OfOneGroup, caller: Caller
    ) -> Awaitable[Body]:
        match api:
            case "OffsetCommit" | "OffsetDelete":
                return self._offsets.write(api, version, one.body, caller)
            case "TxnOffsetCommit":
                return self._offsets.commit_in_transaction(version, one.body, caller)
            case "OffsetFetch" if not one.body.get("requireStable") and self._has_open_transactions(
                one.group_id
            ):
                return self._fetch_behind_markers(version, one, caller)
            case "OffsetFetch":
                return self._offsets.fetch(version, one, caller)
            case "ConsumerGroupHeartbeat":
                return self._subscriptions.heartbeat(version, one.body, caller)
            # Clients describe all groups this way, so a known classic group is answered without the job.
            case "ConsumerGroupDescribe" if self._listing.is_classic(one.group_id):
                return _is_no_consumer_group(version, one)
            case _:
                return self._ask(api, version, one.group_id, one.body, caller)

    async def _fetch_behind_markers(self, version: int, one: OfOneGroup, caller: Caller) -> Body:
        # At a broker a client reads the offsets of a transaction milliseconds after it has ended it. The job reports the marker
        # after its next batch.
        wait_until_s = time.monotonic() + _MARKERS_S
        while (  # noqa: ASYNC110 - the replica changes with the topic
            self._has_open_transactions(one.group_id) and time.monotonic() < wait_until_s
        ):
            await asyncio.sleep(_LOOK_S)
        return await self._offsets.fetch(version, one, caller)

    def _ask(
        self, api: str, version: int, group_id: str, body: Body, caller: Caller
    ) -> Awaitable[Body]:
        timeout_s = self._timeouts.timeout_s(api, version, body)
        _log.debug("api=%s group=%r route=job timeout_s=%g", api, group_id, timeout_s)
        request = GroupRequest(api, version, group_id, body, caller, timeout_s=timeout_s)
        asked = self._job.ask(request)
        if api in PENDING_APIS:
            # It may wait for minutes, so large fields, such as the members' metadata, are not kept.
            kept = {name: value for name, value in body.items() if not isinstance(value, list)}
            request = request._replace(body=kept)
        return self._settled(request, asked)

    async def _settled(self, request: GroupRequest, asked: asyncio.Future[Body]) -> Body:
        try:
            response = _understood(request, await asked)
        except NoAnswerError as error:
            return error_response(request.api, request.version, request.body, error.code)
        except wire.WireError as fault:
            _log.warning("a response of the job is not valid for its API: %s", fault)
            code = ErrorCode.UNKNOWN_SERVER_ERROR
            return error_response(request.api, request.version, request.body, code)
        self._timeouts.learn(request, response)
        return response


def _understood(request: GroupRequest, response: Body) -> Body:
    """Fill in all fields of the response's version, as a job of another version may write others.

    WireError: the client could not read the response.
    """
    api, version = request.api, request.version
    if response.keys() == _REFUSAL:
        code, message = response["errorCode"], response["errorMessage"]
        response = error_response(api, version, request.body, code, message)
    return wire.decode(f"{api}Response", version, wire.encode(f"{api}Response", version, response))


async def _is_no_consumer_group(version: int, one: OfOneGroup) -> Body:
    # Administration clients send ConsumerGroupDescribe for every group, then DescribeGroups. A local response saves a
    # job request.
    why = f"Group {one.group_id} is not a consumer group."
    if len(why.encode()) > LONGEST_TEXT:  # a broker cannot write this response either
        code = ErrorCode.UNKNOWN_SERVER_ERROR
        return error_response("ConsumerGroupDescribe", version, one.body, code)
    code = ErrorCode.GROUP_ID_NOT_FOUND
    return error_response("ConsumerGroupDescribe", version, one.body, code, why)


_READING_S = 5.0
"""Longest wait for the responses topic before clients are admitted."""
_LIST_TIMEOUT_MS = 9_000
"""Timeout of a list's descriptions. After it the list shows the last known state; franz-go waits 10 s for a list."""


def groups_by_job(settings: Settings, connection: Connection) -> OpenGroups:
    return lambda view: _GroupsByJob(settings, connection, view).opened()


class _GroupsByJob:
    def __init__(self, settings: Settings, connection: Connection, view: ClusterView) -> None:
        job, timeout_ms = settings.job, settings.job.gateway_answer_timeout_ms
        topics = ChannelTopics(
            job.events_topic, job.responses_topic, settings.coordinator.event_max_bytes
        )
        self._make_replica = (
            partial(Replica, job.events_topic) if job.gateway_answers == "replica" else None
        )
        self._channel = JobChannel(
            connection, topics, answer_timeout_ms=timeout_ms, on_sighting=self._see
        )
        self._pulse = JobPulse(self._channel, timeout_ms)
        # Only Spark reads the tables of a catalog.
        is_read = is_folder(job.tables_root)
        tables = FreshTables(GroupTables(job.tables_root, job.cluster_id)) if is_read else None
        list_timeout_ms = min(timeout_ms, _LIST_TIMEOUT_MS)
        self._listing = AllGroups(self._pulse, tables, list_timeout_ms)
        self._group_settings = GroupSettings(self._pulse, tables, list_timeout_ms)
        self._ends = TransactionEnds(view, view.access)
        self._apis = GroupApis(
            job=Deduplication(self._pulse),
            topics=view,
            ends=self._ends,
            listing=self._listing,
            settings=self._group_settings,
            timeouts=RequestTimeouts(timeout_ms),
            expect=self._channel.expect,
            has_open_transactions=self._channel.has_open_transactions,
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[GroupService]:
        self._channel.start()
        if self._make_replica is not None:
            self._channel.follow(self._make_replica)
        try:
            # A member that returns earlier would get COORDINATOR_NOT_AVAILABLE, and some clients then leave their group.
            await self._channel.until_reading(_READING_S)
            checks = [self._reading_check, self._pulse.why_not_ready]
            yield GroupService(self._apis, checks, self._figures)
        finally:
            self._ends.close()
            await asyncio.to_thread(self._channel.close)

    def _see(self, sighting: Sighting) -> None:
        if sighting.kind is SightingKind.SETTINGS:
            self._group_settings.note_altered(sighting.group_id)
        else:
            self._listing.see(sighting)

    def _figures(self) -> Mapping[str, int]:
        return {} if self._channel.replica is None else self._channel.replica.figures()

    def _reading_check(self) -> str | None:
        return None if self._channel.is_reading else "the job's responses cannot be read"
