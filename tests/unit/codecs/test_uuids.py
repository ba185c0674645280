from __future__ import annotations

from msgspec import UNSET

from group_coordinator.binary.notation import uuid_text
from group_coordinator.codecs.fields import uuid_on_wire, uuid_or_none

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


def test_the_zero_uuid_stands_for_none() -> None:
    assert uuid_text(bytes(16)) == ZERO_ID
    assert [uuid_or_none(uuid) for uuid in (ORDERS_ID, ZERO_ID, None, UNSET)] == [
        ORDERS_ID,
        None,
        None,
        None,
    ]
    assert [uuid_on_wire(uuid) for uuid in (ORDERS_ID, None)] == [ORDERS_ID, ZERO_ID]
