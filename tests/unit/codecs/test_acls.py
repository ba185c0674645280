from __future__ import annotations

import json
from typing import Any

import pytest

from group_coordinator.codecs import acls
from group_coordinator.codecs.fields import FieldError
from group_coordinator.core.acls import (
    AclRule,
    Acls,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

RULE = {
    "resourceType": "GROUP",
    "resourceName": "pay",
    "patternType": "PREFIXED",
    "principal": "User:billing",
    "host": "10.0.0.0/8",
    "operation": "READ",
    "permissionType": "ALLOW",
}
READ = AclRule(
    resource_type=ResourceType.GROUP,
    resource_name="pay",
    pattern_type=PatternType.PREFIXED,
    principal="User:billing",
    host="10.0.0.0/8",
    operation=Operation.READ,
    permission=Permission.ALLOW,
)


def document(*rules: object, **more: object) -> bytes:
    return json.dumps({"acls": rules, **more}).encode()


def test_rules_are_read_as_kafka_names_them() -> None:
    said = document(RULE, superUsers=["User:admin"], allowEveryoneIfNoAclFound=True)

    assert acls.decode(said) == Acls((READ,), ("User:admin",), allow_everyone_if_no_acl_found=True)
    assert acls.decode(document()) == Acls(())


def test_what_is_written_is_read() -> None:
    for one in (Acls(()), Acls((READ,), ("User:a", "User:b"), allow_everyone_if_no_acl_found=True)):
        assert acls.decode(acls.encode(one)) == one


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"operation": "READD"}, "acls[1].operation = \"READD\": Invalid enum value 'READD'"),
        ({"resourceType": "group"}, "acls[1].resourceType = \"group\": Invalid enum value 'group'"),
        ({"patternType": "MATCH"}, "acls[1].patternType = \"MATCH\": Invalid enum value 'MATCH'"),
        ({"permissionType": 3}, "acls[1].permissionType = 3: Expected `str`, got `int`"),
        ({"resourceName": ""}, "acls[1].resourceName: must not be empty"),
        ({"principal": "bob"}, 'acls[1].principal = "bob": is not TYPE:NAME, such as User:billing'),
        ({"host": ""}, "acls[1].host: must not be empty"),
        ({"host": "10.0.0.0/33"}, 'acls[1].host = "10.0.0.0/33": is not a range of addresses'),
        (
            {"resourceType": "CLUSTER"},
            'acls[1].resourceName = "pay": must be kafka-cluster for the resource type CLUSTER',
        ),
        ({"hots": "*"}, "acls[1]: Object contains unknown field `hots`"),
    ],
)
def test_a_fault_names_the_field_and_its_value(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(FieldError) as caught:
        acls.decode(document(RULE, RULE | change))

    assert str(caught.value) == fault


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (document({"resourceType": "GROUP"}), "acls[0]: Object missing required field"),
        (b"{}", "Object missing required field `acls`"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{", "acls: not JSON: Input data was truncated"),
        (b'{"acls": [], "acls": []}', "acls: appears twice"),
        (document(superUsers=["admin"]), 'superUsers[0] = "admin": is not TYPE:NAME'),
    ],
)
def test_other_documents_are_refused(said: bytes, fault: str) -> None:
    with pytest.raises(FieldError) as caught:
        acls.decode(said)

    assert fault in str(caught.value)
