"""The group part of a gateway whose job is the state machine in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from group_coordinator import settings
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.groups.group_apis import GroupApis
from group_coordinator.gateway.groups.group_listing import AllGroups
from group_coordinator.gateway.groups.group_tables import GroupSettings
from group_coordinator.gateway.job.delivery import Deduplication, RequestTimeouts
from group_coordinator.gateway.job.sightings import Sighting, SightingKind
from group_coordinator.gateway.job.transaction_ends import TransactionEnds
from tests.peers.in_process_job import InProcessJob

ANSWER_TIMEOUT_MS = 25_000


class InProcessGroups:
    """Everything but the job and Kafka between them."""

    def __init__(
        self, view: ClusterView, *, delay_s: tuple[float, float] = (0.0, 0.0), **overrides: Any
    ) -> None:
        config = replace(settings.load().coordinator, **overrides)
        self.job = InProcessJob(config, on_sighting=self._see, delay_s=delay_s)
        self._listing = AllGroups(self.job, None, ANSWER_TIMEOUT_MS)
        self._settings = GroupSettings(self.job, None, ANSWER_TIMEOUT_MS)
        self._view = view
        self.apis = GroupApis(
            job=Deduplication(self.job),
            topics=view,
            ends=TransactionEnds(view),
            listing=self._listing,
            settings=self._settings,
            timeouts=RequestTimeouts(ANSWER_TIMEOUT_MS),
        )

    def learn_topics(self) -> None:
        """Tell the groups what topics there are now."""
        self.job.learn(
            [
                {"name": name, "topicId": seen.topic_id, "numPartitions": len(seen.leaders)}
                for name, seen in self._view.topics.items()
            ]
        )

    def _see(self, sighting: Sighting) -> None:
        if sighting.kind is SightingKind.SETTINGS:
            self._settings.note_altered(sighting.group_id)
        else:
            self._listing.see(sighting)
