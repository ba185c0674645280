from __future__ import annotations

import pytest

from group_coordinator.core.acls import HostRange, Length, address_of, range_of, ranges_with


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("/10.0.0.7", "10.0.0.7"),
        ("billing.example/10.0.0.7", "10.0.0.7"),
        ("10.0.0.7", "10.0.0.7"),
        ("/0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1"),
    ],
)
def test_an_address_stands_behind_the_slash(said: str, address: str) -> None:
    assert address_of(said) == address


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("10.1.2.3/8", HostRange(Length(32, 8), 10)),
        ("010.1.2.3/08", HostRange(Length(32, 8), 10)),
        ("0.0.0.0/0", HostRange(Length(32, 0), 0)),
        ("fd00::1/8", HostRange(Length(128, 8), 0xFD)),
    ],
)
def test_a_range_is_the_bits_that_are_the_same(host: str, found: HostRange) -> None:
    assert range_of(host) == found


@pytest.mark.parametrize(
    "host", ["10.0.0.7", "*", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/255.0.0.0", "::/129", "x/8", "/"]
)
def test_other_hosts_are_no_ranges(host: str) -> None:
    assert range_of(host) is None


def test_an_address_is_in_the_ranges_of_its_kind() -> None:
    lengths = [Length(32, 8), Length(32, 32), Length(128, 8)]

    assert list(ranges_with("10.0.0.7", lengths)) == [
        HostRange(Length(32, 8), 10),
        HostRange(Length(32, 32), 0x0A000007),
    ]
    assert list(ranges_with("fd00:0:0:0:0:0:0:5", lengths)) == [HostRange(Length(128, 8), 0xFD)]
    assert list(ranges_with("a name", lengths)) == []
