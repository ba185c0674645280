from __future__ import annotations

import pytest

from group_coordinator.codecs.wire.versions import version_range


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("3", [3], [2, 4]),
        ("3-5", [3, 4, 5], [2, 6]),
        ("3+", [3, 32_767], [2, -1]),
        ("none", [], [-1, 0, 1]),
    ],
)
def test_ranges_of_versions(text: str, inside: list[int], outside: list[int]) -> None:
    found = version_range(text)

    assert all(version in found for version in inside)
    assert not any(version in found for version in outside)
