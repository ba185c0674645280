from __future__ import annotations

import pytest
from msgspec import structs

from group_coordinator.tables.compaction.rows import ROW_TYPES
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.definition import TableDefinition


@pytest.mark.parametrize("table", COMPACTED, ids=lambda table: table.name)
def test_a_row_has_a_field_for_each_column(table: TableDefinition) -> None:
    fields = {field.name: field for field in structs.fields(ROW_TYPES[table.name])}

    assert sorted(fields) == sorted(table.schema.names)
    assert {name for name in fields if "None" in str(fields[name].type)} == {
        column.name for column in table.schema if column.nullable
    }
