"""Which groups have settings of their own: the table, and alterations that passed by since."""

from __future__ import annotations

import asyncio

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.responses import ConfigSource
from group_coordinator.gateway.groups.group_tables import FreshTables
from group_coordinator.gateway.job.requests import ASKER, Job, NoAnswerError, Question
from group_coordinator.gateway.job.sightings import Sighting, Told
from group_coordinator.gateway.remembered import Remembered

_GROUP_RESOURCE = 32
_MOST_BYTES = 4 * 1024 * 1024
"""Of groups whose settings were altered, about 18,000; those that were altered first are left to the table."""
_QUESTIONS = 500
"""The most groups that one listing asks about, those that were altered last."""


class GroupSettings:
    """An answer to an alteration does not say what was altered, so the job is asked what is left."""

    def __init__(self, job: Job, tables: FreshTables | None, answer_timeout_ms: int) -> None:
        """Without tables, settings that were given before the gateway started are not known."""
        self._job = job
        self._tables = tables
        self._timeout_s = answer_timeout_ms / 1000
        self._altered: Remembered[str, None] = Remembered(_MOST_BYTES)
        self._asking: set[asyncio.Task[None]] = set()
        self._has_settings: Remembered[str, bool] = Remembered(_MOST_BYTES)

    def see(self, sighting: Sighting) -> None:
        """Take in what an answer that passed by says."""
        if sighting.told is Told.SETTINGS:
            self._altered[sighting.group_id] = None

    async def groups(self) -> list[str]:
        """Ids of the groups, in their order; a group need not exist."""
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
        """Several lists at once share the questions; who goes meanwhile takes none of them with it."""
        for group_id in [group_id for group_id, _ in self._altered.items()][-_QUESTIONS:]:
            self._altered.pop(group_id)  # what is altered from here on is in doubt again
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
        question = Question("DescribeConfigs", 4, group_id, body, ASKER, self._timeout_s)
        try:
            answer: Body = await self._job.ask(question)
        except NoAnswerError:
            self._altered[group_id] = None
            return
        self._has_settings[group_id] = any(
            config["configSource"] == ConfigSource.GROUP_CONFIG
            for result in answer.get("results", ())
            for config in result["configs"]
        )
