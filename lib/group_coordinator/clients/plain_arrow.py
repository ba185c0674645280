"""Arrow types that everybody knows."""

from __future__ import annotations

import pyarrow as pa

_PLAIN_TYPES = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def without_views(answer: pa.Table) -> pa.Table:
    """The same with plain texts and bytes: DataFusion's views of them are of no file format, and pandas has no lists of them."""
    fields = [field.with_type(_plain(field.type)) for field in answer.schema]
    return answer.cast(pa.schema(fields))


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return _PLAIN_TYPES.get(kind, kind)
