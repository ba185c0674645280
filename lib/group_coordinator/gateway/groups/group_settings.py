"""Groups with a group configuration: the table `group_configs`, and alterations since then."""

from __future__ import annotations

import asyncio

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.responses import ConfigSource
from group_coordinator.gateway.groups.group_tables import FreshTables
from group_coordinator.gateway.job.requests import ASKER, GroupRequest, JobClient, NoAnswerError
from group_coordinator.gateway.job.sightings import Sighting, SightingKind
from group_coordinator.gateway.remembered import Remembered

_GROUP_RESOURCE = 32
_MOST_BYTES = 4 * 1024 * 1024
"""Limit of the altered groups, about 18,000; the table must do for the oldest."""
_QUESTIONS = 500
"""Limit of the groups that one listing describes, the last altered first."""


class GroupSettings:
    """Requests the settings of altered groups, as the response to an alteration does not contain them."""

    def __init__(self, job: JobClient, tables: FreshTables | None, answer_timeout_ms: int) -> None:
        """Without tables, only settings since the gateway's start are known."""
        self._job = job
        self._tables = tables
        self._timeout_s = answer_timeout_ms / 1000
        self._altered: Remembered[str, None] = Remembered(_MOST_BYTES)
        self._asking: set[asyncio.Task[None]] = set()
        self._has_settings: Remembered[str, bool] = Remembered(_MOST_BYTES)

    def see(self, sighting: Sighting) -> None:
        """Apply a response that the gateway saw."""
        if sighting.kind is SightingKind.SETTINGS:
            self._altered[sighting.group_id] = None

    async def groups(self) -> list[str]:
        """Sorted ids of the groups; a group need not exist."""
        if self._tables is not None:
            await self._tables.refresh()
        await self._ask_about_altered()
        found = set() if self._tables is None else set(self._tables.configured)
        for group_id, has_settings in self._has_settings.items():
            if has_settings:
                found.add(group_id)
            else:
                found.discard(group_id)
        return sorted(found)

    async def _ask_about_altered(self) -> None:
        # Concurrent calls share the requests, and the cancellation of a caller must not cancel them.
        for group_id in [group_id for group_id, _ in self._altered.items()][-_QUESTIONS:]:
            self._altered.pop(group_id)  # a later alteration adds the group again
            task = asyncio.create_task(self._describe(group_id))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        await asyncio.gather(*map(asyncio.shield, self._asking))

    async def _describe(self, group_id: str) -> None:
        resource = {
            "resourceType": _GROUP_RESOURCE,
            "resourceName": group_id,
            "configurationKeys": None,
        }
        body = {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False}
        request = GroupRequest(
            api="DescribeConfigs",
            version=4,
            group_id=group_id,
            body=body,
            caller=ASKER,
            timeout_s=self._timeout_s,
        )
        try:
            answer: Body = await self._job.ask(request)
        except NoAnswerError:
            # The group stays in doubt for the next call.
            self._altered[group_id] = None
            return
        self._has_settings[group_id] = any(
            config["configSource"] == ConfigSource.GROUP_CONFIG
            for result in answer.get("results", ())
            for config in result["configs"]
        )
