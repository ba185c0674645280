"""Results of DataFusion's queries: in Arrow types that all libraries support, and the log group by group, in the order of each group's records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
from deltalake import QueryBuilder

from group_coordinator.codecs.records.record_types import COMPACTED_TYPES

_PLAIN_TYPES = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def without_views(response: pa.Table) -> pa.Table:
    """Replace DataFusion's views of texts and bytes: no file format has them, and pandas has no lists of them."""
    fields = [field.with_type(_plain(field.type)) for field in response.schema]
    return response.cast(pa.schema(fields))


def _plain(kind: pa.DataType) -> pa.DataType:
    # Views may be nested in lists and structs.
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return _PLAIN_TYPES.get(kind, kind)


_GROUP = ("cluster_id", "group_id")
_MICROSECONDS = 1_000


def log_by_group(
    builder: QueryBuilder, columns: Sequence[str], condition: str = "true"
) -> Iterator[tuple[tuple[str, str], list[dict[str, Any]]]]:
    """Yield (cluster id, group id) and the group's rows, event_time in milliseconds. It holds all rows of a single group at a time.

    `columns` are in addition to event_time, and `condition` is SQL for the rows. A view may have the table's name.
    """
    types = ", ".join(map(str, COMPACTED_TYPES))
    wanted = ", ".join((*_GROUP, *columns))
    rows = builder.execute(
        f"SELECT {wanted}, arrow_cast(event_time, 'Int64') AS event_time FROM coordinator_log "  # noqa: S608 - columns of our own
        f"WHERE record_type IN ({types}) AND {condition} ORDER BY cluster_id, group_id, batch_id, seq"
    )
    for key, of_key in groupby(_one_by_one(rows), key=itemgetter(*_GROUP)):
        yield key, list(of_key)


def _one_by_one(batches: Any) -> Iterator[dict[str, Any]]:
    for batch in pa.RecordBatchReader.from_stream(batches):
        for row in batch.to_pylist():
            yield row | {"event_time": row["event_time"] // _MICROSECONDS}
