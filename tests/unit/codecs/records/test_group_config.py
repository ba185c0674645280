from __future__ import annotations

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import ConfigRecord, Reason
from tests.unit.codecs.records.logged_texts import LoggedTexts, logged

KEY = '{"type":-2,"data":{"group":"g","name":"consumer.session.timeout.ms"}}'


def test_a_setting_of_the_group_is_a_record_of_ours() -> None:
    record = ConfigRecord("consumer.session.timeout.ms", "50000", Reason.CONFIG)
    value = '{"version":0,"data":{"value":"50000"}}'

    assert logged("g", record) == LoggedTexts(-2, KEY, value)
    assert log_entry.decode(KEY, value, Reason.CONFIG) == record
