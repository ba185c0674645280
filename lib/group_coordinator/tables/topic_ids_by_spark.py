"""The table topic_ids in a catalog, where only Spark writes; the folder's way is in topic_ids_folder.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from group_coordinator.tables.append import append_few, spark_write_errors
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_id_rows, topic_names


@dataclass(slots=True)
class TopicIdsBySpark:
    """One cluster's rows of the table; which ids it has is read once. Two who write at once may both add an id."""

    spark: SparkSession
    catalog: TableCatalog
    cluster_id: str
    _known: set[str] | None = field(default=None, init=False)

    def note(self, topics: Mapping[str, str], seen_at_ms: int) -> None:
        """Add the ids that are new, in one commit.

        Args:
            topics: names by id.
            seen_at_ms: when they were seen.

        Raises:
            TableWriteError: the catalog does not take them.
        """
        with spark_write_errors(self.catalog.location(TOPIC_IDS.name)):
            if self._known is None:
                self._known = set(topic_names(self.spark, self.catalog, self.cluster_id))
            new = {each: name for each, name in topics.items() if each not in self._known}
            if new:
                rows = topic_id_rows(self.cluster_id, new, seen_at_ms)
                append_few(rows, self.spark, self.catalog, TOPIC_IDS)
                self._known |= new.keys()
