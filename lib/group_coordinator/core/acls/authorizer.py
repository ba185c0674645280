"""The authorizer: it decides by rules. Hosts in rules are an address, any, or a range of addresses.

Source: CidrUtils of Kafka 4.4. A text that looks like a range and is none matches nobody.

Source: StandardAuthorizerData of Kafka 4.4. A DENY counts before any ALLOW, wherever each is found: by the name, by a prefix
of it, or by `*`. Rules are looked up, not gone through: a question takes the same time with ten thousand of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple, TypeAlias

from group_coordinator.core.acls.rule import (
    ANY_PRINCIPAL,
    BITS,
    WILDCARD,
    AclRule,
    Acls,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from group_coordinator.core.value import Value

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


_ALSO_ALLOWED = {
    Operation.READ: Operation.DESCRIBE,
    Operation.WRITE: Operation.DESCRIBE,
    Operation.DELETE: Operation.DESCRIBE,
    Operation.ALTER: Operation.DESCRIBE,
    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,
}
"""Who may do the one may do the other; who must not do the one may still do the other."""
_ALL = sum(BITS.values())


class Caller(Value, frozen=True):
    """Who asks, and from which address."""

    principal: str
    host: str


class _Identity(NamedTuple):
    """Whom a rule is about."""

    principal: str
    host: str | HostRange


class _Verdict(NamedTuple):
    """The operations that rules allow and deny, a bit each."""

    allowed: int
    denied: int


Identities: TypeAlias = tuple[_Identity, ...]
"""All that rules may say about one caller."""
_Resource: TypeAlias = tuple[ResourceType, str]
_Verdicts: TypeAlias = dict[_Identity, _Verdict]
_NOTHING = _Verdict(0, 0)
_MOST_KNOWN = 10_000


class Authorizer:
    """The rules of a cluster, ready for questions."""

    def __init__(self, acls: Acls) -> None:
        self._super_users = frozenset(acls.super_users)
        self._open = acls.allow_everyone_if_no_acl_found
        self._literal: defaultdict[_Resource, _Verdicts] = defaultdict(dict)
        self._prefixed: defaultdict[_Resource, _Verdicts] = defaultdict(dict)
        for rule in acls.rules:
            self._add(rule)
        self._prefix_lengths = _lengths_by_type(self._prefixed)
        self._range_lengths = self._lengths_of_ranges()
        self._known: dict[Caller, Identities | None] = {}
        """Callers that have asked."""

    def identities(self, caller: Caller) -> Identities | None:
        """What `allows` wants to know of a caller; None: a super user, who may do everything."""
        if caller not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[caller] = self._identities_of(caller)
        return self._known[caller]

    def _identities_of(self, caller: Caller) -> Identities | None:
        if caller.principal in self._super_users:
            return None
        hosts: list[str | HostRange] = [caller.host, WILDCARD]
        if self._range_lengths:
            hosts += ranges_with(caller.host, self._range_lengths)
        principals = (caller.principal, ANY_PRINCIPAL)
        return tuple([_Identity(principal, host) for principal in principals for host in hosts])

    def allows(
        self, identities: Identities, operation: Operation, kind: ResourceType, name: str
    ) -> bool:
        """Whether one of them may do it."""
        bit, is_named, is_allowed = BITS[operation], False, False
        for verdicts in self._about(kind, name):
            is_named = True
            for identity in identities:
                verdict = verdicts.get(identity, _NOTHING)
                if verdict.denied & bit:
                    return False
                is_allowed = is_allowed or bool(verdict.allowed & bit)
        return is_allowed if is_named else self._open

    def _about(self, kind: ResourceType, name: str) -> Iterator[_Verdicts]:
        """What rules say that are about this resource.

        A rule about any name is not about names that begin as that name, with an asterisk: so it is in Kafka.
        """
        for named in (name,) if name.startswith(WILDCARD) else (name, WILDCARD):
            found = self._literal.get((kind, named))
            if found is not None:
                yield found
        for length in self._prefix_lengths.get(kind, ()):
            if length > len(name):
                break
            found = self._prefixed.get((kind, name[:length]))
            if found is not None:
                yield found

    def _add(self, rule: AclRule) -> None:
        is_literal = rule.pattern_type is PatternType.LITERAL
        by_name = self._literal if is_literal else self._prefixed
        verdicts = by_name[rule.resource_type, rule.resource_name]
        identity = _Identity(rule.principal, range_of(rule.host) or rule.host)
        before, bits = verdicts.get(identity, _NOTHING), _bits(rule)
        if rule.permission is Permission.ALLOW:
            verdicts[identity] = before._replace(allowed=before.allowed | bits)
        else:
            verdicts[identity] = before._replace(denied=before.denied | bits)

    def _lengths_of_ranges(self) -> tuple[Length, ...]:
        hosts = (
            identity.host
            for by_name in (self._literal, self._prefixed)
            for verdicts in by_name.values()
            for identity in verdicts
        )
        return tuple(sorted({host.length for host in hosts if isinstance(host, HostRange)}))


def _bits(rule: AclRule) -> int:
    """The operations that a rule allows or denies."""
    if rule.operation is Operation.ALL:
        return _ALL
    bits = BITS[rule.operation]
    if rule.permission is Permission.ALLOW and rule.operation in _ALSO_ALLOWED:
        bits |= BITS[_ALSO_ALLOWED[rule.operation]]
    return bits


def _lengths_by_type(resources: Iterable[_Resource]) -> dict[ResourceType, tuple[int, ...]]:
    found: defaultdict[ResourceType, set[int]] = defaultdict(set)
    for kind, prefix in resources:
        found[kind].add(len(prefix))
    return {kind: tuple(sorted(lengths)) for kind, lengths in found.items()}
