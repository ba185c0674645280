from __future__ import annotations

from group_coordinator.runtime.event_handling import fresh_id, short_id


def test_an_event_makes_the_same_id_again() -> None:
    assert fresh_id("group-events-3-1742") == fresh_id("group-events-3-1742")
    assert short_id("group-events-3-1742") == short_id("group-events-3-1742")


def test_a_short_id_with_a_dash_is_drawn_again() -> None:
    drawn = {
        "e": "f8000000-0000-4000-8000-000000000000",  # -AAAAAAAQACAAAAAAAAAAA
        "e-2": "00000000-0000-4000-8000-0000000003e0",  # AAAAAAAAQACAAAAAAAAD4A
    }

    assert short_id("e", drawn.__getitem__) == "AAAAAAAAQACAAAAAAAAD4A"


def test_no_short_id_has_a_dash() -> None:
    ids = {short_id(f"group-events-0-{offset}") for offset in range(1_000)}

    assert len(ids) == 1_000
    assert all(len(text) == 22 and "-" not in text for text in ids)
