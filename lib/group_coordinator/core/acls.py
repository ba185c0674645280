"""ACLs in Kafka's words, the authorizer, and the rights of a request's sender. The authorizer decides by ACLs whether a principal at a host may do an operation.

A DENY precedes every ALLOW. ACLs are looked up in dicts: a decision takes the same time with ten thousand of them. The operations
that requests need are in `core/apis.py`, and here those on their topics and transactional ids.
Source: AclBinding, AclOperation, ResourceType, StandardAuthorizerData, KafkaApis, ConfigHelper, AclEntry and, for ranges, CidrUtils of
Kafka 4.4.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple, TypeAlias

from group_coordinator.core.value import Value

WILDCARD = "*"
"""Any name, in a LITERAL pattern; any host, as a host."""
ANY_PRINCIPAL = "User:*"
ANONYMOUS = "User:ANONYMOUS"
"""The principal of clients without authentication."""
THE_JOB = "Job:group-coordinator"
"""The principal of the job's own events: topic metadata and transaction markers. Authenticated clients are of type User."""
CLUSTER_NAME = "kafka-cluster"
"""The name of the only resource of type CLUSTER."""


class ResourceType(StrEnum):
    TOPIC = "TOPIC"
    GROUP = "GROUP"
    CLUSTER = "CLUSTER"
    TRANSACTIONAL_ID = "TRANSACTIONAL_ID"
    DELEGATION_TOKEN = "DELEGATION_TOKEN"  # noqa: S105 - a type
    USER = "USER"


class PatternType(StrEnum):
    LITERAL = "LITERAL"
    PREFIXED = "PREFIXED"


class Operation(StrEnum):
    """Kafka's operations. A cluster may have ACLs with any of them, though requests about groups need only some."""

    # In the order of Kafka's numbers, from which BITS follows.
    ALL = "ALL"
    READ = "READ"
    WRITE = "WRITE"
    CREATE = "CREATE"
    DELETE = "DELETE"
    ALTER = "ALTER"
    DESCRIBE = "DESCRIBE"
    CLUSTER_ACTION = "CLUSTER_ACTION"
    DESCRIBE_CONFIGS = "DESCRIBE_CONFIGS"
    ALTER_CONFIGS = "ALTER_CONFIGS"
    IDEMPOTENT_WRITE = "IDEMPOTENT_WRITE"
    CREATE_TOKENS = "CREATE_TOKENS"
    DESCRIBE_TOKENS = "DESCRIBE_TOKENS"
    TWO_PHASE_COMMIT = "TWO_PHASE_COMMIT"


class Permission(StrEnum):
    ALLOW = "ALLOW"
    DENY = "DENY"


# In Kafka ALL has the number 2: 0 and 1 are UNKNOWN and ANY, which no rule has.
BITS = {operation: 1 << number for number, operation in enumerate(Operation, 2)}
"""The bit of each operation in the authorizedOperations of responses."""


class Right(NamedTuple):
    operation: Operation
    kind: ResourceType
    name: str


class AclRule(Value, frozen=True, kw_only=True):
    """An ACL. `principal` is TYPE:NAME; `host` is an address, a range such as 10.0.0.0/8, or `*`."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission


class Acls(Value, frozen=True):
    """The ACLs of a cluster. `super_users` are principals that may do every operation."""

    rules: tuple[AclRule, ...]
    super_users: tuple[str, ...] = ()
    allow_everyone_if_no_acl_found: bool = False
    """True: every principal may do every operation on resources without an ACL."""


_RANGE = re.compile(
    r"(?P<address>[0-9.]+(?=/[0-9]{1,2}$)|[0-9a-fA-F.]*:[0-9a-fA-F:.]*)/(?P<length>[0-9]{1,9})"
)
_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")


class Length(NamedTuple):
    """The number of bits of the addresses of a range, and of the leading bits that all of them share."""

    bits: int
    fixed: int


class HostRange(NamedTuple):
    length: Length
    network: int
    """The shared leading bits as a number."""


def address_of(client_host: str) -> str:
    """Return the address of a client host in the form of requests: `/10.0.0.7`, or NAME/10.0.0.7."""
    return client_host.rpartition("/")[2]


def range_of(host: str) -> HostRange | None:
    """Return the range in the host of an ACL; None if the host is not a range."""
    parts = _RANGE.fullmatch(host)
    address = None if parts is None else _parsed(parts["address"])
    if parts is None or address is None or int(parts["length"]) > address.max_prefixlen:
        return None
    return _around(address, Length(address.max_prefixlen, int(parts["length"])))


def ranges_with(host: str, lengths: Iterable[Length]) -> Iterator[HostRange]:
    """Yield the ranges of these lengths that contain an address."""
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
        # Java accepts leading zeros in an IPv4 address, Python does not.
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
"""Operations that imply another operation in an ALLOW. A DENY of the first does not deny the second."""
_ALL = sum(BITS.values())


class RequestSender(Value, frozen=True):
    principal: str
    host: str


class _Identity(NamedTuple):
    principal: str
    host: str | HostRange


class _Verdict(NamedTuple):
    """The operations that ACLs allow and deny, as bits."""

    allowed: int
    denied: int


Identities: TypeAlias = tuple[_Identity, ...]
"""All principals and hosts of ACLs that match a caller."""
_Resource: TypeAlias = tuple[ResourceType, str]
_Verdicts: TypeAlias = dict[_Identity, _Verdict]
_NOTHING = _Verdict(0, 0)
_MOST_KNOWN = 10_000


class Authorizer:
    """The ACLs of a cluster, prepared for fast decisions."""

    def __init__(self, acls: Acls) -> None:
        self._super_users = frozenset(acls.super_users)
        self._open = acls.allow_everyone_if_no_acl_found
        self._literal: defaultdict[_Resource, _Verdicts] = defaultdict(dict)
        self._prefixed: defaultdict[_Resource, _Verdicts] = defaultdict(dict)
        for rule in acls.rules:
            self._add(rule)
        self._prefix_lengths = _lengths_by_type(self._prefixed)
        self._range_lengths = self._lengths_of_ranges()
        self._known: dict[RequestSender, Identities | None] = {}
        """Callers of earlier decisions."""

    def identities(self, caller: RequestSender) -> Identities | None:
        """Return the identities of a caller for `allows`; None for a super user: every operation is allowed."""
        if caller not in self._known:
            # Clearing is simpler than evicting: ten thousand callers are rare.
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[caller] = self._identities_of(caller)
        return self._known[caller]

    def _identities_of(self, caller: RequestSender) -> Identities | None:
        if caller.principal in self._super_users:
            return None
        # An ACL may name the caller or any user, its address or any host or a range with it.
        hosts: list[str | HostRange] = [caller.host, WILDCARD]
        if self._range_lengths:
            hosts += ranges_with(caller.host, self._range_lengths)
        principals = (caller.principal, ANY_PRINCIPAL)
        return tuple([_Identity(principal, host) for principal in principals for host in hosts])

    def allows(
        self, identities: Identities, operation: Operation, kind: ResourceType, name: str
    ) -> bool:
        """Return True if the ACLs of these identities allow an operation on a resource."""
        bit, is_named, is_allowed = BITS[operation], False, False
        for verdicts in self._about(kind, name):
            is_named = True
            for identity in identities:
                verdict = verdicts.get(identity, _NOTHING)
                # One DENY decides, so no ALLOW ends the search.
                if verdict.denied & bit:
                    return False
                is_allowed = is_allowed or bool(verdict.allowed & bit)
        return is_allowed if is_named else self._open

    def _about(self, kind: ResourceType, name: str) -> Iterator[_Verdicts]:
        """Yield the ACLs that match this resource. As in Kafka, `*` does not match a name that itself begins with an asterisk."""
        # Literal ACLs first, then prefixes, shortest first: the order does not change the decision.
        for named in (name,) if name.startswith(WILDCARD) else (name, WILDCARD):
            found = self._literal.get((kind, named))
            if found is not None:
                yield found
        for length in self._prefix_lengths.get(kind, ()):
            # The lengths are sorted: longer prefixes cannot match either.
            if length > len(name):
                break
            found = self._prefixed.get((kind, name[:length]))
            if found is not None:
                yield found

    def _add(self, rule: AclRule) -> None:
        is_literal = rule.pattern_type is PatternType.LITERAL
        by_name = self._literal if is_literal else self._prefixed
        verdicts = by_name[rule.resource_type, rule.resource_name]
        # A text that is no valid range stays a text, which matches no address.
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
    # ALLOW READ implies DESCRIBE; DENY READ does not.
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


TO_CHANGE_OFFSETS = Operation.READ
"""The operation for topics of commits and deletions. A topic without it gets an error of its own."""
TO_SEE_TOPICS = Operation.DESCRIBE
"""The operation for topics of a fetch, and for topics that a member subscribes to or is assigned."""
ON_TRANSACTIONAL_IDS = Operation.WRITE
OF_THE_SYSTEM = Operation.CLUSTER_ACTION
"""The operation for the cluster that brokers and controllers need for their own requests, such as transaction markers."""
GROUP_OPERATIONS = (
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
"""All operations on a group."""

GROUP_DENIED = "Group authorization failed."
"""The error message of responses about configs."""
UNSEEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


ALL_OPERATIONS = sum(BITS[operation] for operation in GROUP_OPERATIONS)
"""The operations on a group that a broker without an authorizer allows to all principals."""


class Denial(Value, frozen=True):
    """A missing right of a request's sender."""

    operation: Operation
    resource_type: ResourceType
    resource_name: str


class Rights:
    """The rights of a request's sender. `denials` has the missing rights afterwards."""

    __slots__ = ("_authorizer", "_denials", "_identities", "caller")

    def __init__(self, authorizer: Authorizer, caller: RequestSender) -> None:
        self.caller = caller
        self._authorizer = authorizer
        self._identities = authorizer.identities(caller)
        self._denials: dict[Denial, None] = {}

    def may(self, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Return True if the sender may do an operation. A negative result is no denial, as the request does not need this right."""
        identities = self._identities
        return identities is None or self._authorizer.allows(identities, operation, kind, name)

    def has(self, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Return True if the sender has a right that its request needs. A missing right becomes a denial."""
        if self.may(operation, kind, name):
            return True
        # A dict keeps the order of the checks and drops repetitions.
        self._denials[Denial(operation, kind, name)] = None
        return False

    @property
    def denials(self) -> tuple[Denial, ...]:
        """The denials without repetition, in the order of the checks."""
        return tuple(self._denials)

    def operations_on(self, group_id: str) -> int:
        """Return the operations that the sender may do with a group, as bits."""
        return sum(
            BITS[operation]
            for operation in GROUP_OPERATIONS
            if self.may(operation, ResourceType.GROUP, group_id)
        )


def operations_on(group_id: str, rights: Rights | None) -> int:
    """Return the operations that a sender may do with a group, as bits: all without an authorizer."""
    return ALL_OPERATIONS if rights is None else rights.operations_on(group_id)
