"""The table topic_ids in a folder, of this machine or of an object store, written without a JVM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from deltalake import DeltaTable

from group_coordinator.tables.append import commit_rows, write_errors
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_id_rows, topic_names_in


@dataclass(slots=True)
class TopicIdsFolder:
    """One cluster's rows of the table; which ids it has is read once. Two who write at once may both add an id."""

    catalog: TableCatalog
    cluster_id: str
    _known: set[str] | None = field(default=None, init=False)

    def note(self, topics: Mapping[str, str], seen_at_ms: int) -> None:
        """Add the ids that are new, in one commit.

        Args:
            topics: names by id.
            seen_at_ms: when they were seen.

        Raises:
            TableWriteError: the folder does not take them.
        """
        location = self.catalog.location(TOPIC_IDS.name)
        with write_errors(location):
            if self._known is None:
                self._known = set(topic_names_in(location, self.cluster_id))
            new = {each: name for each, name in topics.items() if each not in self._known}
            if new:
                rows = topic_id_rows(self.cluster_id, new, seen_at_ms)
                commit_rows(DeltaTable(location), rows)
                self._known |= new.keys()
