"""Hosts in rules: an address, any, or a range of addresses.

Source: CidrUtils of Kafka 4.4. A text that looks like a range and is none matches nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

_RANGE = re.compile(
    r"(?P<address>[0-9.]+(?=/[0-9]{1,2}$)|[0-9a-fA-F.]*:[0-9a-fA-F:.]*)/(?P<length>[0-9]{1,9})"
)
_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")


class Length(NamedTuple):
    """How many bits the addresses of a range have, and how many of them are the same in all."""

    bits: int
    fixed: int


class HostRange(NamedTuple):
    """A range of addresses."""

    length: Length
    network: int
    """The bits that are the same."""


def address_of(client_host: str) -> str:
    """The address of a client as requests say it: `/10.0.0.7`, or NAME/10.0.0.7."""
    return client_host.rpartition("/")[2]


def range_of(host: str) -> HostRange | None:
    """The range that a rule is about; None: it is about none."""
    parts = _RANGE.fullmatch(host)
    address = None if parts is None else _parsed(parts["address"])
    if parts is None or address is None or int(parts["length"]) > address.max_prefixlen:
        return None
    return _around(address, Length(address.max_prefixlen, int(parts["length"])))


def ranges_with(host: str, lengths: Iterable[Length]) -> Iterator[HostRange]:
    """The ranges of these lengths that an address is in."""
    address = _parsed(host)
    if address is None:
        return
    for length in lengths:
        if length.bits == address.max_prefixlen:
            yield _around(address, length)


def _around(address: IPv4Address | IPv6Address, length: Length) -> HostRange:
    return HostRange(length, int(address) >> (length.bits - length.fixed))


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        if ":" in text:
            return IPv6Address(text.partition("%")[0])
        return IPv4Address(_LEADING_ZEROS.sub("", text))
    except AddressValueError:
        return None
