"""Tables in a folder with the methods of Spark, for notebooks: no Spark and no JVM."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from group_coordinator.clients.query_results import without_views
from group_coordinator.clients.sql_tables import query

__all__ = ["TableFolder"]


class Answer:
    """Result of a query, with the method names of Spark's DataFrame."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        """Return the result as an Arrow table."""
        return self._table

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 - Spark's name
        """Return the result as a DataFrame of pandas; times have their zone, UTC."""
        return self._table.to_pandas()


class TableFolder:
    """Tables under a folder, and the views over them: `tables.sql("SELECT * FROM groups").toPandas()`.

    For tables of Spark, a SparkSession has the same methods.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def sql(self, text: str) -> Answer:
        """Answer a query from the current tables. Errors are those of sql_tables.query."""
        return Answer(without_views(query(self._root, text)))
