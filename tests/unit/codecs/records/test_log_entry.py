from __future__ import annotations

import pytest
from hypothesis import given

from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.log_entry import RecordError
from group_coordinator.core.model.records import Record
from tests.unit.codecs import strategies
from tests.unit.codecs.records.logged_texts import GROUP_KEY, OFFSET_KEY, logged


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ('{"type":9,"data":{"group":"g"}}', None, "unknown record type 9"),
        ('{"type":-1,"data":{"group":"g","type":1}}', None, "unknown record type -1"),
        ('{"type":1}', None, "Object missing required field `data`"),
        ("no JSON", None, "JSON is malformed"),
        (OFFSET_KEY, '{"version":4,"data":{"offset":"42"}}', r"Expected `int`, got `str` - at `\$"),
        (GROUP_KEY, '{"version":3,"data":{}}', "missing required field"),
    ],
)
def test_what_is_no_record_is_refused(key: str, value: str | None, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        log_entry.decode(key, value)


@given(strategies.records, strategies.names)
def test_a_record_comes_back_from_its_json(record: Record, group_id: str) -> None:
    entry = logged(group_id, record)

    assert "\n" not in entry.key + (entry.value or "")
    assert log_entry.decode(entry.key, entry.value, record.reason) == record
