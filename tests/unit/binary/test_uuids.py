from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.binary.notation import uuid_bytes, uuid_text


def test_a_uuid_is_16_bytes_in_url_safe_base64() -> None:
    text = uuid_text(UUID("6f726465-7273-6f72-6465-72736f726465").bytes)

    assert text == "b3JkZXJzb3JkZXJzb3JkZQ"
    assert uuid_bytes(text) == b"ordersordersorde"


@given(st.binary(min_size=16, max_size=16))
def test_a_uuid_has_22_characters(uuid: bytes) -> None:
    assert len(uuid_text(uuid)) == 22
    assert uuid_bytes(uuid_text(uuid)) == uuid
