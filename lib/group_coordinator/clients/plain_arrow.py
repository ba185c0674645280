"""Arrow types that all libraries support."""

from __future__ import annotations

import pyarrow as pa

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
