from __future__ import annotations

from pathlib import Path

from group_coordinator.clients.table_folder import TableFolder
from tests.support.group_history import GroupHistory, tables_of


def test_it_is_asked_as_spark_is(tmp_path: Path) -> None:
    billing = GroupHistory("billing")
    billing.commit({"orders": {0: 42}})
    tables = TableFolder(str(tables_of(tmp_path, billing)))

    answer = tables.sql("SELECT group_id, committed_offset FROM offsets")

    assert answer.toArrow().to_pylist() == [{"group_id": "billing", "committed_offset": 42}]
    assert answer.toPandas().committed_offset.tolist() == [42]


def test_each_question_is_about_what_is_so_then(tmp_path: Path) -> None:
    tables = TableFolder(str(tables_of(tmp_path)))
    assert tables.sql("SELECT * FROM groups").toPandas().empty

    billing = GroupHistory("billing")
    billing.commit({"orders": {0: 42}})
    tables_of(tmp_path, billing)

    assert tables.sql("SELECT group_id FROM groups").toPandas().group_id.tolist() == ["billing"]
