from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from group_coordinator.codecs.uuids import uuid_bytes, uuid_on_wire, uuid_or_none, uuid_text

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


@given(st.binary(min_size=16, max_size=16))
def test_a_uuid_has_22_characters(uuid: bytes) -> None:
    assert len(uuid_text(uuid)) == 22
    assert uuid_bytes(uuid_text(uuid)) == uuid


def test_the_zero_uuid_stands_for_none() -> None:
    assert uuid_text(bytes(16)) == ZERO_ID
    assert [uuid_or_none(uuid) for uuid in (ORDERS_ID, ZERO_ID, None, UNSET)] == [
        ORDERS_ID,
        None,
        None,
        None,
    ]
    assert [uuid_on_wire(uuid) for uuid in (ORDERS_ID, None)] == [ORDERS_ID, ZERO_ID]
