"""Parses the addresses that Kafka's tools accept: HOST:PORT, [IPv6]:PORT and PROTOCOL://HOST:PORT.

Kafka's clients ignore the protocol in an address: security.protocol decides.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address, ip_address

BROKER_PORT = 9092
"""The default port of a broker, as in kafka-python."""

_HOST = r"(?:[0-9A-Za-z%._-]*://)?(?:\[(?P<bracketed>[^\s/@\[\]]+)\]|(?P<plain>[^\s/@\[\]]+?))"
_HOST_ALONE = re.compile(_HOST)
_HOST_AND_PORT = re.compile(rf"{_HOST}(?::0*(?P<port>[0-9]{{1,5}}))?")
_LAST_PORT = 65_535


class AddressError(ValueError):
    """A text is not an address; the message has the text and the valid forms."""


def host_and_port(text: str, default_port: int | None = None) -> tuple[str, int]:
    """Parse an address; return the host, IPv6 without brackets, and the port, which may be 0. It is required without a default.

    Raises AddressError: the text is not an address.
    """
    found = _HOST_AND_PORT.fullmatch(text.strip())
    if found is not None:
        host = _host(found)
        port = default_port if found["port"] is None else int(found["port"])
        if host is not None and port is not None and port <= _LAST_PORT:
            return host, port
    raise AddressError(f"{text!r} is not HOST:PORT, [IPv6]:PORT or PROTOCOL://HOST:PORT")


def host_alone(text: str) -> str:
    """Parse a host without a port; an IPv6 address is returned without brackets. Raises AddressError: the text is not a host."""
    found = _HOST_ALONE.fullmatch(text.strip())
    host = None if found is None else _host(found)
    if host is None:
        raise AddressError(f"{text!r} is not a HOST or an IPv6 address without a port")
    return host


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach the host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        # Not resolved: a name server must not decide about passwords in plain text.
        return host.casefold() == "localhost"


def broker_addresses(text: str) -> list[tuple[str, int]]:
    """Return host and port of each address in a list with commas. Raises AddressError: an address is invalid, or there is none."""
    listed = [each.strip() for each in text.split(",")]
    return [host_and_port(each, BROKER_PORT) for each in listed if each] or [host_and_port(text)]


def broker_list(text: str) -> str:
    """Rewrite the list as all Kafka clients read it: HOST:PORT or [IPv6]:PORT, with commas between. Raises AddressError."""
    return ",".join(written(*address) for address in broker_addresses(text))


def written(host: str, port: int) -> str:
    """Format an address: HOST:PORT, or [IPv6]:PORT."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _host(found: re.Match[str]) -> str | None:
    """Return the IPv6 address or the host name in ASCII; None if it is not valid."""
    text = found["bracketed"] or found["plain"]
    try:
        # Host names with other letters than ASCII have an encoding of their own (IDNA).
        return str(IPv6Address(text)) if ":" in text else text.encode("idna").decode()
    except (AddressValueError, UnicodeError):
        return None
