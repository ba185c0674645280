"""ACLs as JSON: `{"acls": [...], "superUsers": [...], "allowEveryoneIfNoAclFound": false}`.

An ACL has the fields of Kafka's AclBinding; their values are Kafka's names in capitals: `{"resourceType": "GROUP", ...}`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import DecodeError, Struct, ValidationError, json

from group_coordinator.codecs.fields import (
    FieldError,
    Text,
    at_path,
    check_distinct_keys,
    shortened,
)
from group_coordinator.core.acls import (
    CLUSTER_NAME,
    AclRule,
    Acls,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    range_of,
)


class AclEntry(Struct, rename="camel", forbid_unknown_fields=True, gc=False, kw_only=True):
    resource_type: ResourceType
    resource_name: Text
    pattern_type: PatternType
    principal: Text
    host: Text
    operation: Operation
    permission_type: Permission


class _Document(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    acls: list[AclEntry]
    super_users: list[Text] = []
    allow_everyone_if_no_acl_found: bool = False


_decode = json.Decoder(_Document).decode
_encode = json.Encoder().encode


def decode(value: bytes) -> Acls:
    """Read a cluster's ACLs. Raises FieldError: the text names the field, its value if that is short, and the fault."""
    try:
        document = _decode(value)
    except ValidationError as fault:
        raise at_path("", fault, value, "rules") from None
    except (DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise FieldError("acls", f"not JSON: {fault}") from None
    # The last of several equal keys would win, and an ACL might be lost silently.
    check_distinct_keys(value, document)
    return acls_of(
        document.acls, document.super_users, allow_everyone=document.allow_everyone_if_no_acl_found
    )


def acls_of(
    entries: Iterable[AclEntry], super_users: Iterable[str], *, allow_everyone: bool
) -> Acls:
    """Convert the entries of a document. Raises FieldError: Kafka would not accept a value."""
    rules = [_rule(f"acls[{index}]", entry) for index, entry in enumerate(entries)]
    named = tuple(super_users)
    for index, principal in enumerate(named):
        _check_principal(f"superUsers[{index}]", principal)
    return Acls(tuple(rules), named, allow_everyone)


def super_users_of(setting: str) -> tuple[str, ...]:
    """Return the principals in Kafka's setting super.users, which are separated by semicolons.

    Raises FieldError: a text is no principal.
    """
    named = tuple(name.strip() for name in setting.split(";") if name.strip())
    for principal in named:
        _check_principal("super.users", principal)
    return named


def encode(acls: Acls) -> bytes:
    entries = [
        AclEntry(
            resource_type=rule.resource_type,
            resource_name=rule.resource_name,
            pattern_type=rule.pattern_type,
            principal=rule.principal,
            host=rule.host,
            operation=rule.operation,
            permission_type=rule.permission,
        )
        for rule in acls.rules
    ]
    return _encode(_Document(entries, list(acls.super_users), acls.allow_everyone_if_no_acl_found))


def _rule(path: str, entry: AclEntry) -> AclRule:
    # The checks of AclControlManager.validateNewAcl in Kafka 4.4.
    name, host = entry.resource_name, entry.host
    if not name:
        raise FieldError(f"{path}.resourceName", "must not be empty")
    # Kafka has a single resource of this type.
    if entry.resource_type is ResourceType.CLUSTER and name != CLUSTER_NAME:
        shown = f"{path}.resourceName = {shortened(name)}"
        raise FieldError(shown, f"must be {CLUSTER_NAME} for the resource type CLUSTER")
    _check_principal(f"{path}.principal", entry.principal)
    if not host:
        raise FieldError(f"{path}.host", "must not be empty")
    # The authorizer would silently ignore such an ACL: it matches no host.
    if "/" in host and range_of(host) is None:
        raise FieldError(f"{path}.host = {shortened(host)}", "is not a range of addresses")
    return AclRule(
        resource_type=entry.resource_type,
        resource_name=name,
        pattern_type=entry.pattern_type,
        principal=entry.principal,
        host=host,
        operation=entry.operation,
        permission=entry.permission_type,
    )


def _check_principal(path: str, principal: str) -> None:
    if ":" not in principal:
        raise FieldError(
            f"{path} = {shortened(principal)}", "is not TYPE:NAME, such as User:billing"
        )
