"""Assembly of the part for groups: the channel to the job, its topics, and the tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.group_part import GroupService, OpenGroups
from group_coordinator.gateway.groups.group_apis import GroupApis
from group_coordinator.gateway.groups.group_listing import AllGroups
from group_coordinator.gateway.groups.group_settings import GroupSettings
from group_coordinator.gateway.groups.group_tables import FreshTables, GroupTables
from group_coordinator.gateway.job.delivery import JobPulse, Patience, Repeats
from group_coordinator.gateway.job.job_channel import ChannelTopics, JobChannel
from group_coordinator.gateway.job.sightings import Sighting
from group_coordinator.gateway.job.transaction_ends import TransactionEnds
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.tables.roots import is_folder

_READING_S = 5.0
"""Longest wait for the responses topic before clients are admitted."""
_LIST_TIMEOUT_MS = 9_000
"""Timeout of a list's descriptions. After it the list shows the last known state; franz-go waits 10 s for a list."""


def groups_by_job(settings: Settings, connection: Connection) -> OpenGroups:
    """Return a function that opens the channel to the job, once the gateway knows the cluster."""
    return partial(_opened, settings, connection)


def _opened(
    settings: Settings, connection: Connection, view: ClusterView
) -> AbstractAsyncContextManager[GroupService]:
    return _GroupsByJob(settings, connection, view).opened()


class _GroupsByJob:
    def __init__(self, settings: Settings, connection: Connection, view: ClusterView) -> None:
        job, timeout_ms = settings.job, settings.job.gateway_answer_timeout_ms
        topics = ChannelTopics(
            job.events_topic, job.responses_topic, settings.coordinator.event_max_bytes
        )
        self._channel = JobChannel(
            connection, topics, answer_timeout_ms=timeout_ms, on_sighting=self._see
        )
        self._pulse = JobPulse(self._channel, timeout_ms)
        tables = _tables_of(job)
        list_timeout_ms = min(timeout_ms, _LIST_TIMEOUT_MS)
        self._listing = AllGroups(self._pulse, tables, list_timeout_ms)
        self._group_settings = GroupSettings(self._pulse, tables, list_timeout_ms)
        self._ends = TransactionEnds(view, view.access)
        self._apis = GroupApis(
            job=Repeats(self._pulse),
            topics=view,
            ends=self._ends,
            listing=self._listing,
            settings=self._group_settings,
            patience=Patience(timeout_ms),
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[GroupService]:
        self._channel.start()
        try:
            # A member that returns earlier would get COORDINATOR_NOT_AVAILABLE, and some clients then leave their group.
            await self._channel.until_reading(_READING_S)
            yield GroupService(self._apis, [self._reading_check, self._pulse.why_not_ready])
        finally:
            self._ends.close()
            await asyncio.to_thread(self._channel.close)

    def _see(self, sighting: Sighting) -> None:
        self._listing.see(sighting)
        self._group_settings.see(sighting)

    def _reading_check(self) -> str | None:
        return None if self._channel.is_reading else "the job's responses cannot be read"


def _tables_of(job: JobSettings) -> FreshTables | None:
    # Only Spark reads the tables of a catalog.
    if is_folder(job.tables_root):
        return FreshTables(GroupTables(job.tables_root, job.cluster_id))
    return None
